// The table that an algorithm declares, epoch by epoch.
function drawListing() {
  const shown = data.runs.map((run, k) => k).filter((k) => data.runs[k].listing);
  if (!shown.length) return removeSection("listing");
  const place = section("listing");
  const view = { run: shown.includes(bestRun()) ? bestRun() : shown[0], epoch: null };
  const controls = h("div", { class: "controls" });
  const about = note("");
  const holder = h("div", {});
  place.append(about, controls, holder);

  const rename = (label) => {
    place.querySelector("h2").textContent = label;
    document.querySelector('#links a[href="#listing"]').textContent = label;
  };

  function rebuild() {
    const run = data.runs[view.run];
    const epochs = Object.keys(run.listing.epochs);
    if (!epochs.includes(view.epoch)) view.epoch = epochs.includes(String(run.best)) ? String(run.best) : epochs[0];
    rename(capital(run.listing.label));
    about.textContent = run.listing.about;
    controls.replaceChildren(
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
        : "",
      epochs.length > 1
        ? segments(
            "Epoch",
            epochs.map((one) => [one, one]),
            view.epoch,
            (value) => {
              view.epoch = value;
              list.update(run.listing.epochs[view.epoch]);
            },
          )
        : "",
    );
    const list = table({
      label: capital(run.listing.label),
      columns: run.listing.columns.map(([label, form], k) => ({
        key: `column-${k}`,
        label: capital(label),
        right: form !== "text",
        prose: form === "text" && k > 0,
        ascending: form === "text",
        value: (row) => (form === "text" ? row[k] : Math.abs(row[k])),
        render: (row) => (form === "text" ? h("span", k ? {} : { class: "mono" }, row[k]) : FORMS[form].text(row[k])),
      })),
      sort: { key: "" },
      page: 15,
    });
    holder.replaceChildren(list.element);
    list.update(run.listing.epochs[view.epoch]);
  }

  rebuild();
}
