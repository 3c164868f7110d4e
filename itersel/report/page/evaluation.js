// Scores and significance tests, where an evaluation was given; otherwise the section goes.
function drawEvaluation() {
  const place = section("evaluation");
  const evaluation = data.evaluation;
  if (!evaluation) return removeSection("evaluation");
  const run = (name) => data.runs.findIndex((one) => one.name === name);
  const system = (name) => (run(name) < 0 ? h("span", { class: "who" }, noKey(), name) : who(run(name)));
  const several = evaluation.systems.some((one) => one.scores.some((score) => score[4] > 1));
  place.append(
    note(
      `${show.count(evaluation.sentences)} sentences. In grey the interval that holds 95 % of bootstrap samples`,
      several ? ", after ± the deviation between optimizer runs." : ".",
    ),
  );
  const scores = table({
    label: "Scores",
    sort: { key: "0", descending: true },
    columns: [
      {
        key: "name",
        label: "System",
        ascending: true,
        value: (row) => row.name.toLowerCase(),
        render: (row) => system(row.name),
      },
      several && { key: "runs", label: "Runs", right: true, value: (row) => row.scores[0][4] },
      ...evaluation.metrics.map((metric, k) => ({
        key: String(k),
        label: metric.label,
        right: true,
        ascending: metric.name === "ter",
        value: (row) => row.scores[k][0],
        render: (row) => {
          const [mean, deviation, low, high] = row.scores[k];
          return [
            show.score(mean),
            deviation === null ? null : ` ± ${show.score(deviation)}`,
            " ",
            h("span", { class: "dim small" }, `${low.toFixed(1)}–${high.toFixed(1)}`),
          ];
        },
      })),
      {
        key: "length",
        label: "Length ratio",
        right: true,
        value: (row) => row.length,
        render: (row) => row.length.toFixed(3),
      },
      evaluation.systems.some((one) => one.brevity !== null) && {
        key: "brevity",
        label: "Brevity penalty",
        title: "BLEU's factor for output that is shorter than the references",
        right: true,
        value: (row) => row.brevity,
        render: (row) => (row.brevity === null ? null : row.brevity.toFixed(3)),
      },
    ].filter(Boolean),
  });
  scores.update(evaluation.systems);
  place.append(scores.element);
  if (evaluation.comparisons.length) place.append(comparisons(evaluation, system));
  place.append(
    h(
      "p",
      { class: "sub mono" },
      evaluation.metrics.map((metric) => h("div", {}, `${metric.label}: ${metric.signature}`)),
    ),
  );
  for (const warning of evaluation.warnings) place.append(h("div", { class: "warnings" }, warning));
}

function comparisons(evaluation, system) {
  const labels = new Map(evaluation.metrics.map((metric) => [metric.name, metric.label]));
  let metric = evaluation.metrics[0].name;
  const of = () => evaluation.comparisons.filter((row) => row.metric === metric);
  const probability = ([p, text]) => h("span", { class: p < 0.05 ? "significant" : "dim" }, text);
  const axis = h("div", {});
  const list = table({
    label: "Differences between systems",
    sort: { key: "p", descending: false },
    columns: [
      {
        key: "pair",
        label: "Systems",
        ascending: true,
        value: (row) => `${row.first} ${row.second}`.toLowerCase(),
        render: (row) =>
          h("span", { class: "pair" }, system(row.first), h("span", { class: "dim" }, "−"), system(row.second)),
      },
      {
        key: "difference",
        label: "Difference",
        right: true,
        value: (row) => row.difference,
        render: (row) => show.signed(row.difference),
      },
      {
        key: "interval",
        label: ["95 % of samples", axis],
        plain: true,
        value: () => null,
        render: (row) => intervalBar(row, intervalScale(of())),
      },
      {
        key: "p",
        label: "p (randomisation)",
        right: true,
        ascending: true,
        value: (row) => row.p[0],
        render: (row) => probability(row.p),
      },
      {
        key: "p2",
        label: "p (bootstrap)",
        right: true,
        ascending: true,
        value: (row) => row.p_bootstrap[0],
        render: (row) => probability(row.p_bootstrap),
      },
      {
        key: "better",
        label: "Better",
        ascending: true,
        value: (row) => row.better,
        render: (row) => (row.better === null ? null : system(row.better)),
      },
    ],
  });
  const refresh = () => {
    axis.replaceChildren(intervalAxis(intervalScale(of())));
    list.update(of());
  };
  refresh();
  const tests = evaluation.comparisons.length;
  const how = evaluation.exact ? "all arrangements" : `${show.count(evaluation.trials)} shuffles`;
  return h(
    "div",
    { class: "tests" },
    h("h3", {}, "Differences"),
    h(
      "p",
      { class: "sub" },
      `Paired randomisation (${how}) and paired bootstrap. A system is called better if p < 0.05 by randomisation, `,
      `not corrected for the number of tests (${tests}).`,
    ),
    evaluation.metrics.length > 1
      ? h(
          "div",
          { class: "controls" },
          segments(
            "Metric",
            evaluation.metrics.map((one) => [one.name, labels.get(one.name)]),
            metric,
            (value) => {
              metric = value;
              refresh();
            },
          ),
        )
      : null,
    list.element,
  );
}

// A scale that all rows share, with 0 on it.
const INTERVAL = { width: 220, margin: 16 };
function intervalScale(rows) {
  const values = [0, ...rows.flatMap((row) => row.interval)];
  return scale(values, INTERVAL.margin, INTERVAL.width - INTERVAL.margin, { count: 4 });
}

function intervalAxis(x) {
  const digits = Math.max(0, ...x.ticks.map((value) => (String(value).split(".")[1] || "").length));
  const text = (value) => (value === 0 ? "0" : show.signed(value, digits));
  // Names of ticks that would run into each other are left out; 0 always has one.
  const zero = x.ticks.indexOf(0);
  const gap = x.ticks.length > 1 ? x.at(x.ticks[1]) - x.at(x.ticks[0]) : INTERVAL.width;
  const each = Math.ceil((6.6 * Math.max(...x.ticks.map((value) => text(value).length)) + 6) / gap);
  return s(
    "svg",
    { class: "interval axis-of-intervals", viewBox: `0 0 ${INTERVAL.width} 20`, "aria-hidden": "true" },
    s("line", { class: "axis", x1: x.at(x.ticks[0]), x2: x.at(x.ticks[x.ticks.length - 1]), y1: 19.5, y2: 19.5 }),
    x.ticks.map((value, k) => [
      s("line", { class: "axis", x1: x.at(value), x2: x.at(value), y1: 15.5, y2: 19.5 }),
      (k - zero) % each === 0
        ? s("text", { class: "tick", x: x.at(value), y: 12, "text-anchor": "middle" }, text(value))
        : null,
    ]),
  );
}

function intervalBar(row, x) {
  const ink = row.better === null ? "var(--muted)" : "var(--accent)";
  const [low, high] = row.interval;
  const said = `${show.signed(low)} to ${show.signed(high)}`;
  return s(
    "svg",
    { class: "interval", viewBox: `0 0 ${INTERVAL.width} 36`, role: "img", "aria-label": `from ${said}` },
    s("title", {}, said),
    x.ticks.map((value) =>
      s("line", { class: value === 0 ? "axis zero" : "rule", x1: x.at(value), x2: x.at(value), y1: 0, y2: 36 }),
    ),
    s("line", {
      class: "reach",
      x1: x.at(low),
      x2: x.at(high),
      y1: 18,
      y2: 18,
      "stroke-width": 2.4,
      "stroke-linecap": "round",
      style: { stroke: ink },
    }),
    s("circle", { cx: x.at(row.difference), cy: 18, r: 4, style: { fill: ink } }),
  );
}
