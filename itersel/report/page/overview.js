// The sentence at the top, key figures, the table of runs, warnings.
const comparable = data.apart === null;
// What all runs choose their epochs by; null if they differ.
const commonChoice = data.runs.every((run) => run.choice.figure === data.runs[0].choice.figure)
  ? data.runs[0].choice
  : null;
const decides = (name) => data.runs.some((run) => run.choice.figure === name);

// The value that made an epoch the chosen one; null if there is none.
const decisive = (run) => (run.best === null ? null : valueOf(bestEpoch(run).values, { name: run.choice.figure }));

// Whether a run is better than another that chooses its epochs in the same way.
function outranks(run, other) {
  const [value, rival] = [decisive(run), decisive(other)];
  if (value === null || run.choice.figure !== other.choice.figure) return false;
  return rival === null || (run.choice.largest ? value > rival : value < rival);
}

function bestRun() {
  const scored = data.runs.map((run, k) => k).filter((k) => decisive(data.runs[k]) !== null);
  if (!scored.length || !comparable) return null;
  return scored.reduce((best, k) => (outranks(data.runs[k], data.runs[best]) ? k : best));
}

function drawLead() {
  const lead = document.getElementById("lead");
  const best = bestRun();
  const strong = (text) => h("strong", {}, text);
  const runs = data.runs.length;
  if (best === null) {
    const done = sum(data.runs.map((run) => run.epochs.length));
    fill(lead, {}, [
      runs === 1 ? "One run, " : `${runs} runs, `,
      `${done} finished ${done === 1 ? "epoch" : "epochs"}. `,
      comparable
        ? `No run has a value of ${[...new Set(data.runs.map((run) => run.choice.label))].join(" or ")}.`
        : `${data.apart} They cannot be ranked.`,
    ]);
    return;
  }
  const run = data.runs[best];
  const { text } = figures.get(run.choice.figure);
  fill(lead, {}, [
    runs === 1
      ? [strong(run.algorithm), ` on ${shardCount(run)}: ${run.choice.label} `]
      : [
          "The best of ",
          strong(`${runs} runs`),
          ` by ${run.choice.label} is `,
          strong(run.name),
          ` (${namedByAlgorithm(run) ? "" : `${run.algorithm} on `}${shardCount(run)}): `,
        ],
    strong(text(decisive(run))),
    ` after epoch ${run.best} of ${run.planned}`,
    run.features ? [", with ", strong(show.count(run.features.total)), " features."] : ".",
  ]);
}

const namedByAlgorithm = (run) => run.name.toLowerCase() === run.algorithm.toLowerCase();

function shardCount(run) {
  return run.shards === 1 ? "one shard" : `${show.count(run.shards)} shards`;
}

function state(run) {
  return run.epochs.length ? `unfinished: ${run.epochs.length} of ${run.planned}` : "no epoch finished";
}

function drawOverview() {
  const place = section("overview");
  const best = bestRun();
  const rows = data.runs.map((run, k) => ({
    k,
    run,
    epoch: bestEpoch(run),
    cpu: run.epochs.length ? cpuSeconds(run) : null,
  }));
  if (rows.length === 1) {
    place.append(tiles(rows[0]));
  } else {
    const runs = table({
      label: "Runs",
      columns: runColumns(best),
      sort: { key: comparable && commonChoice ? "choice" : "", descending: !commonChoice || commonChoice.largest },
      rowClass: (row) => row.k === best && "best",
    });
    runs.update(rows);
    const rule = commonChoice ? `: the best by ${commonChoice.label}, or the last` : "";
    place.append(note(`Each run at its chosen epoch${rule}. `, data.apart), runs.element);
  }
  const warnings = data.runs.flatMap((run) =>
    run.epochs.flatMap((epoch, k) => epoch.warnings.map((text) => `${run.name}, epoch ${k + 1}: ${text}`)),
  );
  if (warnings.length) place.append(warningList(warnings, 12));
}

function runColumns(best) {
  return [
    {
      key: "name",
      label: "Run",
      ascending: true,
      value: (row) => row.run.name.toLowerCase(),
      render: (row) => [who(row.k), row.run.finished ? null : h("span", { class: "tag unfinished" }, state(row.run))],
    },
    !data.runs.every(namedByAlgorithm) && {
      key: "algorithm",
      label: "Algorithm",
      ascending: true,
      value: (row) => row.run.algorithm,
      render: (row) => h("span", { class: "nowrap" }, row.run.algorithm),
    },
    ...(commonChoice ? choiceColumns(best) : []),
    {
      key: "epoch",
      label: "Epoch",
      title: "The chosen epoch, or the best so far, of those planned",
      right: true,
      value: (row) => row.run.best,
      render: (row) => (row.run.best === null ? null : `${row.run.best} of ${row.run.planned}`),
    },
    ...tableFigures()
      .filter((figure) => !commonChoice || figure.name !== commonChoice.figure)
      .map((figure) => figureColumn(`figure ${figure.name}`, figure)),
    {
      key: "shards",
      label: "Shards",
      right: true,
      value: (row) => row.run.shards,
      render: (row) => (row.run.shards === null ? null : show.count(row.run.shards)),
    },
    {
      key: "cpu",
      label: "CPU time",
      right: true,
      value: (row) => row.cpu,
      render: (row) => (row.cpu === null ? null : show.seconds(row.cpu)),
    },
  ].filter(Boolean);
}

// The figures of tables, and those that decide.
const tableFigures = () =>
  [...figures.values()].filter((figure) => figure.shown.includes("table") || decides(figure.name)).filter(measured);

// A figure at the chosen epochs.
function figureColumn(key, figure, properties) {
  const value = (row) => (row.epoch ? valueOf(row.epoch.values, figure) : null);
  return {
    key,
    label: capital(figure.label),
    title: figure.about || null,
    right: true,
    value,
    render: (row) => (value(row) === null ? null : figure.text(value(row))),
    ...properties,
  };
}

// What the runs are chosen by, how far each is from the best, and where it began.
function choiceColumns(best) {
  const { label, largest } = commonChoice;
  const figure = figures.get(commonChoice.figure);
  const ordered = { ascending: !largest };
  const top = best === null ? null : decisive(data.runs[best]);
  const column = figureColumn("choice", figure, { label: capital(label), ...ordered });
  const behind = (value) => (value === top ? "best" : (value < top ? "−" : "+") + figure.text(Math.abs(value - top)));
  const start = (row) => valueOf(row.run.start, figure);
  return [
    column,
    top !== null && {
      key: "behind",
      label: "To best",
      title: `${capital(label)} minus that of the best run`,
      right: true,
      ...ordered,
      value: column.value,
      render: (row) => (column.value(row) === null ? null : behind(column.value(row))),
    },
    data.runs.some((run) => valueOf(run.start, figure) !== null) && {
      key: "start",
      label: "Before",
      title: `${capital(label)} of the weights that training started from`,
      right: true,
      ...ordered,
      value: start,
      render: (row) => (start(row) === null ? null : figure.text(start(row))),
    },
  ];
}

function warningList(warnings, most) {
  const title = warnings.length === 1 ? "A warning" : `${warnings.length} warnings`;
  const items = warnings.slice(0, most).map((text) => h("li", {}, text));
  if (warnings.length > most) items.push(h("li", {}, `and ${warnings.length - most} more`));
  return h("div", { class: "warnings" }, h("strong", {}, title), h("ul", {}, items));
}

function tiles({ run, epoch, cpu }) {
  const tile = (value, text) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, text));
  if (!epoch) return empty(`No epoch of ${run.name} is finished yet. Write the report again later.`);
  return h(
    "div",
    { class: "tiles" },
    decisive(run) === null
      ? tile("–", `no ${run.choice.label}`)
      : tile(figures.get(run.choice.figure).text(decisive(run)), run.choice.label),
    tile(`${run.best} of ${run.planned}`, run.chosen ? "chosen epoch" : "best epoch so far"),
    tableFigures()
      .filter((figure) => figure.name !== run.choice.figure && valueOf(epoch.values, figure) !== null)
      .map((figure) => tile(figure.text(valueOf(epoch.values, figure)), figure.label)),
    tile(show.seconds(cpu), "CPU time"),
    tile(
      run.finished ? "finished" : `${run.epochs.length} of ${run.planned}`,
      run.finished ? `${run.algorithm}, ${shardCount(run)}` : "epochs, unfinished",
    ),
  );
}
