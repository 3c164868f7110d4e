// The experiment's table as in the papers, where the runs are cells of one; otherwise the section goes.
function drawExperiment() {
  const place = section("experiment");
  const experiment = data.experiment;
  if (!experiment) return removeSection("experiment");
  const words = experiment.columns.map((column, k) => k).filter((k) => experiment.columns[k].left);
  const cells = table({
    label: "Results of the experiment",
    sort: { key: "" },
    columns: experiment.columns.map((column, k) => ({
      key: String(k),
      label: column.label,
      group: column.test || undefined,
      right: k > 0 && !column.left,
      wide: column.left,
      ascending: k === 0 || column.left,
      value: (row) => row.entries[k].value,
      render: k === 0 ? (row) => experimentCell(row, words) : entryColumn(experiment.rows, k),
    })),
  });
  cells.element.classList.add("experiment");
  cells.update(experiment.rows);
  const legend = experiment.legend.map((text) => note(text));
  place.append(cells.element, h("div", { class: "below" }, legend));
}

// The algorithm's number with the mark of the cell's run. Where the screen has no room for the columns of words, they
// stand here, so that a row can be told from others however far the table is moved.
function experimentCell(row, words) {
  const run = data.runs.findIndex((one) => one.name === row.name);
  return h(
    "div",
    { class: "cell", title: row.name },
    h("span", { class: "who nowrap" }, run < 0 ? h("span", { class: "key" }) : key(run), row.entries[0].text),
    h("span", { class: "narrow dim" }, words.map((k) => row.entries[k].text).filter(Boolean).join(" · ")),
  );
}

// Notes and marks have the same width in all rows, so that numbers stand below each other.
function entryColumn(rows, k) {
  const after = (entry) => [entry.dagger ? "†" : "", (entry.raised || []).join(""), entry.note || ""];
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
          raised && h("sup", { title: `differs from algorithm ${entry.raised.join(", ")}` }, raised),
          remark && h("span", { class: "dim" }, remark),
        ),
    ];
  };
}
