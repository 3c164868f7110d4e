// Data, elements, numbers. Text from data only ever becomes text: nothing in these scripts parses HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

// h("p", {class: "note", onclick: f}, "text", node, [nodes], null): an element.
function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(element.style, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const section = (id) => document.getElementById(id);
// A section without data goes, and its link with it.
function removeSection(id) {
  document.querySelector(`#links a[href='#${id}']`).remove();
  section(id).remove();
}
const empty = (text) => h("p", { class: "empty" }, text);
const note = (...children) => h("p", { class: "note" }, ...children);

const bestEpoch = (run) => (run.best === null ? null : run.epochs[run.best - 1]);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const cpuSeconds = (run) => sum(run.epochs.map((epoch) => sum(Object.values(epoch.seconds))));
const setOf = (run) => data.sets.findIndex((one) => String(run) in one.outputs);

// Numbers for people, always in English notation so that a page reads the same everywhere.
const grouped = (value, digits = 0) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const show = {
  count: (value) => grouped(value),
  short: (value) => {
    const size = Math.abs(value);
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)} k`;
    return grouped(value, Number.isInteger(value) ? 0 : 1);
  },
  score: (value) => value.toFixed(2),
  percent: (value) => `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`,
  number: (value) => {
    const size = Math.abs(value);
    if (value === 0) return "0";
    if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replaceAll("-", "−");
    return String(+value.toPrecision(4)).replace("-", "−");
  },
  signed: (value, digits = 2) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits),
  seconds: (value) => {
    if (value >= 3600) return `${grouped(value / 3600, 1)} h`;
    if (value >= 90) return `${grouped(value / 60, 1)} min`;
    return value >= 1 ? `${+value.toPrecision(3)} s` : `${+(1000 * value).toPrecision(3)} ms`;
  },
};

// How a figure is written and how its axis is labelled, by the form that the algorithm declares. Counts begin at 0.
const FORMS = {
  count: { text: show.count, tick: show.short, zero: true },
  percent: { text: show.percent, tick: (value) => `${+(100 * value).toPrecision(3)} %` },
  score: { text: show.score, tick: show.short },
  metric: { text: (value) => value.toFixed(4), tick: (value) => String(+value.toPrecision(3)) },
  ratio: { text: (value) => value.toFixed(3), tick: (value) => String(+value.toPrecision(3)) },
  number: { text: show.number, tick: show.number },
  seconds: { text: show.seconds, tick: (value) => `${+value.toPrecision(3)} s` },
};

const figures = new Map(data.figures.map((one) => [one.name, { ...one, ...FORMS[one.form] }]));
const shownIn = (place) => [...figures.values()].filter((figure) => figure.shown.includes(place));
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// The value of a figure at an epoch, or before training; null if there is none.
const valueOf = (values, figure) => values[figure.name] ?? null;

const color = (run) => `var(--run-${run % 8})`;
const dashes = (run) => (run < 8 ? null : run < 16 ? "6 3" : "2 3");
// Runs differ by the shape of their marks as well, for those who do not see the colours.
const SHAPES = [
  (r) => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`,
  (r) => `M${-r * 0.9} ${-r * 0.9}H${r * 0.9}V${r * 0.9}H${-r * 0.9}Z`,
  (r) => `M0 ${-r * 1.15}L${r * 1.1} ${r * 0.8}H${-r * 1.1}Z`,
  (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0Z`,
  (r) => `M0 ${r * 1.15}L${r * 1.1} ${-r * 0.8}H${-r * 1.1}Z`,
];

function mark(run, x, y, size, properties) {
  const path = SHAPES[run % SHAPES.length](size);
  return s("path", { d: path, transform: `translate(${x} ${y})`, style: { fill: color(run) }, ...properties });
}

const key = (run) => s("svg", { class: "key", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark(run, 0, 0, 5));
// A ring where others have the mark of a run: a system that is none of the runs.
const noKey = () =>
  s(
    "svg",
    { class: "key", viewBox: "-7 -7 14 14", "aria-hidden": "true" },
    s("circle", { r: 4.2, fill: "none", "stroke-width": 1.6, style: { stroke: "var(--muted)" } }),
  );
const who = (run) => {
  const { name } = data.runs[run];
  return h("span", { class: name.length > 20 ? "who" : "who nowrap" }, key(run), name);
};

// Controls.
function segments(label, options, chosen, change) {
  const buttons = options.map(([value, text]) =>
    h(
      "button",
      { type: "button", "data-value": value, "aria-pressed": String(value === chosen), onclick: () => pick(value) },
      text,
    ),
  );
  function pick(value) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    change(value);
  }
  return h("fieldset", {}, h("legend", {}, label), h("div", { class: "segments" }, buttons));
}

function choice(label, options, chosen, change) {
  const select = h(
    "select",
    { onchange: () => change(select.value) },
    options.map(([value, text]) => h("option", { value, selected: String(value) === String(chosen) }, text)),
  );
  return h("label", {}, h("span", { class: "dim" }, label), select);
}

function search(label, change) {
  const input = h("input", {
    type: "search",
    class: "search",
    placeholder: label,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => change(input.value.trim().toLowerCase()),
  });
  return input;
}

function checkbox(label, checked, change) {
  const input = h("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
  return h("label", { class: "check" }, input, label);
}
