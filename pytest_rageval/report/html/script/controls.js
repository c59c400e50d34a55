// The controls above the list of cases.

const MOST_VALUES = 500; // a facet with more values has a text input

/** Create the controls; `browser.resets` updates each from the filters. */
function controlsOf() {
  const { primaries, others } = metricNames();
  const several = store.system.values.length > 1;
  const needs = { broken: store.comparisons.length > 0, fixed: store.comparisons.length > 0, failed: store.failed?.includes(1), better: several, alike: several, worse: several };
  const states = STATES.filter(([state]) => needs[state] ?? true);
  const against = [...(store.comparisons.length ? [["baseline", "the baseline"]] : [[ANY, "nothing"]]), ...store.system.values.map((name) => [`system:${name}`, name])];
  const testbeds = [["any", "all"], ["primary", "where the metric decides"], ["all", "that have the metric"], ...store.testbeds.map((each) => [`testbed:${each.nodeid}`, each.name])];
  const errors = store.error_type.values.map((name) => [`=${name}`, name]).sort(([one], [other]) => inOrder(one, other));
  const facets = store.facetNames.filter((name) => name !== "system");
  browser.narrowed = el("summary", {});
  browser.resets = [narrowed];
  return [
    searchControl(),
    listed("State", "state", states),
    store.found.length ? listed("Cause", "cause", [[ANY, "any"], ...store.found.map((each, at) => [String(at), each.sentence])]) : null,
    errors.length ? listed("Error type", "error", [[ANY, "any"], ...errors]) : null,
    listed("System", "system", [[ANY, "all"], ...store.system.values.map((name) => [name, name])]),
    several ? listed("Compared with", "minus", against) : null,
    listed("Testbed", "of", testbeds),
    listed("Value of", "metric", [[ANY, "what decides each"], ...[...primaries, ...others].map((name) => [name, name])]),
    sortControl(),
    button("Clear", () => { setFilters(noFilters()); chosen(); }),
    facets.length ? el("details", { class: "wide" }, browser.narrowed, el("div", { class: "controls" }, facets.map(facetControl))) : null,
  ];
}

/** Register a control to show what `read` returns. */
function bound(control, read) {
  browser.resets.push(() => { control.lastChild.value = read(); });
  return control;
}

function listed(label, name, options) {
  return bound(choice(label, options, ANY, (value) => { browser.filters[name] = value; chosen(); }), () => browser.filters[name]);
}

function searchControl() {
  let waiting;
  const input = el("input", { type: "search", id: "search", focus: () => searchable(),
    input: () => { clearTimeout(waiting); waiting = setTimeout(() => { browser.filters.search = input.value; searchable().then(() => chosen("step")); }, 60); } });
  return bound(labelled("Search in names, questions, answers and errors", input, "choice wide"), () => browser.filters.search);
}

/** Load answers and errors on the first search. */
async function searchable() {
  if (store.answers) return;
  store.answers = await unpacked("answers");
  store.haystack = null;
}

function sortControl() {
  const control = listed("Sort by", "sort", SORTS);
  const option = control.querySelector("option[value=change]");
  browser.resets.push(() => {
    const { minus } = browser.filters;
    option.hidden = option.disabled = !minus;
    option.textContent = `difference to ${minus.startsWith("system:") ? plainly(minus.slice(7)) : "the baseline"}`;
  });
  return control;
}

function facetControl(facet) {
  const { values, codes } = store.facets[facet];
  const read = () => browser.filters.facets[facet] ?? ANY;
  if (values.length > MOST_VALUES) {
    const input = el("input", { id: newId(), placeholder: "its value", change: () => narrow(facet, input.value && wantedOf(facet, input.value)) });
    return bound(labelled(facet, input), () => (read().startsWith("=") ? read().slice(1) : read() && "-"));
  }
  const counts = new Map();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const options = values.map((value, code) => [value, counts.get(code) ?? 0]).sort(([one], [other]) => inOrder(one, other)).map(([value, n]) => [`=${value}`, `${value} (${n})`]);
  if (counts.has(-1)) options.push([NONE, `no value (${counts.get(-1)})`]);
  if (wantedOf(facet, "-") === DASH) options.push([DASH, `- or no value (${counts.get(-1) + counts.get(values.indexOf("-"))})`]);
  return bound(choice(facet, [[ANY, "any"], ...options], ANY, (value) => narrow(facet, value)), read);
}

function narrow(facet, value) {
  if (value === ANY) delete browser.filters.facets[facet];
  else browser.filters.facets[facet] = value;
  narrowed();
  chosen();
}

function narrowed() {
  const n = Object.keys(browser.filters.facets).length;
  browser.narrowed.textContent = n ? `Facets (${n} chosen)` : "Facets";
}
