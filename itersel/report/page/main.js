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

// Where the links have no room beside each other, a button with the current section's name opens them.
function sectionMenu() {
  const button = document.getElementById("sections");
  const links = document.getElementById("links");
  const open = (state) => {
    button.setAttribute("aria-expanded", String(state));
    links.classList.toggle("open", state);
  };
  button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
  links.addEventListener("click", () => open(false));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && links.classList.contains("open")) {
      open(false);
      button.focus();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".bar")) open(false);
  });
}

function currentSection() {
  const links = new Map([...document.querySelectorAll("#links a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const [id, link] of links) {
          if (id === entry.target.id) {
            link.setAttribute("aria-current", "true");
            document.getElementById("sections").textContent = link.textContent;
          } else link.removeAttribute("aria-current");
        }
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
  drawWeights,
  drawListing,
  drawFeatures,
  drawSharing,
  drawTranslations,
  drawConfiguration,
])
  draw();
sectionMenu();
currentSection();
