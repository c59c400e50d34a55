// The list of cases; only visible rows are in the page.

const ROW = 76;
const CHOOSE = "Choose a case: its question, what was supplied, the answer, and why it missed.";
const browser = { filters: null, hits: [], selected: -1, change: null, settings: [], resets: [] };

/** Facets with several values for one case and system. */
function settingsOf() {
  const cases = Array.from({ length: store.rows }, (_, row) => clusterOf(row));
  return store.facetNames.filter((facet) => {
    const first = new Map();
    return cases.some((name, row) => {
      const code = store.facets[facet].codes[row];
      if (!first.has(name)) first.set(name, code);
      return first.get(name) !== code;
    });
  });
}

/** The metric, the case and the distinguishing settings of a row. */
function aboutOf(row, metric) {
  const change = browser.change?.(row) ?? null;
  const of = [metric, isLower(metric) ? "low is better" : null, change === null || (change === 0 && browser.filters.sort !== "change") ? null : `difference ${valueText(change, metric, true)}`];
  const why = statusAt(row) === "scored" ? metric && of.filter(Boolean).join(", ") : textOf(store.error_type, row);
  const settings = browser.settings.map((name) => [name, facetAt(row, name)]).filter(([, value]) => value !== null);
  return [why, hasFailed(row) ? "test failed" : null, caseAt(row), store.system.values.length > 1 ? systemAt(row) : null,
    ...settings.map((pair) => pair.join("=")), store.testbed.values.length > 1 ? testbedAt(row)?.name : null].filter(Boolean).join(" · ");
}

const TURNS = { worse: ["fall", "▼ worse"], better: ["rise", "▲ better"], missed: ["missed", "✗ missed"] };

/** How a value stands against the baseline or the system it is compared with, else against the gate: what its chip is coloured by. */
function turnOf(row, value, metric) {
  const before = store.before[metric]?.[row] ?? null;
  const since = value === null || before === null ? 0 : asKept(value) - before;
  const change = (isAgainstSystem(browser.filters) ? browser.change?.(row) ?? 0 : since) * (isLower(metric) ? -1 : 1);
  if (Math.abs(change) > 1e-6) return change < 0 ? "worse" : "better";
  return isMissed(row, browser.filters) ? "missed" : "";
}

function rowElement(row, at) {
  const metric = metricAt(row, browser.filters);
  const value = metric === null || isPseudo(metric) ? null : valueAt(row, metric);
  const status = statusAt(row);
  const word = value === null ? "no value" : valueText(value, metric, metric === GAIN);
  const turn = status === "scored" ? turnOf(row, value, metric) : "";
  const chip = el("span", { class: `chip ${status} ${TURNS[turn]?.[0] ?? ""}`.trim() }, status !== "scored" ? status : word, TURNS[turn] ? el("small", {}, TURNS[turn][1]) : null);
  const isAgain = at > 0 && browser.filters.sort === "worst" && questionKey(browser.hits[at - 1]) === questionKey(row);
  const element = el("div", { role: "option", id: `row-${row}`, class: isAgain ? "row again" : "row", "aria-selected": String(row === browser.selected), "aria-posinset": at + 1, "aria-setsize": browser.hits.length, click: () => select(at, "jump") },
    chip, el("span", { class: "ask" }, data(questionAt(row).slice(0, 200) || store.nodeid[row])), el("span", { class: "about" }, data(aboutOf(row, metric))));
  element.style.transform = `translateY(${at * ROW}px)`;
  return element;
}

function paintRows() {
  const { list, sheet, hits } = browser;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(hits.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  const rows = [];
  for (let at = first; at < last; at += 1) rows.push(rowElement(hits[at], at));
  list.setAttribute("role", rows.length ? "listbox" : "group"); // a listbox must have options
  sheet.style.height = `${hits.length * ROW}px`;
  replaced(sheet, rows.length ? rows : el("p", { class: "quiet none" }, store.rows ? "No case matches." : "No case was run."));
  const seen = rows.some((row) => row.id === `row-${browser.selected}`);
  if (seen) list.setAttribute("aria-activedescendant", `row-${browser.selected}`);
  else list.removeAttribute("aria-activedescendant");
}

/** Select the case at an index of the list. A "jump" adds to the browser history, a "step" does not; "follow" comes from a link, "first" opens with its list. */
function select(at, how) {
  const { list, hits } = browser;
  if (at < 0 || at >= hits.length) return;
  browser.selected = hits[at];
  if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
  if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
  paintRows();
  if (how === "jump" || how === "step") address(addressOf(browser.filters, hits[at]), how);
  tellOutside();
  showCase(hits[at], how === "follow");
}

function pressed(event) {
  const at = browser.hits.indexOf(browser.selected);
  const page = Math.max(1, Math.floor(browser.list.clientHeight / ROW) - 1);
  const steps = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: browser.hits.length - 1 };
  if (event.key === "Enter" && at >= 0) document.getElementById("case-title")?.focus();
  else if (Object.hasOwn(steps, event.key)) select(Math.min(browser.hits.length - 1, Math.max(0, steps[event.key])), "step");
  else return;
  event.preventDefault();
}

/** Filter anew after a control changed, and write it into the address. */
function chosen(how = "jump") {
  refresh();
  const isListed = browser.hits.includes(browser.selected);
  address(addressOf(browser.filters, isListed ? browser.selected : -1), how);
}

function refresh() {
  const { filters } = browser;
  browser.change = ["change", "worst"].includes(filters.sort) || isAgainstSystem(filters) ? changes(filters) : null;
  browser.hits = findCases(filters, browser.change);
  browser.list.scrollTop = 0;
  browser.count.textContent = `${counted(browser.hits.length, "case")} of ${store.rows.toLocaleString("en")}`;
  paintRows();
  tellOutside();
}

function tellOutside() {
  const outside = browser.selected >= 0 && !browser.hits.includes(browser.selected);
  browser.outside.textContent = outside ? "This case is not among those that are listed." : "";
}

function setFilters(filters) {
  browser.filters = filters;
  for (const reset of browser.resets) reset();
  refresh();
}

/** Show the cases of a cell of the matrix. */
function showCases(view, where) {
  setFilters(filtersOf(view, where));
  document.getElementById("cases").scrollIntoView();
  browser.list.focus({ preventScroll: true });
  if (browser.hits.length) select(0, "jump");
  else address(addressOf(browser.filters, -1), "jump");
}

/** Show a text in place of a case. */
function showNone(...text) {
  showing += 1; // discards a case that is still loading
  browser.selected = -1;
  paintRows();
  tellOutside();
  replaced(browser.shown, el("p", { class: "quiet", tabindex: "-1" }, text));
}

function drawBrowser(place) {
  browser.settings = settingsOf();
  const controls = store.rows ? el("div", { class: "controls", role: "group", "aria-label": "Which cases are listed" }, controlsOf()) : null;
  browser.count = el("p", { class: "count", role: "status" });
  browser.sheet = el("div", { class: "sheet", role: "presentation" });
  let waiting = false;
  const scrolled = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paintRows(); });
  };
  browser.list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Cases", keydown: pressed, scroll: scrolled }, browser.sheet);
  browser.outside = el("p", { class: "outside", role: "status" });
  browser.shown = el("div", {});
  browser.detail = el("div", { class: "detail", id: "detail", role: "region", "aria-label": "The case" }, browser.outside, browser.shown);
  replaced(place, controls, el("div", { class: "listed" }, browser.count, store.rows ? button("Download as CSV", download) : null, el("span", { class: "quiet" }, "keys: ", KEYS.map(([key, what]) => [el("kbd", {}, key), ` ${what} `]))), el("div", { class: "panes" }, browser.list, browser.detail));
  addEventListener("resize", scrolled);
  document.addEventListener("click", followed);
  openFirst();
}

/** Scroll to the case after a link. */
function toCase() {
  browser.detail.scrollIntoView();
  browser.shown.querySelector("[tabindex='-1']").focus({ preventScroll: true });
}
