// The experiment's tables as in the papers, where the runs belong to one; otherwise the section goes.
function drawExperiment() {
  if (!data.experiment.length) return removeSection("experiment");
  for (const experiment of data.experiment) section("experiment").append(...experimentTable(experiment));
}

// What domains share, for runs whose shards are domains.
function drawSharing() {
  if (!data.sharing.length) return removeSection("sharing");
  for (const one of data.sharing) section("sharing").append(...experimentTable(one));
}

function experimentTable(experiment) {
  // Words go where there is no room; sentences stay.
  const goes = (column, k) => k > 0 && column.left && !column.prose;
  const words = experiment.columns.map((column, k) => k).filter((k) => goes(experiment.columns[k], k));
  const marked = experiment.rows.some((row) => rowsRun(row) >= 0);
  const cells = table({
    caption: experiment.caption || undefined,
    label: experiment.caption || "Results of the experiment",
    sort: { key: "" },
    page: experiment.first ?? Infinity,
    columns: experiment.columns.map((column, k) => ({
      key: String(k),
      label: column.label,
      group: column.test || undefined,
      right: k > 0 && !column.left,
      wide: goes(column, k),
      prose: column.prose,
      ascending: k === 0 || column.left,
      value: (row) => row.entries[k].value,
      render: k === 0 ? (row) => experimentCell(row, words, marked) : entryColumn(experiment, k),
    })),
  });
  cells.element.classList.add("experiment");
  cells.update(experiment.rows);
  const legend = experiment.legend.map((text) => note(text));
  return [
    cells.element,
    h("div", { class: "below" }, legend),
    ...(experiment.repeats.length ? [repeatsCard(experiment.repeats)] : []),
    ...experiment.plots.map(plotCard),
  ];
}

// Scores above, model sizes below if they differ, as one setting changes. The values are spaced evenly: a setting may
// be 0, or none.
function plotCard(plot) {
  const width = (label) => (label.length > 30 ? "" : "nowrap"); // a phone has no room for longer ones on one line
  const legend = plot.scores.map((one, k) => h("span", { class: width(one.label) }, key(k), one.label, " "));
  return h(
    "div",
    { class: "card below" },
    h("h3", {}, capital(plot.caption)),
    h("p", { class: "sub" }, legend),
    chart("setting-scores", (width) => settingLines(plot, plot.scores, show.score, width)),
    ...(new Set(plot.sizes).size > 1 ? sizes(plot) : []),
  );
}

function sizes(plot) {
  const series = [{ label: "Features", values: plot.sizes }];
  const options = { log: plot.sizes.every((one) => one > 0) };
  return [
    h("p", { class: "sub" }, "Features with a weight"),
    chart("setting-sizes", (width) => settingLines(plot, series, show.short, width, options)),
  ];
}

function settingLines(plot, series, format, width, options = {}) {
  const height = 190;
  const box = { left: 56, right: width - 40, top: 10, bottom: height - 40 };
  const intervals = (one) => (one.intervals ?? []).map((pair, k) => [k, pair]).filter(([, pair]) => pair);
  const bounds = series.flatMap(intervals).flatMap(([, pair]) => pair);
  const all = [...series.flatMap((one) => one.values).filter((value) => value !== null), ...bounds];
  const y = scale(all, box.bottom, box.top, { count: 4, ...options });
  const x = (k) => box.left + ((k + 0.5) / plot.values.length) * (box.right - box.left);
  const spoken = series.map((one) => {
    const range = (k) => (one.intervals?.[k] ? ` (${one.intervals[k].map(format).join(" to ")})` : "");
    const points = one.values.map(
      (value, k) => `${plot.values[k]}: ${value === null ? "unknown" : format(value)}${range(k)}`,
    );
    return `${one.label}: ${points.join(", ")}`;
  });
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `By ${plot.setting}. ${spoken.join("; ")}`,
  });
  for (const value of y.ticks) {
    svg.append(
      s("line", { class: "rule", x1: box.left, x2: box.right, y1: y.at(value), y2: y.at(value) }),
      s("text", { x: box.left - 8, y: y.at(value) + 4, "text-anchor": "end" }, show.short(value)),
    );
  }
  svg.append(s("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  const room = Math.max(3, Math.floor((box.right - box.left) / plot.values.length / 7));
  plot.values.forEach((value, k) =>
    svg.append(s("text", { x: x(k), y: box.bottom + 18, "text-anchor": "middle" }, clip(value, room))),
  );
  svg.append(s("text", { x: (box.left + box.right) / 2, y: box.bottom + 35, "text-anchor": "middle" }, plot.setting));
  series.forEach((one, number) => {
    const known = one.values.map((value, k) => [k, value]).filter(([, value]) => value !== null);
    const path = known.map(([k, value], at) => `${at ? "L" : "M"}${x(k).toFixed(1)} ${y.at(value).toFixed(1)}`);
    const line = { d: path.join(""), fill: "none", class: "line", "stroke-width": 2, style: { stroke: color(number) } };
    svg.append(s("path", line));
    const aside = (number - (series.length - 1) / 2) * 5; // intervals of several lines stand side by side
    for (const [k, [low, high]] of intervals(one)) {
      const at = x(k) + aside;
      const d = `M${at - 3} ${y.at(low)}h6m-3 0V${y.at(high)}m-3 0h6`;
      svg.append(s("path", { d, fill: "none", class: "interval", "stroke-width": 1.5, style: { stroke: color(number) } }));
    }
    for (const [k, value] of known) {
      const dot = mark(number, x(k), y.at(value), 4.5);
      dot.append(s("title", {}, `${one.label}, ${plot.setting} ${plot.values[k]}: ${format(value)}`));
      svg.append(dot);
    }
  });
  return svg;
}

// Box plots of the runs of each system, one test set at a time.
function repeatsCard(sets) {
  let shown = sets[0];
  const boxes = chart("repeats", (width) => repeatBoxes(shown, width));
  const about = (one) => {
    const most = Math.max(...one.systems.map((system) => system.values.length));
    return `${one.label} on ${one.test} of up to ${most} runs with different seeds; a dot is a run.`;
  };
  const sub = h("p", { class: "sub" }, about(shown));
  return h(
    "div",
    { class: "card below" },
    h("h3", {}, "Runs with different seeds"),
    sub,
    sets.length > 1
      ? h(
          "div",
          { class: "controls" },
          choice(
            "Test set",
            sets.map((one, k) => [k, one.test]),
            0,
            (value) => {
              shown = sets[Number(value)];
              sub.textContent = about(shown);
              boxes.redraw();
            },
          ),
        )
      : null,
    boxes,
  );
}

function repeatBoxes({ label, systems }, width) {
  const pitch = 46;
  const height = systems.length * pitch + 30;
  const x = scale(
    systems.flatMap((one) => one.values),
    16,
    width - 16,
    { count: Math.max(3, Math.floor(width / 110)) },
  );
  const spoken = systems.map((one) => {
    const middle = one.box ? one.box[2] : one.values[0];
    return `${one.name}: ${one.values.length === 1 ? "one run" : `median of ${one.values.length} runs`} ${show.score(middle)}`;
  });
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `${label} by run. ${spoken.join("; ")}`,
  });
  for (const value of x.ticks) {
    svg.append(
      s("line", { class: "rule", x1: x.at(value), x2: x.at(value), y1: 4, y2: height - 24 }),
      s("text", { x: x.at(value), y: height - 8, "text-anchor": "middle" }, show.short(value)),
    );
  }
  systems.forEach((one, at) => {
    const ink = "var(--accent)";
    const top = at * pitch + 8;
    const middle = top + 25;
    const text = one.box
      ? `${show.score(one.box[2])} (${show.score(one.box[1])} to ${show.score(one.box[3])})`
      : show.score(one.values[0]);
    const group = s("g", { class: "repeat", "data-system": one.name }, s("title", {}, `${one.name}: ${text}`));
    group.append(
      s("text", { class: "name", x: 2, y: top + 8 }, clip(one.name, Math.floor((width - 150) / 7.4))),
      s("text", { x: width - 2, y: top + 8, "text-anchor": "end" }, text),
    );
    if (one.box) {
      const [low, first, median, third, high] = one.box.map(x.at);
      const line = { style: { stroke: ink }, "stroke-width": 1.4 };
      group.append(
        s("line", { x1: low, x2: first, y1: middle, y2: middle, ...line }),
        s("line", { x1: third, x2: high, y1: middle, y2: middle, ...line }),
        s("rect", {
          class: "box",
          x: first,
          y: middle - 8,
          width: Math.max(third - first, 1),
          height: 16,
          rx: 2,
          "fill-opacity": 0.16,
          style: { fill: ink, stroke: ink },
        }),
        s("line", { class: "median", x1: median, x2: median, y1: middle - 8, y2: middle + 8, ...line, "stroke-width": 2.4 }),
      );
    }
    one.values.forEach((value, k) => {
      const aside = one.box ? ((((k + 1) * 0.618034) % 1) - 0.5) * 10 : 0;
      group.append(
        s("circle", { class: "dot", cx: x.at(value), cy: middle + aside, r: 2.4, "fill-opacity": 0.75, style: { fill: ink } }),
      );
    });
    svg.append(group);
  });
  return svg;
}

const rowsRun = (row) => data.runs.findIndex((one) => one.name === row.name);

// The algorithm's number with the mark of the cell's run. Where the screen has no room for the columns of words, they
// stand here, so that a row can be told from others however far the table is moved.
function experimentCell(row, words, marked) {
  const run = rowsRun(row);
  return h(
    "div",
    { class: "cell", title: row.name },
    h("span", { class: "who nowrap" }, run >= 0 ? key(run) : marked && h("span", { class: "key" }), row.entries[0].text),
    h("span", { class: "narrow dim" }, words.map((k) => row.entries[k].text).filter(Boolean).join(" · ")),
  );
}

// Notes and marks have the same width in all rows, so that numbers stand below each other.
function entryColumn({ rows, mark: meaning }, k) {
  const numbers = (raised) => raised.join(raised.some((one) => one > 9) ? "," : "");
  const after = (entry) => [entry.dagger ? "†" : "", numbers(entry.raised || []), entry.note || ""];
  // `@` is wider than a digit.
  const width = Math.max(...rows.map((row) => after(row.entries[k]).join("").replace("@", "@@").length));
  return (row) => {
    const entry = row.entries[k];
    const [dagger, raised, remark] = after(entry);
    return [
      entry.best ? h("b", {}, entry.text) : entry.text,
      width > 0 &&
        h(
          "span",
          { class: "after", style: { width: `${width}ch` } },
          dagger,
          raised && h("sup", { title: `${meaning} ${entry.raised.join(", ")}` }, raised),
          remark && h("span", { class: "dim" }, remark),
        ),
    ];
  };
}
