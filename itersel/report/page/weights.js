// The dense weights of a run over its epochs, and the score as a function of each of them where a run has measured it.
function drawWeights() {
  const shown = data.runs.map((run, k) => k).filter((k) => data.runs[k].weights);
  if (!shown.length) return removeSection("weights");
  const place = section("weights");
  const withSections = shown.filter((k) => data.runs[k].sections);
  let run = withSections.includes(bestRun()) ? bestRun() : (withSections[0] ?? shown[0]);
  const holder = h("div", {});
  place.append(
    shown.length > 1
      ? h(
          "div",
          { class: "controls" },
          choice(
            "Run",
            shown.map((k) => [k, data.runs[k].name]),
            run,
            (value) => {
              run = Number(value);
              draw();
            },
          ),
        )
      : "",
    holder,
  );
  const draw = () => holder.replaceChildren(...[weightCard(data.runs[run]), sectionCard(data.runs[run])].filter(Boolean));
  draw();
}

// Lines are told apart by names at their ends; the one that is pointed at, or named by the arrow keys, stands out.
function weightCard(run) {
  const { names, start, epochs } = run.weights;
  const began = start[0] !== null;
  const series = names.map((name, k) => ({
    name,
    points: [...(began ? [[0, start[k]]] : []), ...epochs[k].map((value, at) => [at + 1, value])],
  }));
  const note = [
    `The ${names.length} largest after epoch ${run.best}, which is chosen.`,
    began ? "Epoch 0: the start weights." : "",
  ];
  const one = chart("weights", (width) => weightLines(run, series, width));
  return h("div", { class: "card" }, h("h3", {}, "Weights by epoch"), h("p", { class: "sub" }, note.join(" ")), one);
}

function weightLines(run, series, width) {
  const letters = width >= 420 ? Math.min(24, Math.max(...series.map((one) => one.name.length))) : 14;
  const height = Math.max(240, Math.min(420, 16 * series.length + 60));
  const box = { left: 52, right: width - 18 - letters * 6.6, top: 10, bottom: height - 28 };
  const first = series[0].points[0][0];
  const last = series[0].points[series[0].points.length - 1][0];
  const y = scale([0, ...series.flatMap((one) => one.points.map((point) => point[1]))], box.bottom, box.top);
  const x = (epoch) =>
    box.left + 8 + (first === last ? 0.5 : (epoch - first) / (last - first)) * (box.right - box.left - 16);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const cross = s("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
  svg.append(...frame(box, y, first, last, x, show.number).flat(), cross);
  svg.append(s("line", { class: "axis", x1: box.left, x2: box.right, y1: y.at(0), y2: y.at(0) }));
  svg.append(s("line", { class: "cross", x1: x(run.best), x2: x(run.best), y1: box.top, y2: box.bottom }));
  const labels = series.map((one) => ({ name: one.name, y: y.at(one.points[one.points.length - 1][1]) }));
  spreadLabels(labels, 13, box.top + 2, box.bottom - 2);
  for (const one of series) {
    const label = labels.find((each) => each.name === one.name);
    const end = one.points[one.points.length - 1];
    const ink = { stroke: end[1] < 0 ? "var(--negative)" : "var(--positive)" };
    const path = one.points.map(([epoch, value], at) => `${at ? "L" : "M"}${x(epoch).toFixed(1)} ${y.at(value).toFixed(1)}`);
    const group = s(
      "g",
      { class: "weight-line", "data-feature": one.name },
      s("title", {}, `${one.name}: ${one.points.map((point) => show.number(point[1])).join(", ")}`),
      s("path", { d: path.join(""), fill: "none", class: "line", style: ink }),
      one.points.length === 1 ? s("circle", { cx: x(end[0]), cy: y.at(end[1]), r: 2.6, style: { fill: ink.stroke } }) : null,
      s("path", { d: `M${x(end[0]) + 3} ${label.y}L${box.right + 2} ${label.at}`, fill: "none", class: "lead-line" }),
      s("text", { x: box.right + 5, y: label.at + 4 }, clip(one.name, letters)),
    );
    svg.append(group);
  }
  const weightsAt = (epoch) => {
    cross.setAttribute("x1", x(epoch));
    cross.setAttribute("x2", x(epoch));
    cross.setAttribute("visibility", "visible");
    const rows = series
      .map((one) => [one.name, one.points.find((point) => point[0] === epoch)[1]])
      .sort((a, b) => b[1] - a[1])
      .map(([name, value]) => [clip(name, 24), show.number(value)]);
    return readout(epoch ? `Epoch ${epoch}` : "Before training", rows);
  };
  const said = `Weights of ${series.length} dense features over the epochs. Arrow keys read single epochs.`;
  readable(svg, box, x, first, last, said, weightsAt, () => cross.setAttribute("visibility", "hidden"));
  return svg;
}

// One small chart for each feature, all on one scale of scores; a line marks the weight that the model has.
function sectionCard(run) {
  const found = run.sections;
  if (!found || !found.features.length) return null;
  const form = FORMS[found.form];
  const all = found.features.flatMap((one) => one.values);
  const best = Math.max(...all);
  // What is far below the best says nothing but that it is: the scale shows the upper part in detail.
  const floor = Math.max(Math.min(...all), best - Math.max(2, 0.12 * Math.abs(best)));
  let limit = 12;
  const grid = h("div", { class: "sections" });
  const more = h("button", { type: "button", class: "more", onclick: () => ((limit += 12), draw()) });
  const draw = () => {
    grid.replaceChildren(
      ...found.features.slice(0, limit).map((one) =>
        h(
          "figure",
          { "data-feature": one.name },
          h("figcaption", {}, h("span", { class: "mono" }, one.name), h("span", { class: "dim small" }, show.number(one.at))),
          chart("section", (width) => sectionLine(one, form, [floor, best], width)),
        ),
      ),
    );
    more.hidden = found.features.length <= limit;
    more.textContent = `Show ${Math.min(12, found.features.length - limit)} more of ${found.features.length}`;
  };
  draw();
  return h(
    "div",
    { class: "card" },
    h("h3", {}, `${capital(found.label)} by weight`),
    h("p", { class: "sub" }, `${found.about} The dashed line is the weight after epoch ${run.best}.`),
    grid,
    more,
  );
}

function sectionLine(one, form, [floor, best], width) {
  const height = 132;
  const box = { left: 40, right: width - 8, top: 8, bottom: height - 22 };
  const y = scale([floor, best], box.bottom, box.top, { count: 3 });
  const [low, high] = [one.weights[0], one.weights[one.weights.length - 1]];
  const x = {
    at: (weight) => box.left + ((weight - low) / (high - low || 1)) * (box.right - box.left),
    ticks: ticks(low, high, Math.max(2, Math.floor(width / 80))),
  };
  const inside = (value) => Math.min(box.bottom, y.at(value));
  const path = one.weights.map((weight, k) => `${k ? "L" : "M"}${x.at(weight).toFixed(1)} ${inside(one.values[k]).toFixed(1)}`);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  svg.append(
    ...y.ticks.flatMap((value) => [
      s("line", { class: "rule", x1: box.left, x2: box.right, y1: y.at(value), y2: y.at(value) }),
      s("text", { x: box.left - 6, y: y.at(value) + 4, "text-anchor": "end" }, form.tick(value)),
    ]),
    ...x.ticks.map((value) =>
      s("text", { x: x.at(value), y: box.bottom + 16, "text-anchor": "middle" }, show.number(value)),
    ),
    s("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    s("line", { class: "cross", x1: x.at(one.at), x2: x.at(one.at), y1: box.top, y2: box.bottom }),
    s("path", { class: "line", d: path.join(""), fill: "none", "stroke-width": 1.8, style: { stroke: "var(--accent)" } }),
  );
  const dot = s("circle", { r: 3.4, visibility: "hidden", style: { fill: "var(--accent)" } });
  svg.append(dot);
  const readAt = (k) => {
    dot.setAttribute("cx", x.at(one.weights[k]));
    dot.setAttribute("cy", inside(one.values[k]));
    dot.setAttribute("visibility", "visible");
    return readout(one.name, [
      ["weight", show.number(one.weights[k])],
      ["score", form.text(one.values[k])],
    ]);
  };
  const at = (k) => x.at(one.weights[k]);
  const top = one.values.indexOf(Math.max(...one.values));
  const said =
    `${one.name}: weight ${show.number(one.at)}; the best score is ${form.text(one.values[top])} at ` +
    `${show.number(one.weights[top])}. Arrow keys read single weights.`;
  readable(svg, box, at, 0, one.weights.length - 1, said, readAt, () => dot.setAttribute("visibility", "hidden"));
  return svg;
}
