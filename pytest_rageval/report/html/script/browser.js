// The list of cases: as many rows as fit are in the page, whatever there are.

const ROW = 64;
const ANY = "";
const MOST_VALUES = 500; // a facet with more is typed
const STATES = [[ANY, "any state"], ["scored", "scored"], ["error", "error"], ["skipped", "skipped"], ["missed", "missed"], ["unscored", "scored, without a value"], ["broken", "broken since the baseline"], ["fixed", "mended since the baseline"]];
const SORTS = [["order", "order of the data"], ["case", "name"], ["low", "value, lowest first"], ["high", "value, highest first"], ["slow", "slowest first"], ["dear", "dearest first"]];
const FALLING = ["high", "slow", "dear"];
const browser = { filters: null, found: [], selected: -1 };

const noFilters = () => ({ search: "", of: "any", metric: ANY, system: ANY, state: ANY, facets: Object.create(null), sort: "order" });
const metricOf = (row) => browser.filters.metric || primaryAt(row);

/** Whether a row's metric says that the case was missed: it is at its worse end. */
function isMissed(row) {
  const metric = metricOf(row);
  const value = metric && valueAt(row, metric);
  return value !== null && value === (isLower(metric) ? 1 : 0);
}

function stateTest(state) {
  if (state === ANY) return () => true;
  if (state === "missed") return isMissed;
  if (state === "unscored") return (row) => statusAt(row) === "scored" && metricOf(row) !== null && valueAt(row, metricOf(row)) === null;
  if (state === "broken" || state === "fixed") {
    const named = new Set(store.comparisons.filter((each) => !Object.keys(each.slice).length).flatMap((each) => each[state]));
    return (row) => named.has(store.nodeid[row]);
  }
  return (row) => statusAt(row) === state;
}

function ofTest(filters) {
  const { of, metric } = filters;
  if (of === "any") return () => true;
  if (of.startsWith("testbed:")) return (row) => named(store.testbed, row) === of.slice(8);
  if (!metric || isPseudo(metric)) return (row) => !store.apart.has(testbedAt(row)?.nodeid);
  const rows = new Set(cohort(metric, of, []));
  return (row) => rows.has(row);
}

function searchTest(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return () => true;
  store.haystack ??= store.nodeid.map((nodeid, row) => `${nodeid}\n${questionAt(row)}\n${store.answers?.[row] ?? ""}`.toLowerCase());
  return (row) => wanted.every((word) => store.haystack[row].includes(word));
}

function sortKey(row, by) {
  if (by === "order") return row;
  if (by === "case") return caseAt(row);
  if (by === "slow") return store.used.latency_s[row];
  if (by === "dear") return store.used.cost_usd[row];
  const metric = metricOf(row);
  return metric && (PSEUDO.includes(metric) ? null : valueAt(row, metric));
}

/** The rows that the filters leave, in the order that is wanted; those without what they are sorted by come last. */
function findCases() {
  const { filters } = browser;
  const tests = [ofTest(filters), stateTest(filters.state), searchTest(filters.search)];
  if (filters.system !== ANY) tests.push((row) => systemAt(row) === filters.system);
  for (const [facet, value] of Object.entries(filters.facets)) tests.push((row) => (facetAt(row, facet) ?? "-") === value);
  const found = [];
  for (let row = 0; row < store.rows; row += 1) if (tests.every((test) => test(row))) found.push(row);
  const keys = new Map(found.map((row) => [row, sortKey(row, filters.sort)]));
  const turn = FALLING.includes(filters.sort) ? -1 : 1;
  return found.sort((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    if (left === null || right === null) return (left === null) - (right === null) || one - other;
    return (left < right ? -turn : left > right ? turn : 0) || one - other;
  });
}

function rowElement(row, at) {
  const metric = metricOf(row);
  const value = metric === null || PSEUDO.includes(metric) ? null : valueAt(row, metric);
  const status = statusAt(row);
  const chip = el("span", { class: `chip ${status}` }, status !== "scored" ? status : value === null ? "no value" : valueText(value, metric, metric === GAIN));
  if (status === "scored" && value !== null && metric !== GAIN) {
    const parts = colour(CIVIDIS, isLower(metric) ? 1 - value : value);
    chip.style.backgroundColor = asRgb(parts);
    chip.style.color = inkOn(parts);
  }
  const about = [caseAt(row), ...(store.system.values.length > 1 ? [systemAt(row)] : []), ...["noise_rate", "repeat"].filter((name) => facetAt(row, name) !== null).map((name) => `${name}=${facetAt(row, name)}`)];
  const element = el("div", { role: "option", id: `row-${row}`, class: "row", "aria-selected": String(row === browser.selected), "aria-posinset": at + 1, "aria-setsize": browser.found.length, click: () => select(at, true) },
    chip, el("span", { class: "ask" }, data(questionAt(row).slice(0, 200) || store.nodeid[row])), el("span", { class: "about" }, data(about.join(" · "))));
  element.style.transform = `translateY(${at * ROW}px)`;
  return element;
}

function paintRows() {
  const { list, sheet, found } = browser;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  const rows = [];
  for (let at = first; at < last; at += 1) rows.push(rowElement(found[at], at));
  sheet.style.height = `${found.length * ROW}px`;
  sheet.replaceChildren(...rows);
  const seen = rows.some((row) => row.id === `row-${browser.selected}`);
  if (seen) list.setAttribute("aria-activedescendant", `row-${browser.selected}`);
  else list.removeAttribute("aria-activedescendant");
}

/** Take the case at a place of the list; `wanted` by the user, so that the address names it. */
function select(at, wanted) {
  const { list, found } = browser;
  if (at < 0 || at >= found.length) return;
  browser.selected = found[at];
  if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
  if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
  paintRows();
  if (wanted) address(found[at]);
  showCase(found[at]);
}

function address(row) {
  try {
    history.replaceState(null, "", caseAddress(row));
  } catch { /* a page in a frame without an address of its own */ }
}

function pressed(event) {
  const at = browser.found.indexOf(browser.selected);
  const page = Math.max(1, Math.floor(browser.list.clientHeight / ROW) - 1);
  const steps = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: browser.found.length - 1 };
  if (event.key === "Enter" && at >= 0) document.getElementById("case-title")?.focus();
  else if (event.key in steps) select(Math.min(browser.found.length - 1, Math.max(0, steps[event.key])), true);
  else return;
  event.preventDefault();
}

function refresh() {
  browser.found = findCases();
  browser.list.scrollTop = 0;
  browser.count.textContent = `${counted(browser.found.length, "case")} of ${store.rows.toLocaleString("en")}`;
  paintRows();
}

function facetChoice(facet) {
  const { values, codes } = store.facets[facet];
  if (values.length > MOST_VALUES) {
    const input = el("input", { id: newId(), placeholder: "its value", value: browser.filters.facets[facet] ?? "", change: () => chosenFacet(facet, input.value || null) });
    return labelled(facet, input);
  }
  const counts = new Map();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const options = values.map((value, code) => [value, counts.get(code) ?? 0]).sort(([one], [other]) => inOrder(one, other));
  if (counts.has(-1)) options.push(["-", counts.get(-1)]);
  const chosen = browser.filters.facets[facet];
  return choice(facet, [[ANY, "any"], ...options.map(([value, n]) => [`=${value}`, `${value} (${n})`])], chosen === undefined ? ANY : `=${chosen}`, (value) => chosenFacet(facet, value === ANY ? null : value.slice(1)));
}

function chosenFacet(facet, value) {
  if (value === null) delete browser.filters.facets[facet];
  else browser.filters.facets[facet] = value;
  browser.narrowed.textContent = narrowedText();
  refresh();
}

function narrowedText() {
  const n = Object.keys(browser.filters.facets).length;
  return n ? `Facets (${n} chosen)` : "Facets";
}

/** The controls above the list, made anew when filters are set from elsewhere. */
function controlsOf() {
  const { filters } = browser;
  const set = (name) => (value) => { filters[name] = value; refresh(); };
  const { primaries, others } = metricNames();
  const hasBaseline = store.comparisons.length > 0;
  let waiting;
  const search = el("input", { type: "search", id: "search", placeholder: "words of names, questions, answers", value: filters.search,
    focus: () => searchable(),
    input: () => { clearTimeout(waiting); waiting = setTimeout(() => { filters.search = search.value; searchable().then(refresh); }, 60); } });
  const testbeds = [["any", "all"], ["primary", "where the metric decides"], ["all", "that have the metric"], ...store.testbeds.map((each) => [`testbed:${each.nodeid}`, each.name])];
  browser.narrowed = el("summary", {}, narrowedText());
  return [
    labelled("Search", search, "choice wide"),
    choice("State", STATES.filter(([state]) => hasBaseline || (state !== "broken" && state !== "fixed")), filters.state, set("state")),
    choice("System", [[ANY, "all"], ...store.system.values.map((name) => [name, name])], filters.system, set("system")),
    choice("Testbed", testbeds, filters.of, set("of")),
    choice("Value of", [[ANY, "what decides each"], ...[...primaries, ...others].map((name) => [name, name])], filters.metric, set("metric")),
    choice("Sort by", SORTS, filters.sort, set("sort")),
    button("Clear", () => setFilters(noFilters())),
    el("details", { class: "wide" }, browser.narrowed, el("div", { class: "controls" }, store.facetNames.filter((name) => name !== "system").map(facetChoice))),
  ];
}

/** Have answers among what is searched, once somebody searches. */
async function searchable() {
  if (store.answers) return;
  store.answers = await unpacked("answers");
  store.haystack = null;
}

function setFilters(filters) {
  browser.filters = filters;
  replaced(browser.controls, controlsOf());
  refresh();
}

/** Show the cases of a cell of the matrix, the worst first. */
function showCases(view, where) {
  const facets = Object.assign(Object.create(null), where);
  delete facets.system;
  const metric = isPseudo(view.metric) ? ANY : view.metric;
  setFilters({ ...noFilters(), of: view.of, metric, system: where.system ?? view.system, facets, sort: metric === ANY ? "order" : isLower(metric) ? "high" : "low" });
  document.getElementById("cases").scrollIntoView();
  browser.list.focus({ preventScroll: true });
  if (browser.found.length) select(0, false);
}

function drawBrowser(place) {
  browser.filters = noFilters();
  browser.controls = el("div", { class: "controls", role: "group", "aria-label": "Which cases are listed" });
  browser.count = el("p", { class: "count", role: "status" });
  browser.sheet = el("div", { class: "sheet", role: "presentation" });
  let waiting = false;
  const scrolled = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paintRows(); });
  };
  browser.list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Cases", keydown: pressed, scroll: scrolled }, browser.sheet);
  browser.detail = el("div", { class: "detail", id: "detail" }, el("p", { class: "quiet" }, "Choose a case: its question, what was supplied, the answer, and why it missed."));
  replaced(place, browser.controls, browser.count, el("div", { class: "panes" }, browser.list, browser.detail));
  addEventListener("resize", scrolled);
  setFilters(browser.filters);
}

/** Open the case that the address names. */
function route() {
  const name = /^#case=(.*)$/s.exec(location.hash)?.[1];
  if (name === undefined) return;
  let nodeid = name;
  try {
    nodeid = decodeURIComponent(name);
  } catch { /* not every % is an escape */ }
  const row = store.byNode.get(nodeid);
  if (row === undefined) {
    replaced(browser.detail, el("p", { role: "alert" }, "This run has no case ", data(nodeid), "."));
  } else {
    if (!browser.found.includes(row)) setFilters(noFilters());
    select(browser.found.indexOf(row), false);
  }
  browser.detail.scrollIntoView({ block: "nearest" });
}
