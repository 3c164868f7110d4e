// Two systems side by side, sentence by sentence, with the words marked in which they differ.
function drawTranslations() {
  const place = section("translations");
  if (!data.sets.length) return place.append(empty("The runs have no devtest translations."));
  let number = 0;
  const holder = h("div", {});
  const describe = (one) =>
    `${show.count(one.total)} sentences (${Object.keys(one.outputs)
      .map((k) => data.runs[k].name)
      .join(", ")})`;
  if (data.sets.length > 1) {
    place.append(
      h(
        "div",
        { class: "controls" },
        choice(
          "Devtest set",
          data.sets.map((one, k) => [k, describe(one)]),
          0,
          (value) => {
            number = Number(value);
            draw();
          },
        ),
      ),
    );
  }
  place.append(holder);
  const draw = () => holder.replaceChildren(compareSystems(data.sets[number]));
  draw();
}

// A system is a run after an epoch, named `run:epoch`; epoch 0 is the start weights.
function systemsOf(set) {
  return Object.keys(set.outputs)
    .map(Number)
    .flatMap((k) =>
      data.runs[k].translated.map((epoch) => ({
        value: `${k}:${epoch}`,
        label: `${data.runs[k].name}, ${epochName(epoch)}${epoch === data.runs[k].best ? " ★" : ""}`,
      })),
    );
}

// The best run against the first of the others; of a single run, its chosen epoch against the first.
function defaultPair(set) {
  const runs = Object.keys(set.outputs).map(Number);
  // A run whose chosen epoch was not translated is shown at its last one that was.
  const epoch = ({ best, translated }) => (translated.includes(best) ? best : translated[translated.length - 1]);
  const name = (k) => `${k}:${epoch(data.runs[k])}`;
  const best = runs.reduce((a, b) => (outranks(data.runs[b], data.runs[a]) ? b : a));
  if (runs.length > 1) return [name(runs.find((k) => k !== best)), name(best)];
  const run = data.runs[runs[0]];
  const first = run.translated[0];
  const last = run.translated[run.translated.length - 1];
  return [`${runs[0]}:${epoch(run) === first ? last : first}`, name(runs[0])];
}

function compareSystems(set) {
  const systems = systemsOf(set);
  const references = set.sources.some((source) => source[3].length);
  const [a, b] = defaultPair(set);
  const view = { a, b, marks: "each", order: "size", differing: a !== b, words: "", limit: 12 };
  const verdict = h("p", { class: "verdict", role: "status" });
  const list = h("div", { class: "card" });
  const more = h("button", {
    type: "button",
    class: "more",
    onclick: () => {
      view.limit += 12;
      refresh();
    },
  });
  const change = (field) => (value) => {
    view[field] = value;
    view.limit = 12;
    refresh();
  };
  const options = systems.map((system) => [system.value, system.label]);

  function output(name, at) {
    const [run, epoch] = name.split(":");
    const [texts, scores, epochs] = set.outputs[run][at];
    const which = epochs[data.runs[run].translated.indexOf(Number(epoch))];
    return { text: texts[which], score: scores.length ? scores[which] : null };
  }

  function refresh() {
    const pairs = set.sources.map((source, at) => ({ source, at, a: output(view.a, at), b: output(view.b, at) }));
    const gain = (one) => (one.a.score === null ? 0 : one.b.score - one.a.score);
    const text = (one) =>
      [one.source[0], one.source[1], one.source[2] || "", ...one.source[3], one.a.text, one.b.text]
        .join("\n")
        .toLowerCase();
    const found = pairs.filter(
      (one) => (!view.differing || one.a.text !== one.b.text) && (!view.words || text(one).includes(view.words)),
    );
    // By score; where there is none, by the number of words that are not in both.
    const size = (one) => (one.a.score === null ? differingWords(one.a.text, one.b.text) : Math.abs(gain(one)));
    if (view.order === "size") {
      const sizes = new Map(found.map((one) => [one, size(one)]));
      found.sort((x, y) => sizes.get(y) - sizes.get(x) || x.at - y.at);
    }
    if (view.order === "gain") found.sort((x, y) => gain(y) - gain(x) || x.at - y.at);
    if (view.order === "loss") found.sort((x, y) => gain(x) - gain(y) || x.at - y.at);
    const better = pairs.filter((one) => gain(one) > 0).length,
      worse = pairs.filter((one) => gain(one) < 0).length;
    const equal = pairs.filter((one) => one.a.text === one.b.text).length;
    verdict.replaceChildren(
      ...(references
        ? [
            "By sentence BLEU+1, B is better in ",
            h("b", {}, String(better)),
            ", A in ",
            h("b", {}, String(worse)),
            "; ",
          ]
        : []),
      h("b", {}, String(equal)),
      ` of ${pairs.length} translations are the same.`,
      set.total > pairs.length
        ? ` ${show.count(pairs.length)} of ${show.count(set.total)} sentences are here, taken evenly.`
        : "",
      found.length === pairs.length ? "" : ` Showing ${found.length}.`,
    );
    list.replaceChildren(
      ...(found.length
        ? found.slice(0, view.limit).map((one) => sentence(one, view, gain))
        : [
            h(
              "p",
              { class: "dim" },
              view.words ? "No sentence has these words." : "The two systems translate every sentence in the same way.",
            ),
          ]),
    );
    more.hidden = found.length <= view.limit;
    more.textContent = `Show 12 more of ${found.length}`;
  }

  const body = h(
    "div",
    {},
    set.note ? note(`Sources and references are missing: ${set.note}.`) : null,
    h(
      "div",
      { class: "controls" },
      choice("A", options, view.a, change("a")),
      choice("B", options, view.b, change("b")),
      references
        ? segments(
            "Mark",
            [
              ["each", "A against B"],
              ["reference", "against the reference"],
            ],
            view.marks,
            change("marks"),
          )
        : null,
      choice(
        "Order",
        [
          ["size", "largest differences first"],
          ...(references
            ? [
                ["gain", "B gains most first"],
                ["loss", "B loses most first"],
              ]
            : []),
          ["given", "as in the data"],
        ],
        view.order,
        change("order"),
      ),
      search("Search sentences", change("words")),
      checkbox("only differing ones", view.differing, change("differing")),
    ),
    verdict,
    list,
    more,
  );
  refresh();
  return body;
}

function sentence({ source, a, b }, view, gain) {
  const [id, task, text, references] = source;
  const words = wordsOf;
  const against = view.marks === "reference" && references.length;
  const [left, right] = against
    ? [nearest(words(a.text), references.map(words)), nearest(words(b.text), references.map(words))]
    : difference(words(a.text), words(b.text));
  const change = a.score === null || b.score === null ? null : gain({ a, b });
  const side = (name, output, marks) =>
    h(
      "div",
      { class: `side ${name}` },
      h(
        "div",
        { class: "head" },
        h("span", { class: "who" }, `${name.toUpperCase()} ·`, key(runOf(view[name])), systemName(view[name])),
        output.score === null ? null : h("span", { title: "sentence BLEU+1" }, output.score.toFixed(1)),
      ),
      output.text ? marked(words(output.text), marks, name) : h("span", { class: "dim" }, "(empty)"),
    );
  return h(
    "article",
    { class: "sentence" },
    h(
      "div",
      { class: "head" },
      h("span", {}, `#${id}`),
      task ? h("span", { class: "tag" }, task) : null,
      change ? h("span", {}, `B ${show.signed(change, 1)}`) : null,
    ),
    text === null
      ? null
      : h(
          "dl",
          {},
          h("dt", {}, "source"),
          h("dd", {}, text),
          references.flatMap((reference) => [h("dt", {}, "reference"), h("dd", {}, reference)]),
        ),
    h("div", { class: "sides" }, side("a", a, left), side("b", b, right)),
  );
}

const epochName = (epoch) => (epoch === 0 ? "before training" : `epoch ${epoch}`);
const runOf = (value) => Number(value.split(":")[0]);
const systemName = (value) => {
  const [k, epoch] = value.split(":").map(Number);
  return `${data.runs[k].name}, ${epochName(epoch)}`;
};

function marked(words, marks, name) {
  const parts = [];
  let k = 0;
  while (k < words.length) {
    let end = k + 1;
    while (end < words.length && marks[end] === marks[k]) end++;
    const text = words.slice(k, end).join(" ");
    if (k) parts.push(" ");
    parts.push(marks[k] ? h("mark", { class: name }, text) : text);
    k = end;
  }
  return h("div", {}, parts);
}

const wordsOf = (line) => line.split(" ").filter(Boolean);

function differingWords(left, right) {
  if (left === right) return 0;
  return sum(difference(wordsOf(left), wordsOf(right)).map((marks) => marks.filter(Boolean).length));
}

// For both lists of words, which of them are not in a longest common subsequence.
function difference(left, right) {
  const width = right.length + 1;
  const best = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      best[i * width + j] =
        left[i] === right[j]
          ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const marks = [left.map(() => true), right.map(() => true)];
  let i = 0,
    j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      marks[0][i++] = false;
      marks[1][j++] = false;
    } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return marks;
}

// The marks against the reference that leaves the fewest.
function nearest(words, references) {
  const count = (marks) => marks.filter(Boolean).length;
  return references
    .map((reference) => difference(words, reference)[0])
    .reduce((best, one) => (count(one) < count(best) ? one : best));
}
