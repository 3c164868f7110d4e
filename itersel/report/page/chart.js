// Charts in SVG, drawn at the width they have, so that letters keep their size on a phone; drawn again when it changes.
const tip = document.getElementById("tip");
const live = document.getElementById("live");
const drawn = new Map();
const watcher = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const one = drawn.get(entry.target);
    const width = Math.round(entry.contentRect.width);
    if (one && width > 0 && width !== one.width) {
      one.width = width;
      one.draw(width);
    }
  }
});

// A place that `draw(width)` fills with an SVG element. `redraw` is for changed data.
function chart(name, draw) {
  const place = h("div", { class: "chart", "data-chart": name });
  const one = { width: 0, draw: (width) => place.replaceChildren(draw(width)) };
  drawn.set(place, one);
  watcher.observe(place);
  place.redraw = () => {
    if (one.width) one.draw(one.width);
  };
  return place;
}

// Round steps of 1, 2, 2.5 or 5 times a power of ten. The first and the last tick lie within the range.
function ticks(low, high, count, whole = false) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((k) => k >= raw * 0.999);
  if (whole) step = Math.max(1, Math.ceil(step));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++)
    found.push(+(k * step).toPrecision(12));
  return found;
}

function powers(low, high) {
  const found = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++) found.push(10 ** k);
  return found;
}

// A scale from data to pixels with its ticks: linear with some air, or logarithmic where sizes differ much.
function scale(values, from, to, { log = false, zero = false, whole = false, count = 5 } = {}) {
  let low = Math.min(...values),
    high = Math.max(...values);
  if (zero) low = Math.min(0, low);
  if (log) {
    const marks = powers(low, high);
    const [a, b] = [Math.log10(marks[0]), Math.log10(marks[marks.length - 1])];
    const at = (value) => from + ((Math.log10(value) - a) / (b - a || 1)) * (to - from);
    return { at, ticks: marks };
  }
  if (low === high) {
    const air = Math.abs(low) * 0.1 || 1;
    low -= zero && low === 0 ? 0 : air;
    high += air;
  }
  const marks = ticks(low, high, count, whole);
  const step = marks.length > 1 ? marks[1] - marks[0] : high - low;
  const first = Math.floor(low / step + 1e-9) * step,
    last = Math.ceil(high / step - 1e-9) * step;
  const at = (value) => from + ((value - first) / (last - first || 1)) * (to - from);
  return { at, ticks: ticks(first, last, count, whole) };
}

// Axes: horizontal rules with labels at the left, epochs below.
function frame(box, y, first, last, x, format) {
  const parts = y.ticks.map((value) => [
    s("line", { class: "rule", x1: box.left, x2: box.right, y1: y.at(value), y2: y.at(value) }),
    s("text", { x: box.left - 8, y: y.at(value) + 4, "text-anchor": "end" }, format(value)),
  ]);
  const shown =
    first === last ? [first] : ticks(first, last, Math.min(last - first, (box.right - box.left) / 42), true);
  if (shown[0] !== first) shown.unshift(first);
  parts.push(s("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  for (const epoch of shown)
    parts.push(s("text", { x: x(epoch), y: box.bottom + 18, "text-anchor": "middle" }, String(epoch)));
  parts.push(s("text", { x: box.left - 8, y: box.bottom + 18, "text-anchor": "end" }, "epoch"));
  return parts;
}

// Hovering, touching or the arrow keys choose an epoch: `show(k)` marks it and answers with the read-out.
function readable(svg, box, x, first, last, label, showAt, hide) {
  let at = null;
  const text = (node) => node.innerText || node.textContent;
  function move(epoch, clientX, clientY, spoken) {
    if (epoch !== at) {
      at = epoch;
      const readout = showAt(epoch);
      tip.replaceChildren(readout);
      tip.hidden = false;
      if (spoken) live.textContent = text(readout);
    }
    placeTip(clientX, clientY);
  }
  function leave() {
    at = null;
    tip.hidden = true;
    hide();
  }
  const nearest = (event) => {
    const bounds = svg.getBoundingClientRect();
    const px = ((event.clientX - bounds.left) / bounds.width) * svg.viewBox.baseVal.width;
    let found = first;
    for (let epoch = first + 1; epoch <= last; epoch++)
      if (Math.abs(x(epoch) - px) < Math.abs(x(found) - px)) found = epoch;
    return found;
  };
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.addEventListener("pointermove", (event) => move(nearest(event), event.clientX, event.clientY));
  svg.addEventListener("pointerdown", (event) => move(nearest(event), event.clientX, event.clientY));
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") leave();
    if (step === undefined) return;
    event.preventDefault();
    const from = at === null ? ({ ArrowRight: first - 1, ArrowLeft: last + 1 }[event.key] ?? first) : at;
    const epoch = Math.max(first, Math.min(last, from + step));
    const bounds = svg.getBoundingClientRect();
    const ratio = bounds.width / svg.viewBox.baseVal.width;
    move(epoch, bounds.left + x(epoch) * ratio, bounds.top + box.top * ratio, true);
  });
}

function placeTip(x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const left = x + 16 + width > room - 8 ? x - 16 - width : x + 16;
  tip.style.left = `${Math.max(8, Math.min(left, room - width - 8))}px`;
  tip.style.top = `${Math.max(8, y - height - 12)}px`;
}

function readout(title, rows) {
  return h(
    "div",
    {},
    h("strong", {}, title),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        rows.map((cells) =>
          h(
            "tr",
            {},
            cells.map((cell) => h("td", {}, cell)),
          ),
        ),
      ),
    ),
  );
}

// Push labels apart until none overlaps, keeping their order and staying within the limits.
function spreadLabels(labels, gap, top, bottom) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, k) => {
    label.at = Math.max(label.y, k ? labels[k - 1].at + gap : top);
  });
  for (let k = labels.length - 1; k >= 0; k--) {
    labels[k].at = Math.min(labels[k].at, k === labels.length - 1 ? bottom : labels[k + 1].at - gap);
  }
  return labels;
}

const clip = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
