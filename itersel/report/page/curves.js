// Small line charts with one line for each run: the figures that the algorithms declare as curves.
const hiddenRuns = new Set();

// A curve is a figure with the runs whose epochs it decides on, if any.
function curvesShown() {
  const deciding = (figure) => data.runs.filter((run) => run.choice.figure === figure.name);
  return [...figures.values()]
    .filter((figure) => !companionOf(figure))
    .map((figure) => ({ ...figure, deciding: deciding(figure), companion: companion(figure) }))
    .filter((curve) => curve.deciding.length || (curve.shown.includes("curve") && measured(curve)));
}

// A figure that is declared to stand beside another is a thin line in the other's chart, and has none of its own.
const companion = (figure) => [...figures.values()].find((one) => one.beside === figure.name && measured(one)) || null;
const companionOf = (figure) => {
  const other = figure.beside && figures.get(figure.beside);
  return Boolean(other) && companion(other) === figure && (other.shown.includes("curve") || decides(other.name));
};

const measured = (figure) => data.runs.some((run) => run.epochs.some((epoch) => valueOf(epoch.values, figure) !== null));

function curveNote(curve) {
  const start = startsShown(curve) ? "Epoch 0 is before training." : startsLeftOut(curve);
  const before = [curve.companion && `Dashed: ${curve.companion.label}.`, start].filter(Boolean).join(" ");
  if (!curve.deciding.length) return [curve.about, before].filter(Boolean).join(" ");
  const better = curve.deciding[0].choice.largest ? "Higher is better." : "Lower is better.";
  return [better, "A ring marks the chosen epoch.", before].filter(Boolean).join(" ");
}

// What the values before training are, where they are too far off to be drawn.
function startsLeftOut(curve) {
  const starts = data.runs
    .filter((run) => run.epochs.length)
    .map((run) => valueOf(run.start, curve))
    .filter((value) => value !== null);
  if (!starts.length || !measured(curve)) return "";
  const [low, high] = [Math.min(...starts), Math.max(...starts)].map(curve.text);
  return `Epoch 0, before training, is left out: ${low === high ? low : `${low} to ${high}`}.`;
}

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
            namedByAlgorithm(run) ? null : h("span", { class: "dim" }, run.algorithm),
          );
          return chip;
        }),
      ),
    );
  }
  const grid = h("div", { class: "grid" });
  for (const curve of curvesShown()) {
    const card = h("div", { class: "card" }, h("h3", { title: curve.about || null }, capital(curve.label)));
    if (measured(curve)) {
      const one = chart(curve.name, (width) => lines(curve, width));
      charts.push(one);
      card.append(h("p", { class: "sub" }, curveNote(curve)), one);
    } else {
      card.append(empty(`No epoch has a value of ${curve.label}, so the last epoch is chosen.`));
    }
    grid.append(card);
  }
  place.append(grid);
}

// Values before training belong to the curve as epoch 0, unless they are so far off that the rest would be flat. A
// start that is better than every epoch is always shown.
function startsShown(curve) {
  const pick = (values) => valueOf(values, curve);
  const known = (values) => values.filter((value) => value !== null);
  const begun = data.runs.filter((run) => run.epochs.length);
  const values = known(begun.flatMap((run) => run.epochs.map((epoch) => pick(epoch.values))));
  const starts = known(begun.map((run) => pick(run.start)));
  if (!starts.length || !values.length) return false;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(1.5 * (high - low), 0.25 * Math.max(Math.abs(low), Math.abs(high)));
  const sides = curve.deciding.map((run) => run.choice.largest);
  const above = sides.includes(true) || Math.max(...starts) <= high + room;
  const below = sides.includes(false) || Math.min(...starts) >= low - room;
  return above && below;
}

function curvePoints(curve, run) {
  const points = run.epochs
    .map((epoch, at) => [at + 1, valueOf(epoch.values, curve)])
    .filter((point) => point[1] !== null);
  const start = valueOf(run.start, curve);
  return points.length && start !== null && startsShown(curve) ? [[0, start], ...points] : points;
}

function lines(curve, width) {
  const series = data.runs
    .map((run, k) => ({ k, run, points: curvePoints(curve, run) }))
    .filter((one) => one.points.length && !hiddenRuns.has(one.k))
    .map((one) => ({ ...one, start: one.points[0], end: one.points[one.points.length - 1] }))
    .map((one) => ({ ...one, beside: curve.companion ? curvePoints(curve.companion, one.run) : [] }));
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
  const values = series.flatMap((one) => [...one.points, ...one.beside].map((point) => point[1]));
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

function oneLine({ k, run, points, beside }, curve, x, y) {
  const ink = { fill: "none", style: { stroke: color(k) } };
  const trace = (all) =>
    all.map(([epoch, value], at) => `${at ? "L" : "M"}${x(epoch).toFixed(1)} ${y.at(value).toFixed(1)}`);
  const path = trace(points);
  const size = points.length > 40 ? 1.5 : 3.2;
  const parts = points.map(([epoch, value]) => mark(k, x(epoch), y.at(value), size, { class: "dot" }));
  if (points.length > 1) {
    const line = { class: "line", "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": dashes(k) };
    parts.unshift(s("path", { d: path.join(""), ...line, ...ink }));
  }
  if (beside.length) {
    const thin = { class: "beside", "stroke-width": 1.3, "stroke-dasharray": "4 3", "stroke-opacity": 0.85 };
    parts.unshift(s("path", { d: trace(beside).join(""), ...thin, ...ink }));
    for (const [epoch, value] of beside)
      parts.unshift(s("circle", { class: "ghost", cx: x(epoch), cy: y.at(value), r: 2.2, ...ink }));
  }
  const decisive = curve.deciding.includes(run) ? valueOf(bestEpoch(run).values, curve) : null;
  if (decisive !== null) {
    const place = { cx: x(run.best), cy: y.at(decisive), r: 7.5, "stroke-width": 1.8 };
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
    found.flatMap(([k, run, point]) => {
      const promised = curve.companion ? curvePoints(curve.companion, run).find((one) => one[0] === epoch) : null;
      const row = [name(k, run), curve.text(point[1])];
      return promised ? [row, [h("span", { class: "dim" }, curve.companion.label), curve.text(promised[1])]] : [row];
    }),
  );
}

// What a screen reader says of the chart.
function spoken(curve, series) {
  const one = ({ run, start, end }) =>
    `${run.name}: ${curve.text(start[1])} after epoch ${start[0]}, ${curve.text(end[1])} after epoch ${end[0]}`;
  return `${capital(curve.label)}. ${series.map(one).join("; ")}. Arrow keys read single epochs.`;
}
