// How much the shards differ: boxes over epochs, one panel for each run, all on one scale.

// The figures that algorithms declare for it, and processor time; each with its boxes of an epoch.
function spreads() {
  const declared = shownIn("spread").map((figure) => ({ ...figure, of: (epoch) => epoch.spread[figure.name] || null }));
  const time = { label: "CPU time", about: "Processor time that a shard took.", of: (epoch) => epoch.cpu };
  return [...declared, { ...FORMS.seconds, ...time }].filter((one) =>
    data.runs.some((run) => run.epochs.some((epoch) => one.of(epoch))),
  );
}

function drawShards() {
  const place = section("shards");
  const options = spreads();
  const shown = data.runs
    .map((run, k) => k)
    .filter((k) => data.runs[k].epochs.some((epoch) => options.some((one) => one.of(epoch))));
  if (!shown.length)
    return place.append(
      empty(
        data.runs.some((run) => run.epochs.length)
          ? "Every run has a single shard, so there is no spread."
          : "No epoch is finished yet.",
      ),
    );
  let chosen = options[0];
  const sub = note(chosen.about);
  const charts = [];
  place.append(
    sub,
    h(
      "div",
      { class: "controls" },
      segments(
        "Figure",
        options.map((one, k) => [String(k), capital(one.label)]),
        "0",
        (value) => {
          chosen = options[Number(value)];
          sub.textContent = chosen.about;
          charts.forEach((one) => one.redraw());
        },
      ),
    ),
  );
  const grid = h("div", { class: "grid" });
  for (const k of shown) {
    const one = chart("over shards", (width) => boxes(k, shown, chosen, width));
    charts.push(one);
    grid.append(
      h(
        "div",
        { class: "card" },
        h("h3", {}, who(k)),
        h("p", { class: "sub" }, `${shardCount(data.runs[k])}, ${data.runs[k].algorithm}`),
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
  const { text, tick, label } = figure;
  const of = (run) => data.runs[run].epochs.map(figure.of);
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
  if (!of(k).some(Boolean)) {
    svg.append(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "the run does not measure this"));
    return svg;
  }
  const ground = { fill: "var(--accent-soft)", opacity: 0.6 };
  const place = { y: box.top, width: step, height: box.bottom - box.top };
  const band = s("rect", { ...place, visibility: "hidden", style: ground });
  svg.append(...frame(box, y, 1, epochs, x, tick).flat(), band);
  of(k).forEach((one, at) => one && svg.append(...oneBox(one, k, x(at + 1), half, y)));
  const boxAt = (epoch) => {
    band.setAttribute("x", x(epoch) - step / 2);
    band.setAttribute("visibility", "visible");
    return boxReadout(epoch, of(k)[epoch - 1], text);
  };
  const spoken = `${capital(label)} of the shards of ${data.runs[k].name} in each epoch. Arrow keys read single epochs.`;
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
