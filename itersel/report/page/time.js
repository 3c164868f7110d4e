// Processor time by stage: a stacked bar for each run, and the same as a table.
const stageName = (stage) => stage.replaceAll("_", " ");
const perSentence = (seconds, row) => `${+((1000 * seconds) / row.sentences).toPrecision(3)} ms`;

function drawTime() {
  const place = section("time");
  const rows = data.runs
    .map((run, k) => {
      const stages = {};
      for (const epoch of run.epochs)
        for (const [stage, seconds] of Object.entries(epoch.seconds)) stages[stage] = (stages[stage] || 0) + seconds;
      return {
        k,
        run,
        stages,
        total: sum(Object.values(stages)),
        sentences: sum(run.epochs.map((epoch) => epoch.sentences)),
      };
    })
    .filter((row) => row.total > 0);
  if (!rows.length) return place.append(empty("No epoch is finished yet, so no time is known."));
  const stages = [...new Set(rows.flatMap((row) => Object.keys(row.stages)))];
  const counted = rows.every((row) => row.sentences > 0);
  let unit = "seconds";
  const bars = chart("time", (width) => timeBars(rows, stages, unit, width));
  place.append(
    note("Processor time of the shards, all epochs together; the steps between epochs and devtest are not in it."),
    h(
      "div",
      { class: "controls" },
      segments(
        "Bars",
        [
          ["seconds", "in total"],
          counted && ["sentence", "per sentence"],
          ["share", "share"],
        ].filter(Boolean),
        unit,
        (value) => {
          unit = value;
          bars.redraw();
        },
      ),
    ),
    h(
      "div",
      { class: "card" },
      h(
        "div",
        { class: "stages" },
        stages.map((stage, k) =>
          h("span", {}, h("i", { class: "swatch", style: { background: stageColor(k) } }), stageName(stage)),
        ),
      ),
      bars,
    ),
  );
  const columns = [
    {
      key: "name",
      label: "Run",
      ascending: true,
      value: (row) => row.run.name.toLowerCase(),
      render: (row) => who(row.k),
    },
    ...stages.map((stage) => ({
      key: stage,
      label: stageName(stage),
      right: true,
      value: (row) => row.stages[stage] ?? null,
      render: (row) =>
        stage in row.stages
          ? [
              show.seconds(row.stages[stage]),
              " ",
              h("span", { class: "dim small" }, show.percent(row.stages[stage] / row.total)),
            ]
          : null,
    })),
    { key: "total", label: "in total", right: true, value: (row) => row.total, render: (row) => show.seconds(row.total) },
    counted && {
      key: "each",
      label: "per sentence",
      right: true,
      value: (row) => row.total / row.sentences,
      render: (row) => perSentence(row.total, row),
    },
  ].filter(Boolean);
  const list = table({ label: "Time by stage", columns, sort: { key: "total", descending: true } });
  list.update(rows);
  list.element.style.marginTop = "16px";
  place.append(list.element);
}

const stageColor = (stage) => `var(--stage-${stage % 6})`;

function timeBars(rows, stages, unit, width) {
  const size = (row) => ({ seconds: row.total, sentence: row.total / row.sentences, share: 1 })[unit];
  const format = (row) =>
    ({
      seconds: show.seconds(row.total),
      sentence: perSentence(row.total, row),
      share: "",
    })[unit];
  const longest = Math.max(...rows.map(size));
  const pitch = 50,
    room = width - 78;
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${rows.length * pitch}`,
    width,
    height: rows.length * pitch,
    role: "img",
    "aria-label":
      "Processor time by stage. " + rows.map((row) => `${row.run.name}: ${show.seconds(row.total)}`).join("; "),
  });
  rows.forEach((row, at) => {
    const top = at * pitch;
    const full = (size(row) / longest) * room;
    svg.append(s("text", { class: "name", x: 0, y: top + 14 }, clip(row.run.name, Math.floor(width / 8))));
    let left = 0;
    stages.forEach((stage, k) => {
      const part = (row.stages[stage] || 0) / row.total;
      const long = part * full;
      if (long <= 0) return;
      const text = stageName(stage);
      svg.append(
        s("rect", {
          class: "bar-part",
          x: left,
          y: top + 20,
          width: Math.max(long - (long > 3 ? 1 : 0), 0.5),
          height: 20,
          rx: long > 6 ? 2 : 0,
          style: { fill: stageColor(k) },
          onpointermove: (event) => {
            tip.replaceChildren(
              readout(
                `${row.run.name}: ${text}`,
                [
                  ["time", show.seconds(row.stages[stage])],
                  ["share", show.percent(part)],
                  row.sentences > 0 && ["per sentence", perSentence(row.stages[stage], row)],
                ].filter(Boolean),
              ),
            );
            tip.hidden = false;
            placeTip(event.clientX, event.clientY);
          },
          onpointerleave: () => {
            tip.hidden = true;
          },
        }),
      );
      if (long > 8 * text.length + 40)
        svg.append(s("text", { class: "inside", x: left + 8, y: top + 34 }, `${text} ${Math.round(100 * part)} %`));
      left += long;
    });
    svg.append(s("text", { x: full + 8, y: top + 34 }, format(row)));
  });
  return svg;
}
