// A sortable table. Columns: {key, label, title, value(row), render(row), right, wide, prose, ascending, plain, group};
// rows are sorted by `value`, and those without one come last either way. Columns of the same group stand below its
// name. `detail(row)` is what an opened row shows. Only `page` rows are built at first.
function table({ caption, label, columns, sort, page = Infinity, detail, rowClass, heading = 0 }) {
  let rows = [],
    order = { ...sort },
    limit = page;
  const groups = columns.some((column) => column.group);
  const top = h("tr", {});
  const head = groups ? h("tr", {}) : top;
  const body = h("tbody", {});
  const more = h("button", {
    type: "button",
    class: "more",
    onclick: () => {
      limit += page;
      draw();
    },
  });
  const cells = columns.map((column) => {
    const cell = h(
      "th",
      {
        scope: "col",
        class: classes(column),
        title: column.title,
        rowspan: groups && !column.group ? 2 : null,
      },
      column.plain ? column.label : h("button", { type: "button", onclick: () => sortBy(column) }, column.label),
    );
    if (column.group && opens(column)) {
      const colspan = columns.filter((one) => one.group === column.group).length;
      top.append(h("th", { scope: "colgroup", colspan, class: "group opens" }, column.group));
    }
    (column.group ? head : top).append(cell);
    return cell;
  });
  const scroll = h(
    "div",
    { class: columns.length > 11 ? "scroll dense" : "scroll", tabindex: "0", role: "region", "aria-label": label || caption },
    h("table", {}, caption ? h("caption", {}, caption) : null, h("thead", {}, top, groups ? head : null), body),
  );

  function classes(column) {
    const { right, wide, prose, plain } = column;
    const names = { right, wide, prose, plain, opens: opens(column) };
    const given = Object.keys(names).filter((name) => names[name]);
    return given.join(" ") || null;
  }

  // Whether a group begins here, or the columns after one.
  function opens(column) {
    const before = columns[columns.indexOf(column) - 1];
    return before !== undefined && before.group !== column.group;
  }

  function sortBy(column) {
    if (order.key === column.key) order.descending = !order.descending;
    else order = { key: column.key, descending: !column.ascending };
    draw();
  }

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    const sign = order.descending ? -1 : 1;
    if (typeof a === "number") return sign * (a - b);
    return sign * (a < b ? -1 : 1);
  }

  function draw() {
    columns.forEach((column, k) => {
      if (column.plain) return;
      const state = column.key === order.key ? (order.descending ? "descending" : "ascending") : "none";
      cells[k].setAttribute("aria-sort", state);
    });
    const by = columns.find((column) => column.key === order.key);
    const sorted = by
      ? rows
          .map((row, k) => [by.value(row), k, row])
          .sort((a, b) => compare(a[0], b[0]) || a[1] - b[1])
          .map((one) => one[2])
      : rows;
    body.replaceChildren(...sorted.slice(0, limit).map(build));
    more.hidden = sorted.length <= limit;
    more.textContent = `Show ${Math.min(page, sorted.length - limit)} more of ${show.count(sorted.length)}`;
  }

  function build(row) {
    const line = h("tr", { class: ["row", rowClass && rowClass(row)].filter(Boolean).join(" ") });
    columns.forEach((column, k) => {
      const content = column.render ? column.render(row, line) : column.value(row);
      const cell =
        k === heading
          ? h("th", { scope: "row", class: classes(column) }, content)
          : h("td", { class: classes(column) }, content === null ? "–" : content);
      line.append(cell);
    });
    return line;
  }

  // A button that opens a line of details below its row.
  function opener(row, content) {
    const button = h(
      "button",
      {
        type: "button",
        class: "feature",
        "aria-expanded": "false",
        onclick: () => {
          const line = button.closest("tr");
          const open = button.getAttribute("aria-expanded") === "true";
          button.setAttribute("aria-expanded", String(!open));
          if (open) line.nextElementSibling.remove();
          else line.after(h("tr", { class: "detail" }, h("td", { colspan: columns.length }, detail(row))));
        },
      },
      content,
    );
    return button;
  }

  return {
    element: h("div", {}, scrollHint(scroll), more),
    opener,
    update(given, given_sort) {
      rows = given;
      limit = page;
      if (given_sort) order = { ...given_sort };
      draw();
    },
  };
}

// What is wider than its place says so: a shade at the edge where there is more, and a line below it.
const scrollers = new Map();
const scrollWatcher = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const update = scrollers.get(entry.target);
    if (update) update();
  }
});

function scrollHint(scroll) {
  const hint = h("p", { class: "hint", "aria-hidden": "true" });
  const frame = h("div", { class: "scroller" }, h("div", { class: "edges" }, scroll), hint);
  const update = () => {
    const hidden = scroll.scrollWidth - scroll.clientWidth;
    const [left, right] = [scroll.scrollLeft > 2, scroll.scrollLeft < hidden - 2];
    frame.classList.toggle("more-left", left);
    frame.classList.toggle("more-right", right);
    hint.hidden = !left && !right;
    hint.textContent = right ? "Scroll sideways for more columns →" : left ? "← Scroll back" : "";
  };
  scroll.addEventListener("scroll", update, { passive: true });
  for (const one of [scroll, scroll.firstChild]) {
    scrollers.set(one, update);
    scrollWatcher.observe(one);
  }
  return frame;
}
