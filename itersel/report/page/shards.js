// How much the shards differ: boxes over epochs, one panel for each run, all on one scale.
const SPREADS = {
  metric: {
    label: "1-best metric",
    sub: "Mean training metric of a shard’s best translations.",
    format: show.metric,
    tick: (value) => String(+value.toPrecision(3)),
  },
  pair_error: {
    label: "Pair error",
    sub: "Share of a shard’s pairs that the model ranked wrongly.",
    format: show.percent,
    tick: (value) => `${+(100 * value).toPrecision(3)} %`,
  },
  updates: { label: "Updates", sub: "Updates for each sentence of a shard.", format: show.number, tick: show.short },
  seconds: {
    label: "CPU time",
    sub: "Processor time that a shard took.",
    format: show.seconds,
    tick: (value) => `${+value.toPrecision(3)} s`,
  },
};

function drawShards() {
  const place = section("shards");
  const shown = data.runs.map((run, k) => k).filter((k) => data.runs[k].epochs.some((epoch) => epoch.spread.metric));
  if (!shown.length)
    return place.append(
      empty(
        data.runs.some((run) => run.epochs.length)
          ? "Every run has a single shard, so there is no spread."
          : "No epoch is finished yet.",
      ),
    );
  let chosen = "metric";
  const sub = note(SPREADS[chosen].sub);
  const charts = [];
  place.append(
    sub,
    h(
      "div",
      { class: "controls" },
      segments(
        "Figure",
        Object.entries(SPREADS).map(([value, one]) => [value, one.label]),
        chosen,
        (value) => {
          chosen = value;
          sub.textContent = SPREADS[chosen].sub;
          charts.forEach((one) => one.redraw());
        },
      ),
    ),
  );
  const grid = h("div", { class: "grid" });
  for (const k of shown) {
    const one = chart("spread", (width) => boxes(k, shown, chosen, width));
    charts.push(one);
    grid.append(
      h(
        "div",
        { class: "card" },
        h("h3", {}, who(k)),
        h("p", { class: "sub" }, `${shardCount(data.runs[k])}, ${algorithm(data.runs[k])}`),
        one,
      ),
    );
  }
  place.append(grid);
  const rest = data.runs.filter((run, k) => !shown.includes(k) && run.epochs.length).map((run) => run.name);
  if (rest.length)
    place.append(h("p", { class: "sub" }, `Without a spread, having a single shard: ${rest.join(", ")}.`));
}

function boxes(k, shown, figure, width) {
  const { format, tick, label } = SPREADS[figure];
  const of = (run) => data.runs[run].epochs.map((epoch) => epoch.spread[figure]);
  const values = shown.flatMap((run) =>
    of(run)
      .filter(Boolean)
      .flatMap((one) => [one.box[0], one.box[4], ...one.dots.map((dot) => dot[1])]),
  );
  const epochs = data.runs[k].epochs.length;
  const height = 220;
  const box = { left: 52, right: width - 10, top: 10, bottom: height - 28 };
  const y = scale(values, box.bottom, box.top);
  const step = (box.right - box.left) / epochs;
  const x = (epoch) => box.left + (epoch - 0.5) * step;
  const half = Math.max(2.5, Math.min(17, step * 0.3));
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const ground = { fill: "var(--accent-soft)", opacity: 0.6 };
  const place = { y: box.top, width: step, height: box.bottom - box.top };
  const band = s("rect", { ...place, visibility: "hidden", style: ground });
  svg.append(...frame(box, y, 1, epochs, x, tick).flat(), band);
  of(k).forEach((one, at) => one && svg.append(...oneBox(one, k, x(at + 1), half, y)));
  const boxAt = (epoch) => {
    band.setAttribute("x", x(epoch) - step / 2);
    band.setAttribute("visibility", "visible");
    return boxReadout(epoch, of(k)[epoch - 1], format);
  };
  const spoken = `${label} of the shards of ${data.runs[k].name} in each epoch. Arrow keys read single epochs.`;
  readable(svg, box, x, 1, epochs, spoken, boxAt, () => band.setAttribute("visibility", "hidden"));
  return svg;
}

function oneBox({ box, dots }, k, middle, half, y) {
  const [low, first, median, third, high] = box.map(y.at);
  const ink = { style: { stroke: color(k) } };
  const thin = { x1: middle, x2: middle, "stroke-width": 1.4, ...ink };
  const place = { x: middle - half, y: third, width: 2 * half, height: Math.max(first - third, 1), rx: 2 };
  const filled = { "fill-opacity": 0.16, "stroke-width": 1.2, style: { fill: color(k), stroke: color(k) } };
  // Dots stand beside each other by the golden ratio: a shard keeps its place through the epochs.
  const aside = (shard) => ((((shard + 1) * 0.618034) % 1) - 0.5) * half * 1.3;
  const dot = { class: "dot", r: Math.min(2.8, half), "fill-opacity": 0.75, style: { fill: color(k) } };
  return [
    s("line", { y1: low, y2: first, ...thin }),
    s("line", { y1: third, y2: high, ...thin }),
    s("rect", { class: "box", ...place, ...filled }),
    s("line", { x1: middle - half, x2: middle + half, y1: median, y2: median, "stroke-width": 2.4, ...ink }),
    ...dots.map(([shard, value]) => s("circle", { cx: middle + aside(shard), cy: y.at(value), ...dot })),
  ];
}

function boxReadout(epoch, one, format) {
  if (!one) return readout(`Epoch ${epoch}`, []);
  const all = [one.box[0], one.box[4], ...one.dots.map((dot) => dot[1])];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const whose = (value) => {
    const dot = one.dots.find((one) => one[1] === value);
    return dot ? ` (shard ${dot[0]})` : "";
  };
  return readout(`Epoch ${epoch}`, [
    [`largest${whose(high)}`, format(high)],
    ["upper quartile", format(one.box[3])],
    ["median", format(one.box[2])],
    ["lower quartile", format(one.box[1])],
    [`smallest${whose(low)}`, format(low)],
  ]);
}
