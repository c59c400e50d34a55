// Filter and sort the list of cases.

const ANY = "";
const NONE = "none"; // cases without a value of a facet; values are "=value"
const DASH = "dash"; // cases without a value or with "-": a matrix cell holds both
const LOOK = "look"; // what a reader should look at
const STATES = [[ANY, "any state"], [LOOK, "broken, missed or in error"], ["scored", "scored"], ["error", "error"], ["skipped", "skipped"], ["asked", "all but skipped"], ["missed", "missed"], ["unscored", "scored, without a value"], ["failed", "its test failed"], ["broken", "broken since the baseline"], ["fixed", "fixed since the baseline"], ["better", "better than what it is compared with"], ["alike", "as good as what it is compared with"], ["worse", "worse than what it is compared with"]];
const BY_SIGN = { better: 1, alike: 0, worse: -1 }; // states by the sign of the difference
const SORTS = [["worst", "worst first"], ["order", "order of the data"], ["case", "name"], ["low", "value, lowest first"], ["high", "value, highest first"], ["change", "difference, worst first"], ["errors", "errors first"], ["slow", "slowest first"], ["dear", "dearest first"]];
const WORST = { error_rate: "errors", n: "errors", latency_p50: "slow", latency_p95: "slow", cost_usd: "dear", tokens: "dear", model_calls: "dear", tool_calls: "slow" }; // for pseudo-metrics
const FALLING = ["high", "errors", "slow", "dear"];

const firstMinus = () => (store.comparisons.length ? "baseline" : "");
const noFilters = () => ({ search: "", of: "any", metric: ANY, system: ANY, state: ANY, error: ANY, cause: ANY, facets: Object.create(null), sort: "order", minus: firstMinus() });

const metricAt = (row, filters) => filters.metric || primaryAt(row);
const isAgainstSystem = (filters) => filters.minus.startsWith("system:");
const hasFailed = (row) => Boolean(store.failed?.[row]);

/** The filters of the first view: what broke, missed or ended in an error, if anything did. */
function firstFilters() {
  store.hasLook ??= findCases({ ...noFilters(), state: LOOK }, null).length > 0;
  return store.hasLook ? { ...noFilters(), state: LOOK, sort: "worst" } : noFilters();
}

/** Whether a case missed, as the terminal's `m`; runs of older versions do not say it: there, the worst value of the metric. */
function isMissed(row, filters) {
  if (store.missed) return Boolean(store.missed[row]);
  const metric = metricAt(row, filters);
  const value = metric && valueAt(row, metric);
  return value !== null && value === (isLower(metric) ? 1 : 0);
}

function stateTest(filters) {
  const { state } = filters;
  if (state === ANY) return () => true;
  if (state === "asked") return (row) => statusAt(row) !== "skipped";
  if (state === LOOK) {
    const isBroken = stateTest({ ...filters, state: "broken" });
    return (row) => isBroken(row) || statusAt(row) === "error" || isMissed(row, filters);
  }
  if (state === "missed") return (row) => isMissed(row, filters);
  if (state === "unscored") return (row) => statusAt(row) === "scored" && metricAt(row, filters) !== null && valueAt(row, metricAt(row, filters)) === null;
  if (state === "failed") return hasFailed;
  if (state === "broken" || state === "fixed") {
    const isMeant = (each) => each.metric === (filters.metric || store.testbedOf.get(each.testbed)?.metrics[0]);
    const ids = new Set(store.comparisons.filter((each) => !Object.keys(each.slice).length && isMeant(each)).flatMap((each) => each[state]));
    return (row) => ids.has(store.nodeid[row]);
  }
  if (Object.hasOwn(BY_SIGN, state)) return sideTest(filters);
  return (row) => statusAt(row) === state;
}

/** Whether a case, over all its repeats, is better, as good or worse than what it is compared with. */
function sideTest(filters) {
  const change = changes(filters, true);
  return (row) => {
    const difference = change(row);
    return difference !== null && Math.sign(isLower(metricAt(row, filters)) ? -difference : difference) === BY_SIGN[filters.state];
  };
}

function ofTest(filters) {
  const { of, metric } = filters;
  if (of === "any") return () => true;
  const counts = countsIn(Object.keys(filters.facets));
  if (of.startsWith("testbed:")) return (row) => textOf(store.testbed, row) === of.slice(8) && counts(row);
  if (!metric || isPseudo(metric)) return (row) => !store.apart.has(testbedAt(row)?.nodeid) && counts(row);
  const rows = new Set(cohort(metric, of, [], Object.keys(filters.facets)));
  return (row) => rows.has(row);
}

function searchTest(words) {
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!terms.length) return () => true;
  store.haystack ??= store.nodeid.map((nodeid, row) => `${nodeid}\n${questionAt(row)}\n${store.answers?.[row] ?? ""}`.toLowerCase());
  return (row) => terms.every((word) => store.haystack[row].includes(word));
}

function facetTest(facet, filter) {
  if (filter === NONE) return (row) => facetAt(row, facet) === null;
  if (filter === DASH) return (row) => (facetAt(row, facet) ?? "-") === "-";
  return (row) => facetAt(row, facet) === filter.slice(1);
}

/** The filter of a facet for a value of the matrix, where "-" also means no value. */
function wantedOf(facet, value) {
  if (value !== "-") return `=${value}`;
  const { values, codes } = store.facets[facet];
  if (!values.includes("-")) return NONE;
  return codes.includes(-1) ? DASH : "=-";
}

/** The difference of each row's value, or with `ofCases` of its case's mean, from the baseline or another system; null if unknown. */
function changes(filters, ofCases = false) {
  const { minus } = filters;
  const unit = (row) => `${metricAt(row, filters)} ${unitOf(row, true)}`;
  const own = (row) => `${metricAt(row, filters)} ${unitOf(row)}`;
  const theirs = isAgainstSystem(filters) ? meansBy(unit, (row) => systemAt(row) === minus.slice(7), filters) : new Map();
  const ours = ofCases && store.facets.repeat ? meansBy(own, () => true, filters) : null;
  return (row) => {
    const metric = metricAt(row, filters);
    const value = metric === null || isPseudo(metric) ? null : ours ? ours.get(own(row)) ?? null : valueAt(row, metric);
    const before = minus === "baseline" ? store.before[metric]?.[row] ?? null : theirs.get(unit(row)) ?? null;
    return value === null || before === null ? null : Math.round((value - before) * 1e6) / 1e6; // a baseline keeps six digits
  };
}

/** The mean of the values of some rows by a key. */
function meansBy(key, isMeant, filters) {
  const values = new Map();
  for (let row = 0; row < store.rows; row += 1) {
    const value = isMeant(row) && metricAt(row, filters) !== null ? valueAt(row, metricAt(row, filters)) : null;
    if (value === null) continue;
    const name = key(row);
    if (values.has(name)) values.get(name).push(value);
    else values.set(name, [value]);
  }
  return new Map([...values].map(([name, each]) => [name, average(each)]));
}

/** Key by badness: broken by their difference, then missed by their value, errors, the rest. */
function worstKey(row, filters, change) {
  const metric = metricAt(row, filters);
  const turned = (value) => (metric !== null && isLower(metric) ? -value : value);
  const difference = change?.(row) ?? null;
  if (difference !== null && turned(difference) < 0) return turned(difference) - 10;
  if (statusAt(row) === "error") return 10;
  const value = metric === null || isPseudo(metric) ? null : valueAt(row, metric);
  return value === null ? null : turned(value);
}

/** Node id -> place among the cases of the chosen cause. */
function causeOf(filters) {
  const cases = store.found[Number(filters.cause)]?.cases ?? [];
  return new Map(cases.map((nodeid, at) => [nodeid, at]));
}

/** The same rows; those of one question stand together, at the place of the first of them. */
function together(rows) {
  return [...grouped(rows, questionKey).values()].flat();
}

const questionKey = (row) => `${store.testbed.codes[row]}|${store.system.codes[row]}|${store.case.codes[row]}`;

function sortKey(row, filters, change) {
  const { sort } = filters;
  if (sort === "order") return row;
  if (sort === "worst") return worstKey(row, filters, change);
  if (sort === "case") return caseAt(row);
  if (sort === "slow") return store.used.latency_s[row];
  if (sort === "dear") return store.used.cost_usd[row];
  if (sort === "errors") return Number(statusAt(row) === "error");
  const metric = metricAt(row, filters);
  if (metric === null || isPseudo(metric)) return null;
  if (sort !== "change") return valueAt(row, metric);
  const higher = change(row);
  return higher === null || !isLower(metric) ? higher : -higher;
}

/** The filtered rows in the chosen order, which may be by `change`; rows without a sort key come last. */
function findCases(filters, change) {
  const tests = [ofTest(filters), stateTest(filters), searchTest(filters.search)];
  if (filters.system !== ANY) tests.push((row) => systemAt(row) === filters.system);
  if (filters.error !== ANY) tests.push((row) => textOf(store.error_type, row) === filters.error.slice(1));
  if (filters.cause !== ANY) {
    const ofCause = causeOf(filters);
    tests.push((row) => ofCause.has(store.nodeid[row]));
  }
  for (const [facet, filter] of Object.entries(filters.facets)) tests.push(facetTest(facet, filter));
  const matching = [];
  for (let row = 0; row < store.rows; row += 1) if (tests.every((test) => test(row))) matching.push(row);
  const ofCause = filters.sort === "worst" && filters.cause !== ANY ? causeOf(filters) : null;
  const keys = new Map(matching.map((row) => [row, ofCause ? ofCause.get(store.nodeid[row]) : sortKey(row, filters, change)]));
  const turn = FALLING.includes(filters.sort) ? -1 : 1;
  const sorted = matching.sort((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    if (left === null || right === null) return (left === null) - (right === null) || one - other;
    return (left < right ? -turn : left > right ? turn : 0) || one - other;
  });
  return filters.sort === "worst" ? together(sorted) : sorted;
}

/** The filters for the cases of a matrix cell, the worst first. */
function filtersOf(view, where) {
  const facets = Object.create(null);
  for (const [facet, value] of Object.entries(where)) if (facet !== "system" && store.facetNames.includes(facet)) facets[facet] = wantedOf(facet, value);
  const counts = isPseudo(view.metric);
  const sort = counts ? WORST[view.metric] : view.minus ? "change" : isLower(view.metric) ? "high" : "low";
  return { ...noFilters(), of: view.of, metric: counts ? ANY : view.metric, system: where.system ?? view.system, state: "asked", facets, sort, minus: view.minus || firstMinus() };
}
