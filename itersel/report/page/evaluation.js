// Scores and significance tests, where an evaluation was given; otherwise the section goes.
function drawEvaluation() {
  const place = section("evaluation");
  const evaluation = data.evaluation;
  if (!evaluation) return removeSection("evaluation");
  const run = (name) => data.runs.findIndex((one) => one.name === name);
  const system = (name) => (run(name) < 0 ? name : who(run(name)));
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
  const probability = (p) =>
    h("span", { class: p < 0.05 ? "significant" : "dim" }, p < 0.0001 ? "< 0.0001" : p.toFixed(4));
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
        label: "95 % of samples",
        plain: true,
        wide: true,
        value: () => null,
        render: (row) => intervalBar(row, of()),
      },
      {
        key: "p",
        label: "p (randomisation)",
        right: true,
        ascending: true,
        value: (row) => row.p,
        render: (row) => probability(row.p),
      },
      {
        key: "p2",
        label: "p (bootstrap)",
        right: true,
        ascending: true,
        wide: true,
        value: (row) => row.p_bootstrap,
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
  list.update(of());
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
              list.update(of());
            },
          ),
        )
      : null,
    list.element,
  );
}

// The interval on a scale that all rows share, with 0 marked.
function intervalBar(row, rows) {
  const low = Math.min(0, ...rows.map((one) => one.interval[0])),
    high = Math.max(0, ...rows.map((one) => one.interval[1]));
  const x = (value) => 6 + ((value - low) / (high - low || 1)) * 188;
  const ink = row.better === null ? "var(--muted)" : "var(--accent)";
  return s(
    "svg",
    {
      class: "interval",
      viewBox: "0 0 200 20",
      role: "img",
      "aria-label": `from ${show.signed(row.interval[0])} to ${show.signed(row.interval[1])}`,
    },
    s("title", {}, `${show.signed(row.interval[0])} to ${show.signed(row.interval[1])}`),
    s("line", {
      x1: x(0),
      x2: x(0),
      y1: 0,
      y2: 20,
      "stroke-dasharray": "2 2",
      style: { stroke: "var(--line-strong)" },
    }),
    s("line", {
      x1: x(row.interval[0]),
      x2: x(row.interval[1]),
      y1: 10,
      y2: 10,
      "stroke-width": 2.4,
      "stroke-linecap": "round",
      style: { stroke: ink },
    }),
    s("circle", { cx: x(row.difference), cy: 10, r: 4, style: { fill: ink } }),
  );
}
