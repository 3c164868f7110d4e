// Every key of the configurations; with several runs, first those in which they differ.
function drawConfiguration() {
  const place = section("configuration");
  const several = data.runs.length > 1;
  const differing = data.configuration.filter((row) => !row.same).length;
  const view = { words: "", differing: several && differing > 0 };
  const columns = [
    {
      key: "key",
      label: "Key",
      ascending: true,
      value: (row) => row.key,
      render: (row) => h("span", { class: "mono" }, row.key),
    },
    ...data.runs.map((run, k) => ({
      key: `run-${k}`,
      label: several ? run.name : "Value",
      ascending: true,
      value: (row) => row.values[k],
      render: (row) =>
        h("div", { class: "values" }, row.values[k] === "" ? h("span", { class: "dim" }, "–") : row.values[k]),
    })),
  ];
  const list = table({
    label: "Configuration",
    columns,
    sort: { key: "" },
    page: 60,
    rowClass: (row) => several && !row.same && "differs",
  });
  const refresh = () =>
    list.update(
      data.configuration.filter(
        (row) =>
          (!view.differing || !row.same) &&
          (!view.words || `${row.key} ${row.values.join(" ")}`.toLowerCase().includes(view.words)),
      ),
    );
  place.append(
    note(
      several
        ? `The runs differ in ${differing} of ${data.configuration.length} entries.`
        : "Everything the run was started with.",
    ),
    h(
      "div",
      { class: "controls" },
      search("Search keys and values", (words) => {
        view.words = words;
        refresh();
      }),
      several
        ? checkbox("only differences", view.differing, (value) => {
            view.differing = value;
            refresh();
          })
        : null,
    ),
    list.element,
  );
  refresh();
}
