// The sentence at the top, key figures, the table of runs, warnings.
const comparable = data.sets.length <= 1;

function bestRun() {
  const scored = data.runs.map((run, k) => [k, bestEpoch(run)]).filter(([, epoch]) => epoch && epoch.bleu !== null);
  if (!scored.length || !comparable) return null;
  return scored.reduce((best, one) => (one[1].bleu > best[1].bleu ? one : best))[0];
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
        ? "There is no devtest score to compare by."
        : "They were scored on different devtest data, so their scores say nothing about each other.",
    ]);
    return;
  }
  const run = data.runs[best],
    epoch = bestEpoch(run);
  fill(lead, {}, [
    runs === 1
      ? [strong(algorithm(run)), ` on ${shardCount(run)} `]
      : [
          "The best of ",
          strong(`${runs} runs`),
          ` on devtest is `,
          strong(run.name),
          ` (${algorithm(run)} on ${shardCount(run)}): it `,
        ],
    "reached ",
    strong(`${show.bleu(epoch.bleu)} BLEU`),
    ` after epoch ${run.best} of ${run.planned}, with `,
    strong(show.count(epoch.features)),
    " features.",
  ]);
}

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
      sort: { key: comparable ? "bleu" : "", descending: true },
      rowClass: (row) => row.k === best && "best",
    });
    runs.update(rows);
    const apart = comparable ? null : "The runs were scored on different devtest data. ";
    place.append(note("Each run at its chosen epoch: the best on devtest, or the last. ", apart), runs.element);
  }
  const warnings = data.runs.flatMap((run) =>
    run.epochs.flatMap((epoch, k) => epoch.warnings.map((text) => `${run.name}, epoch ${k + 1}: ${text}`)),
  );
  if (warnings.length) place.append(warningList(warnings, 12));
}

function runColumns(best) {
  const of = (pick) => (row) => (row.epoch ? pick(row.epoch) : null);
  const cell = (pick, format) => (row) => {
    const value = of(pick)(row);
    return value === null ? null : format(value);
  };
  const top = best === null ? null : bestEpoch(data.runs[best]).bleu;
  return [
    {
      key: "name",
      label: "Run",
      ascending: true,
      value: (row) => row.run.name.toLowerCase(),
      render: (row) => [who(row.k), row.run.finished ? null : h("span", { class: "tag unfinished" }, state(row.run))],
    },
    {
      key: "algorithm",
      label: "Algorithm",
      ascending: true,
      value: (row) => algorithm(row.run),
      render: (row) => h("span", { class: "nowrap" }, algorithm(row.run)),
    },
    {
      key: "bleu",
      label: "Devtest BLEU",
      right: true,
      value: of((epoch) => epoch.bleu),
      render: cell((epoch) => epoch.bleu, show.bleu),
    },
    comparable && {
      key: "behind",
      label: "To best",
      title: "Devtest BLEU minus that of the best run",
      right: true,
      value: of((epoch) => epoch.bleu),
      render: cell(
        (epoch) => epoch.bleu,
        (value) => (value === top ? "best" : show.signed(value - top)),
      ),
    },
    data.runs.some((run) => run.start !== null) && {
      key: "start",
      label: "Before",
      title: "Devtest BLEU of the weights that training started from",
      right: true,
      value: (row) => row.run.start,
      render: (row) => (row.run.start === null ? null : show.bleu(row.run.start)),
    },
    {
      key: "epoch",
      label: "Epoch",
      title: "The chosen epoch, or the best so far, of those planned",
      right: true,
      value: (row) => row.run.best,
      render: (row) => (row.run.best === null ? null : `${row.run.best} of ${row.run.planned}`),
    },
    {
      key: "features",
      label: "Features",
      right: true,
      value: of((epoch) => epoch.features),
      render: cell((epoch) => epoch.features, show.count),
    },
    {
      key: "error",
      label: "Pair error",
      right: true,
      value: of((epoch) => epoch.pair_error),
      render: cell((epoch) => epoch.pair_error, show.percent),
    },
    {
      key: "length",
      label: "Length",
      title: "Length of the devtest translations over that of the references",
      right: true,
      value: of((epoch) => epoch.length),
      render: cell(
        (epoch) => epoch.length,
        (value) => value.toFixed(3),
      ),
    },
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
    epoch.bleu === null ? tile("–", "no devtest") : tile(show.bleu(epoch.bleu), "devtest BLEU"),
    tile(`${run.best} of ${run.planned}`, run.chosen ? "chosen epoch" : "best epoch so far"),
    tile(show.count(epoch.features), "features with a weight"),
    tile(show.percent(epoch.pair_error), "pairs ranked wrongly"),
    tile(show.seconds(cpu), "CPU time"),
    tile(
      run.finished ? "finished" : `${run.epochs.length} of ${run.planned}`,
      run.finished ? `${algorithm(run)}, ${shardCount(run)}` : "epochs, unfinished",
    ),
  );
}
