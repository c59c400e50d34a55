// Start the page after it is parsed.

const THEMES = ["system", "light", "dark"];

function themes() {
  const press = document.getElementById("theme");
  let chosen = "system";
  try {
    chosen = localStorage.getItem("rageval-theme") ?? "system";
  } catch { /* a page from a file may have no storage */ }
  const use = (theme) => {
    chosen = THEMES.includes(theme) ? theme : "system";
    document.documentElement.dataset.theme = chosen;
    press.textContent = `Theme: ${chosen}`;
  };
  press.addEventListener("click", () => {
    use(THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length]);
    try {
      localStorage.setItem("rageval-theme", chosen);
    } catch { /* then it lasts as long as the page */ }
  });
  use(chosen);
  press.hidden = false;
}

async function start() {
  themes();
  papers();
  const places = ["matrix", "charts", "cases"].map((name) => document.querySelector(`#${name} .view`));
  try {
    await load();
    unseen = new RegExp(`[${store.unseen}\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]`, "gu");
    const draws = [drawMatrix, drawCharts, drawBrowser];
    for (const [at, place] of places.entries()) {
      draws[at](place);
      await new Promise((resolve) => setTimeout(resolve)); // lets the browser paint first
    }
    tools();
    addEventListener("hashchange", route);
    route();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    for (const place of places) replaced(place, el("p", { role: "alert" }, "This browser could not draw it: ", data(error)));
    document.documentElement.dataset.ready = "no";
  }
}

start();
