// Four small line charts with one line for each run.
const hiddenRuns = new Set();

const CURVES = [
  { key: "bleu", title: "Devtest BLEU", sub: null, format: show.bleu, tick: (value) => show.short(value), ring: true },
  { key: "pair_error", title: "Pair error", sub: "Pairs ranked wrongly, on each run’s own training data. Lower is better.", format: show.percent, tick: (value) => `${+(100 * value).toPrecision(3)} %` },
  { key: "metric", title: "Training metric of the 1-best", sub: null, format: show.metric, tick: (value) => String(+value.toPrecision(3)) },
  { key: "features", title: "Active features", sub: "Weights that are not 0.", format: show.count, tick: show.short, zero: true },
];

function drawCurves() {
  const place = section("curves");
  if (!data.runs.some((run) => run.epochs.length)) return place.append(empty("No epoch is finished yet, so there is nothing to draw."));
  const charts = [];
  if (data.runs.length > 1) {
    place.append(h("div", { class: "legend", role: "group", "aria-label": "Runs shown" }, data.runs.map((run, k) => {
      const chip = h("button", { type: "button", class: "chip", "aria-pressed": "true", title: "Show or hide", onclick: () => {
        hiddenRuns.has(k) ? hiddenRuns.delete(k) : hiddenRuns.add(k);
        chip.setAttribute("aria-pressed", String(!hiddenRuns.has(k)));
        charts.forEach((one) => one.redraw());
      } }, key(k), run.name, run.name.toLowerCase() === algorithm(run).toLowerCase() ? null : h("span", { class: "dim" }, algorithm(run)));
      return chip;
    })));
  }
  const grid = h("div", { class: "grid" });
  for (const curve of CURVES) {
    const metrics = new Set(data.runs.map((run) => run.metric));
    const score = `Higher is better. A ring marks the chosen epoch${startsShown() ? "; epoch 0 is before training" : ""}.`;
    const sub = curve.key === "bleu" ? score : curve.key === "metric" ? `Mean ${[...metrics].join(", ")} of the best translations while training.` : curve.sub;
    const card = h("div", { class: "card" }, h("h3", {}, curve.title));
    if (data.runs.some((run) => run.epochs.some((epoch) => epoch[curve.key] !== null))) {
      const one = chart(curve.key, (width) => lines(curve, width));
      charts.push(one);
      card.append(h("p", { class: "sub" }, sub), one);
    } else {
      card.append(empty("The runs have no devtest data, so there are no scores."));
    }
    grid.append(card);
  }
  place.append(grid);
}

// Scores before training belong to the curve as epoch 0, unless they are so far below that the rest would be flat.
function startsShown() {
  const scores = data.runs.flatMap((run) => run.epochs.map((epoch) => epoch.bleu)).filter((score) => score !== null);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const starts = data.runs.filter((run) => run.epochs.length && run.start !== null).map((run) => run.start);
  return starts.length > 0 && Math.min(...starts) >= low - Math.max(1.5 * (high - low), 0.25 * high);
}

function curvePoints(curve, run) {
  const points = run.epochs.map((epoch, at) => [at + 1, epoch[curve.key]]).filter((point) => point[1] !== null);
  return curve.key === "bleu" && points.length && run.start !== null && startsShown() ? [[0, run.start], ...points] : points;
}

function lines(curve, width) {
  const series = data.runs.map((run, k) => ({ k, run, points: curvePoints(curve, run) }))
    .filter((one) => one.points.length && !hiddenRuns.has(one.k));
  const height = Math.max(210, Math.min(270, width * 0.5));
  const direct = series.length > 1 && width >= 420;
  const letters = direct ? Math.min(16, Math.max(...series.map((one) => one.run.name.length))) : 0;
  const box = { left: 52, right: width - (direct ? 18 + letters * 7.2 : 14), top: 10, bottom: height - 28 };
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  if (!series.length) {
    svg.append(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "all runs are hidden"));
    return svg;
  }
  const first = Math.min(...series.map((one) => one.points[0][0]));
  const last = Math.max(...series.map((one) => one.points[one.points.length - 1][0]));
  const values = series.flatMap((one) => one.points.map((point) => point[1]));
  const log = curve.zero && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 25;
  const y = scale(values, box.bottom, box.top, { log, zero: curve.zero && !log });
  const x = first === last ? () => (box.left + box.right) / 2 : (epoch) => box.left + 8 + ((epoch - first) / (last - first)) * (box.right - box.left - 16);
  svg.append(...frame(box, y, first, last, x, curve.tick).flat());
  const cross = s("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
  svg.append(cross);
  for (const { k, run, points } of series) {
    const path = points.map(([epoch, value], at) => `${at ? "L" : "M"}${x(epoch).toFixed(1)} ${y.at(value).toFixed(1)}`).join("");
    if (points.length > 1) svg.append(s("path", { d: path, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": dashes(k), class: "line", style: { stroke: color(k) } }));
    for (const [epoch, value] of points) svg.append(mark(k, x(epoch), y.at(value), points.length > 40 ? 1.5 : 3.2, { class: "dot" }));
    const best = curve.ring && bestEpoch(run);
    if (best) svg.append(s("circle", { class: "ring", cx: x(run.best), cy: y.at(best.bleu), r: 7.5, fill: "none", "stroke-width": 1.8, style: { stroke: color(k) } }));
  }
  if (direct) {
    const labels = series.map(({ k, run, points }) => ({ k, run, x: x(points[points.length - 1][0]), y: y.at(points[points.length - 1][1]) }));
    for (const label of spreadLabels(labels, 15, box.top + 4, box.bottom - 4)) {
      if (box.right - label.x > 20 || Math.abs(label.at - label.y) > 7) {
        svg.append(s("path", { d: `M${label.x + 9} ${label.y}L${box.right + 3} ${label.at}`, fill: "none", "stroke-opacity": 0.5, "stroke-dasharray": "1 3", style: { stroke: color(label.k) } }));
      }
      svg.append(s("text", { class: "name", x: box.right + 7, y: label.at + 4, style: { fill: `color-mix(in srgb, ${color(label.k)} 72%, var(--text))` } }, clip(label.run.name, letters)));
    }
  }
  if (log) svg.append(s("text", { x: box.left + 4, y: box.top + 8 }, "logarithmic"));
  const summary = `${curve.title}. ` + series.map(({ run, points }) => `${run.name}: ${curve.format(points[0][1])} to ${curve.format(points[points.length - 1][1])} from epoch ${points[0][0]} to ${points[points.length - 1][0]}`).join("; ") + ". Arrow keys read single epochs.";
  readable(svg, box, x, first, last, summary, (epoch) => {
    cross.setAttribute("x1", x(epoch));
    cross.setAttribute("x2", x(epoch));
    cross.setAttribute("visibility", "visible");
    const found = series.map(({ k, run, points }) => [k, run, points.find((point) => point[0] === epoch)]).filter((one) => one[2]).sort((a, b) => b[2][1] - a[2][1]);
    return readout(epoch ? `Epoch ${epoch}` : "Before training", found.map(([k, run, point]) => [h("span", { class: "who" }, key(k), clip(run.name, 24)), curve.format(point[1])]));
  }, () => cross.setAttribute("visibility", "hidden"));
  return svg;
}
