// Four small line charts with one line for each run.
const hiddenRuns = new Set();

const CURVES = [
  {
    key: "bleu",
    title: "Devtest BLEU",
    sub: () => `Higher is better. A ring marks the chosen epoch${startsShown() ? "; epoch 0 is before training" : ""}.`,
    format: show.bleu,
    tick: show.short,
    ring: true,
  },
  {
    key: "pair_error",
    title: "Pair error",
    sub: () => "Pairs ranked wrongly, on each run’s own training data. Lower is better.",
    format: show.percent,
    tick: (value) => `${+(100 * value).toPrecision(3)} %`,
  },
  {
    key: "metric",
    title: "Training metric of the 1-best",
    sub: () =>
      `Mean ${[...new Set(data.runs.map((run) => run.metric))].join(", ")} of the best translations while training.`,
    format: show.metric,
    tick: (value) => String(+value.toPrecision(3)),
  },
  {
    key: "features",
    title: "Active features",
    sub: () => "Weights that are not 0.",
    format: show.count,
    tick: show.short,
    zero: true,
  },
];

function drawCurves() {
  const place = section("curves");
  if (!data.runs.some((run) => run.epochs.length))
    return place.append(empty("No epoch is finished yet, so there is nothing to draw."));
  const charts = [];
  if (data.runs.length > 1) {
    place.append(
      h(
        "div",
        { class: "legend", role: "group", "aria-label": "Runs shown" },
        data.runs.map((run, k) => {
          const chip = h(
            "button",
            {
              type: "button",
              class: "chip",
              "aria-pressed": "true",
              title: "Show or hide",
              onclick: () => {
                hiddenRuns.has(k) ? hiddenRuns.delete(k) : hiddenRuns.add(k);
                chip.setAttribute("aria-pressed", String(!hiddenRuns.has(k)));
                charts.forEach((one) => one.redraw());
              },
            },
            key(k),
            run.name,
            run.name.toLowerCase() === algorithm(run).toLowerCase()
              ? null
              : h("span", { class: "dim" }, algorithm(run)),
          );
          return chip;
        }),
      ),
    );
  }
  const grid = h("div", { class: "grid" });
  for (const curve of CURVES) {
    const card = h("div", { class: "card" }, h("h3", {}, curve.title));
    if (data.runs.some((run) => run.epochs.some((epoch) => epoch[curve.key] !== null))) {
      const one = chart(curve.key, (width) => lines(curve, width));
      charts.push(one);
      card.append(h("p", { class: "sub" }, curve.sub()), one);
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
  return curve.key === "bleu" && points.length && run.start !== null && startsShown()
    ? [[0, run.start], ...points]
    : points;
}

function lines(curve, width) {
  const series = data.runs
    .map((run, k) => ({ k, run, points: curvePoints(curve, run) }))
    .filter((one) => one.points.length && !hiddenRuns.has(one.k))
    .map((one) => ({ ...one, start: one.points[0], end: one.points[one.points.length - 1] }));
  const height = Math.max(210, Math.min(270, width * 0.5));
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  if (!series.length) {
    svg.append(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "all runs are hidden"));
    return svg;
  }
  // Names stand at the ends of the lines where there is room; the chips above the charts always have them.
  const letters =
    series.length > 1 && width >= 420 ? Math.min(16, Math.max(...series.map((one) => one.run.name.length))) : 0;
  const box = { left: 52, right: width - (letters ? 18 + letters * 7.2 : 14), top: 10, bottom: height - 28 };
  const first = Math.min(...series.map((one) => one.start[0]));
  const last = Math.max(...series.map((one) => one.end[0]));
  const values = series.flatMap((one) => one.points.map((point) => point[1]));
  const log = curve.zero && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 25;
  const y = scale(values, box.bottom, box.top, { log, zero: curve.zero && !log, whole: curve.zero });
  const room = box.right - box.left - 16;
  const x = (epoch) => box.left + 8 + (first === last ? 0.5 : (epoch - first) / (last - first)) * room;
  const cross = s("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
  svg.append(...frame(box, y, first, last, x, curve.tick).flat(), cross);
  for (const one of series) svg.append(...oneLine(one, curve, x, y));
  if (letters) svg.append(...endLabels(series, box, x, y, letters));
  if (log) svg.append(s("text", { x: box.left + 4, y: box.top + 8 }, "logarithmic"));
  const pointAt = (epoch) => {
    cross.setAttribute("x1", x(epoch));
    cross.setAttribute("x2", x(epoch));
    cross.setAttribute("visibility", "visible");
    return curveReadout(curve, series, epoch);
  };
  readable(svg, box, x, first, last, spoken(curve, series), pointAt, () => cross.setAttribute("visibility", "hidden"));
  return svg;
}

function oneLine({ k, run, points }, curve, x, y) {
  const ink = { fill: "none", style: { stroke: color(k) } };
  const path = points.map(([epoch, value], at) => `${at ? "L" : "M"}${x(epoch).toFixed(1)} ${y.at(value).toFixed(1)}`);
  const size = points.length > 40 ? 1.5 : 3.2;
  const parts = points.map(([epoch, value]) => mark(k, x(epoch), y.at(value), size, { class: "dot" }));
  if (points.length > 1) {
    const line = { class: "line", "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": dashes(k) };
    parts.unshift(s("path", { d: path.join(""), ...line, ...ink }));
  }
  if (curve.ring) {
    const place = { cx: x(run.best), cy: y.at(bestEpoch(run).bleu), r: 7.5, "stroke-width": 1.8 };
    parts.push(s("circle", { class: "ring", ...place, ...ink }));
  }
  return parts;
}

// A thin dotted line leads from a line's end to its name where the two are apart.
function endLabels(series, box, x, y, letters) {
  const labels = series.map(({ k, run, end }) => ({ k, run, x: x(end[0]), y: y.at(end[1]) }));
  return spreadLabels(labels, 15, box.top + 4, box.bottom - 4).flatMap((label) => {
    const far = box.right - label.x > 20 || Math.abs(label.at - label.y) > 7;
    const lead = { fill: "none", "stroke-opacity": 0.5, "stroke-dasharray": "1 3", style: { stroke: color(label.k) } };
    const ink = `color-mix(in srgb, ${color(label.k)} 72%, var(--text))`;
    const place = { class: "name", x: box.right + 7, y: label.at + 4, style: { fill: ink } };
    return [
      ...(far ? [s("path", { d: `M${label.x + 9} ${label.y}L${box.right + 3} ${label.at}`, ...lead })] : []),
      s("text", place, clip(label.run.name, letters)),
    ];
  });
}

function curveReadout(curve, series, epoch) {
  const found = series
    .map(({ k, run, points }) => [k, run, points.find((point) => point[0] === epoch)])
    .filter((one) => one[2])
    .sort((a, b) => b[2][1] - a[2][1]);
  const title = epoch ? `Epoch ${epoch}` : "Before training";
  const name = (k, run) => h("span", { class: "who" }, key(k), clip(run.name, 24));
  return readout(
    title,
    found.map(([k, run, point]) => [name(k, run), curve.format(point[1])]),
  );
}

// What a screen reader says of the chart.
function spoken(curve, series) {
  const one = ({ run, start, end }) =>
    `${run.name}: ${curve.format(start[1])} after epoch ${start[0]}, ${curve.format(end[1])} after epoch ${end[0]}`;
  return `${curve.title}. ${series.map(one).join("; ")}. Arrow keys read single epochs.`;
}
