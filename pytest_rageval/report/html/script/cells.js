// Metrics over any selection of outcomes, computed like those of results.json.

const USED = {
  latency_p50: { parts: ["latency_s"], of: (values) => quantile(values, 0.5) },
  latency_p95: { parts: ["latency_s"], of: (values) => quantile(values, 0.95) },
  cost_usd: { parts: ["cost_usd"], of: null },
  tokens: { parts: ["prompt_tokens", "completion_tokens"], of: null },
  model_calls: { parts: ["model_calls"], of: (values) => (values.length ? average(values) : null) },
  tool_calls: { parts: ["tool_calls"], of: (values) => (values.length ? average(values) : null) },
};
const PSEUDO = ["error_rate", "n", ...Object.keys(USED)];
const TOTALS = ["cost_usd", "tokens", "n"];
const GAIN = "accuracy - closed_book_accuracy";
const FEW = 5;

const isUsed = (metric) => Object.hasOwn(USED, metric);
const isPseudo = (metric) => PSEUDO.includes(metric);
const isBinary = (metric) => store.metrics[metric]?.binary ?? false;
const isLower = (metric) => metric !== "n" && (isPseudo(metric) || store.metrics[metric]?.higher_is_better === false);

function usedAt(row, metric) {
  const parts = USED[metric].parts.map((part) => store.used[part][row]);
  return parts.includes(null) ? null : sum(parts);
}

function valueAt(row, metric) {
  if (metric === "error_rate") return statusAt(row) === "skipped" ? null : Number(statusAt(row) === "error");
  if (statusAt(row) !== "scored") return null;
  if (metric !== GAIN) return scoreAt(row, metric);
  const [one, other] = [scoreAt(row, "accuracy"), scoreAt(row, "closed_book_accuracy")];
  return one === null || other === null ? null : one - other;
}

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    if (groups.has(name)) groups.get(name).push(row);
    else groups.set(name, [row]);
  }
  return groups;
}

/** {mean, n, unscored, ci95} of a metric over rows; `cases` too if cases are repeated. */
function cellOf(metric, rows) {
  if (isUsed(metric)) {
    const answered = rows.filter((row) => store.answered[row]);
    const values = answered.map((row) => usedAt(row, metric)).filter((value) => value !== null);
    const unscored = answered.length - values.length;
    const total = values.length && !unscored ? sum(values) : null;
    const mean = USED[metric].of ? USED[metric].of(values) : total;
    return { mean, n: values.length, unscored, ci95: null };
  }
  if (metric === "n") {
    const n = rows.filter((row) => statusAt(row) === "scored").length;
    return { mean: n || null, n, unscored: rows.length - n, ci95: null };
  }
  const known = rows.filter((row) => valueAt(row, metric) !== null);
  const values = known.map((row) => valueAt(row, metric));
  const binary = metric === "error_rate" || (metric !== GAIN && isBinary(metric));
  const low = metric === GAIN ? -1 : 0;
  if (rows.length && facetAt(rows[0], "repeat") !== null) {
    const cases = [...grouped(known, (row) => unitOf(row)).values()];
    const each = cases.map((runs) => runs.map((row) => valueAt(row, metric)));
    const units = independent(cases.map((runs) => runs[0]));
    const result = overUnits(meanOfCases(each, binary, low), units, each.map(average), binary, low);
    return { ...result, unscored: rows.length - result.n };
  }
  const result = overUnits(meanOf(values, binary, low), independent(known), values, binary, low);
  return { ...result, unscored: rows.length - values.length };
}

/** Group values by unit. */
const byUnit = (units, values) => [...grouped(values.keys(), (at) => units[at]).values()].map((places) => places.map((at) => values[at]));

/** Replace the interval by one over independent units, if some unit has several values. */
function overUnits(mean, units, values, binary, low) {
  const groups = byUnit(units, values);
  return groups.length === values.length ? mean : { ...mean, ci95: clustered(groups, binary, low) };
}

const present = (values) => values.filter((value) => value !== null);

/** The mean difference from another system, paired by case and setting. */
function againstSystem(metric, rows, minus) {
  const units = [...grouped(rows, (row) => unitOf(row, true)).values()];
  const unitPairs = [];
  for (const unit of units) {
    const [theirs, ours] = [true, false].map((other) =>
      present(unit.filter((row) => (systemAt(row) === minus) === other).map((row) => valueAt(row, metric))));
    if (ours.length && theirs.length) unitPairs.push([unit[0], average(ours) - average(theirs)]);
  }
  const differences = unitPairs.map(([, difference]) => difference);
  const result = overUnits(meanOf(differences, false, -1), independent(unitPairs.map(([row]) => row), true), differences, false, -1);
  return { ...result, unscored: units.length - unitPairs.length };
}

/** A value rounded like those of a baseline. */
const asKept = (value) => Math.round(value * 1e6) / 1e6;

/** The mean difference from the baseline over cases; a case with several settings counts once. */
function againstBaseline(metric, rows) {
  const units = [...grouped(rows, unitOf).values()];
  const pairs = [];
  for (const unit of units) {
    const then = store.before[metric]?.[unit[0]] ?? null;
    const now = present(unit.map((row) => valueAt(row, metric)));
    if (then !== null && now.length) pairs.push([unit[0], then, asKept(average(now))]);
  }
  const settings = [...grouped(pairs, ([row]) => clusterOf(row)).values()];
  const cases = settings.map((each) => [1, 2].map((side) => average(each.map((pair) => pair[side]))));
  const differences = cases.map(([then, now]) => now - then);
  const rates = cases.length && cases.flat().every((mean) => mean === 0 || mean === 1);
  const result = { ...meanOf(differences, false, -1), n: pairs.length, unscored: units.length - pairs.length };
  const changed = (by) => differences.filter((each) => each === by).length;
  const groups = byUnit(independent(settings.map((each) => each[0][0])), differences);
  if (groups.length < differences.length) result.ci95 = clustered(groups, false, -1);
  else if (rates) result.ci95 = bonettPrice(changed(1), changed(-1), differences.length);
  return cases.length === pairs.length ? result : { ...result, cases: cases.length };
}

/** Whether a row counts in a view: a variant only if the view names its facets. */
const countsIn = (facets) => (facets.includes("relation") || facets.includes("variant") ? () => true : (row) => !isVariant(row));

/** The rows of a view: not skipped, of one system or all (""), of the selected testbeds; `facets` are those that it names. */
function cohort(metric, of, systems, facets = []) {
  const counts = countsIn(facets);
  const mine = (row) => {
    if (!counts(row)) return false;
    const testbed = testbedAt(row);
    const metrics = testbed?.metrics ?? [];
    if (of.startsWith("testbed:")) return testbed?.nodeid === of.slice(8);
    if (store.apart.has(testbed?.nodeid)) return false;
    if (isPseudo(metric)) return true;
    if (metric === GAIN) return metrics.includes("accuracy") && metrics.includes("closed_book_accuracy");
    return of === "primary" ? metrics[0] === metric : metrics.includes(metric);
  };
  const rows = [];
  for (let row = 0; row < store.rows; row += 1) {
    if (statusAt(row) !== "skipped" && (!systems.length || systems.includes(systemAt(row))) && mine(row)) rows.push(row);
  }
  return rows;
}

/** Metrics to choose from: primary ones by number of outcomes, then the others, then pseudo-metrics. */
function metricNames() {
  const weight = new Map();
  for (let row = 0; row < store.rows; row += 1) {
    if (statusAt(row) === "skipped" || store.apart.has(testbedAt(row)?.nodeid)) continue;
    const primary = primaryAt(row);
    if (primary) weight.set(primary, (weight.get(primary) ?? 0) + 1);
  }
  const primaries = [...weight.keys()].sort((one, other) => weight.get(other) - weight.get(one));
  const others = Object.keys(store.scores).filter((name) => !weight.has(name));
  const both = store.scores.accuracy && store.scores.closed_book_accuracy ? [GAIN] : [];
  return { primaries, others: [...others, ...both] };
}

function dollars(value) {
  if (value === 0) return "$0";
  return value >= 0.0001 ? `$${value.toLocaleString("en", { minimumFractionDigits: 4, maximumFractionDigits: 4 })}` : "<$0.0001";
}

/** Two decimals, rounded half to even like the terminal's summary. */
function twoDecimals(value) {
  const half = Number.isInteger(value * 8) && Number.isInteger(value * 100 + 0.5);
  const even = Math.floor(value * 100);
  return half ? ((even + Math.abs(even % 2)) / 100).toFixed(2) : value.toFixed(2);
}

function valueText(value, metric, signed = false) {
  if (value === null) return "?";
  if (metric === "cost_usd") return signed ? value.toPrecision(2) : dollars(value);
  if (TOTALS.includes(metric)) return Math.round(value).toLocaleString("en");
  const digits = metric.startsWith("latency") && Math.abs(value) < 0.1 ? value.toPrecision(2) : twoDecimals(value);
  return signed && value >= 0 ? `+${digits}` : digits.replace("-", "−");
}

function intervalText(ci95, signed = false) {
  if (!ci95) return "no interval";
  return `[${ci95.map((bound) => valueText(bound, "", signed)).join(", ")}]`;
}

const isFew = (cell, metric) => (cell.cases ?? cell.n) < FEW && !TOTALS.includes(metric);
