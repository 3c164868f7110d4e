// The largest features of a run: sortable, searchable, each with its weight over the epochs and sentences to look at.
function drawFeatures() {
  const place = section("features");
  const shown = data.runs.map((run, k) => k).filter((k) => data.runs[k].features && data.runs[k].features.rows.length);
  if (!shown.length) return place.append(empty("No epoch is finished yet, so there are no weights."));
  const first = bestRun();
  const view = { run: shown.includes(first) ? first : shown[0], rank: "weight", kind: "", words: "" };
  const summary = h("p", { class: "kinds" });
  const status = h("p", { class: "sub", role: "status" });
  const holder = h("div", {});
  const ranks = h("div", {});
  place.append(
    note(
      "The largest features after the chosen epoch. Open one to see sentences in which its words occur; ",
      "numbers in boxes are gaps, ⟨ and ⟩ the ends of a rule.",
    ),
    h(
      "div",
      { class: "controls" },
      shown.length > 1
        ? choice(
            "Run",
            shown.map((k) => [k, data.runs[k].name]),
            view.run,
            (value) => {
              view.run = Number(value);
              rebuild();
            },
          )
        : null,
      ranks,
      choice(
        "Kind",
        [["", "all kinds"], ...new Set(shown.flatMap((k) => Object.keys(data.runs[k].features.kinds)))].map((one) =>
          Array.isArray(one) ? one : [one, one],
        ),
        "",
        (value) => {
          view.kind = value;
          refresh();
        },
      ),
      search("Search features", (words) => {
        view.words = words;
        refresh();
      }),
    ),
    summary,
    status,
    holder,
  );
  let list, largest;

  function rebuild() {
    const features = data.runs[view.run].features;
    if (!features.norm) view.rank = "weight";
    largest = Math.max(...features.rows.map((row) => Math.abs(row.weight)));
    ranks.replaceChildren(
      features.norm
        ? segments(
            "Largest by",
            [
              ["weight", "weight"],
              ["norm", "column norm"],
            ],
            view.rank,
            (value) => {
              view.rank = value;
              refresh(true);
            },
          )
        : "",
    );
    list = table({
      label: "Features",
      columns: featureColumns(features, largest, () => list),
      page: 25,
      detail: (row) => featureDetail(features, row),
    });
    holder.replaceChildren(list.element);
    summary.replaceChildren(
      ...[
        h("span", {}, h("b", {}, show.count(features.total)), ` features after epoch ${features.epoch}`),
        ...Object.entries(features.kinds).map(([kind, count]) =>
          h("span", {}, h("b", {}, show.count(count)), ` ${kind}`),
        ),
      ],
    );
    refresh(true);
  }

  function refresh(resort) {
    const { rows } = data.runs[view.run].features;
    const found = rows.filter(
      (row) => (!view.kind || row.kind === view.kind) && (!view.words || featureText(row).includes(view.words)),
    );
    status.textContent =
      found.length === rows.length
        ? `Showing the ${show.count(rows.length)} largest.`
        : `${show.count(found.length)} of the ${show.count(rows.length)} largest.`;
    list.update(found, resort ? { key: view.rank, descending: true } : null);
  }

  rebuild();
}

function featureText(row) {
  const words = (side) => (side || []).filter((symbol) => typeof symbol === "string").join(" ");
  return `${row.name} ${words(row.source)} ${words(row.target)}`.toLowerCase();
}

function featureColumns(features, largest, list) {
  return [
    {
      key: "name",
      label: "Feature",
      ascending: true,
      value: (row) => row.name,
      render: (row) => list().opener(row, featureName(row)),
    },
    {
      key: "kind",
      label: "Kind",
      ascending: true,
      wide: true,
      value: (row) => row.kind,
      render: (row) => h("span", { class: "tag" }, row.kind),
    },
    {
      key: "weight",
      label: "Weight",
      right: true,
      value: (row) => Math.abs(row.weight),
      render: (row) => h("div", { class: "weight" }, weightBar(row.weight, largest), show.number(row.weight)),
    },
    features.norm && {
      key: "norm",
      label: `${{ l2: "ℓ2", l1: "ℓ1", linf: "ℓ∞", l0: "ℓ0" }[features.norm] || features.norm} norm`,
      right: true,
      value: (row) => row.norm,
      render: (row) => show.number(row.norm),
    },
    features.rows[0].history.length > 1 && {
      key: "history",
      label: "Over epochs",
      plain: true,
      wide: true,
      value: () => null,
      render: (row) => sparkline(row.history),
    },
  ].filter(Boolean);
}

function symbols(side) {
  return side.flatMap((symbol, k) => {
    const node =
      typeof symbol === "number"
        ? h("span", { class: "gap" }, String(symbol))
        : symbol === "<r>"
          ? h("span", { class: "dim" }, "⟨")
          : symbol === "</r>"
            ? h("span", { class: "dim" }, "⟩")
            : symbol;
    return k ? [" ", node] : [node];
  });
}

// As people read it, and below that as it stands in a weights file.
function featureName(row) {
  const raw = h("span", { class: "raw mono" }, row.name);
  if (!row.source && !row.target) return raw;
  const arrow = row.source && row.target ? h("span", { class: "to" }, "→") : null;
  return [h("span", { class: "read" }, symbols(row.source || []), arrow, symbols(row.target || [])), raw];
}

function weightBar(weight, largest) {
  const long = (Math.abs(weight) / (largest || 1)) * 39;
  return s(
    "svg",
    { viewBox: "0 0 80 12", "aria-hidden": "true", class: "wide" },
    s("rect", {
      x: weight < 0 ? 40 - long : 40,
      y: 1.5,
      width: Math.max(long, 0.5),
      height: 9,
      rx: 1.5,
      style: { fill: weight < 0 ? "var(--negative)" : "var(--positive)" },
    }),
    s("line", { x1: 40, x2: 40, y1: 0, y2: 12, class: "axis", style: { stroke: "var(--line-strong)" } }),
  );
}

function sparkline(values) {
  const low = Math.min(0, ...values),
    high = Math.max(0, ...values);
  const x = (k) => 3 + (k / Math.max(values.length - 1, 1)) * 78;
  const y = (value) => 19 - ((value - low) / (high - low || 1)) * 16;
  const last = values.length - 1;
  return s(
    "svg",
    {
      class: "spark",
      viewBox: "0 0 84 22",
      role: "img",
      "aria-label": `weight after each epoch: ${values.map(show.number).join(", ")}`,
    },
    s("title", {}, values.map((value, k) => `epoch ${k + 1}: ${show.number(value)}`).join("\n")),
    s("line", { x1: 3, x2: 81, y1: y(0), y2: y(0), style: { stroke: "var(--line-strong)" }, "stroke-width": 1 }),
    s("path", {
      d: values.map((value, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(value).toFixed(1)}`).join(""),
      fill: "none",
      "stroke-width": 1.6,
      style: { stroke: "var(--accent)" },
    }),
    s("circle", { cx: x(last), cy: y(values[last]), r: 2.4, style: { fill: "var(--accent)" } }),
  );
}

function featureDetail(features, row) {
  const elsewhere = data.runs
    .map((run, k) => [k, run.features && run.features.rows.find((one) => one.name === row.name)])
    .filter((one) => one[1]);
  return h(
    "div",
    {},
    h("div", { class: "sub" }, row.kind),
    elsewhere.length > 1
      ? h(
          "p",
          { class: "sub" },
          "weight: ",
          elsewhere.map(([k, one], at) => [at ? ", " : "", `${data.runs[k].name} ${show.number(one.weight)}`]),
        )
      : null,
    row.examples.length
      ? h(
          "ul",
          { class: "examples" },
          row.examples.map(([number, source, target]) => {
            const [origin, id, left, right] = features.sentences[number];
            return h(
              "li",
              {},
              h("span", { class: "dim small" }, `${origin} ${id}`),
              h("span", {}, highlight(left, source)),
              h("span", {}, highlight(right, target)),
            );
          }),
        )
      : h(
          "p",
          { class: "sub" },
          row.kind === "dense" || row.kind === "shape"
            ? "No words belong to this feature."
            : "Its words do not occur together in the sentences of this page.",
        ),
  );
}

// Places are counted in characters as people see them, not in UTF-16 units.
function highlight(text, spans) {
  const letters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [begin, end] of spans) {
    parts.push(letters.slice(at, begin).join(""), h("mark", {}, letters.slice(begin, end).join("")));
    at = end;
  }
  return [...parts, letters.slice(at).join("")];
}
