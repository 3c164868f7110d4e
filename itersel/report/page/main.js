// The theme button, the bar's mark, and everything drawn once.
function themes() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const label = () => {
    button.textContent = now() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${now() === "dark" ? "light" : "dark"} colours`);
  };
  // Storage may be closed to files; the choice then lasts as long as the page.
  try {
    const kept = localStorage.getItem("itersel-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {
    /* closed */
  }
  button.addEventListener("click", () => {
    root.dataset.theme = now() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("itersel-theme", root.dataset.theme);
    } catch {
      /* closed */
    }
    label();
  });
  dark.addEventListener("change", label);
  label();
}

function currentSection() {
  const links = new Map([...document.querySelectorAll("#links a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const [id, link] of links)
          id === entry.target.id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  for (const id of links.keys()) observer.observe(section(id));
}

themes();
for (const draw of [
  drawLead,
  drawExperiment,
  drawOverview,
  drawEvaluation,
  drawCurves,
  drawShards,
  drawTime,
  drawFeatures,
  drawTranslations,
  drawConfiguration,
])
  draw();
currentSection();
