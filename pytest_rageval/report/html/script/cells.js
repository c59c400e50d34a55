// What a metric is over some outcomes: the same as in results.json, for any choice of outcomes.

const USED = {
  latency_p50: { parts: ["latency_s"], of: (values) => quantile(values, 0.5) },
  latency_p95: { parts: ["latency_s"], of: (values) => quantile(values, 0.95) },
  cost_usd: { parts: ["cost_usd"], of: null },
  tokens: { parts: ["prompt_tokens", "completion_tokens"], of: null },
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

/** {mean, n, unscored, ci95} of a metric over rows; `cases` too where cases are repeated. */
function cellOf(metric, rows) {
  if (isUsed(metric)) {
    const asked = rows.filter((row) => store.answered[row]);
    const values = asked.map((row) => usedAt(row, metric)).filter((value) => value !== null);
    const unscored = asked.length - values.length;
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
    const found = overUnits(meanOfCases(each, binary, low), units, each.map(average), binary, low);
    return { ...found, unscored: rows.length - found.n };
  }
  const found = overUnits(meanOf(values, binary, low), independent(known), values, binary, low);
  return { ...found, unscored: rows.length - values.length };
}

/** The values of each unit, from the unit of each value. */
const byUnit = (units, values) => [...grouped(values.keys(), (at) => units[at]).values()].map((places) => places.map((at) => values[at]));

/** The mean with the interval over independent units, if some of them have several of its values. */
function overUnits(found, units, values, binary, low) {
  const groups = byUnit(units, values);
  return groups.length === values.length ? found : { ...found, ci95: clustered(groups, binary, low) };
}

const present = (values) => values.filter((value) => value !== null);

/** The mean difference to another system, case by case and setting by setting. */
function againstSystem(metric, rows, minus) {
  const units = [...grouped(rows, (row) => unitOf(row, true)).values()];
  const told = [];
  for (const unit of units) {
    const [theirs, ours] = [true, false].map((other) =>
      present(unit.filter((row) => (systemAt(row) === minus) === other).map((row) => valueAt(row, metric))));
    if (ours.length && theirs.length) told.push([unit[0], average(ours) - average(theirs)]);
  }
  const differences = told.map(([, difference]) => difference);
  const found = overUnits(meanOf(differences, false, -1), independent(told.map(([row]) => row), true), differences, false, -1);
  return { ...found, unscored: units.length - told.length };
}

/** A value with the digits that a baseline keeps of it. */
const asKept = (value) => Math.round(value * 1e6) / 1e6;

/** The mean difference to the baseline over cases, of which one counts once under however many settings it stands. */
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
  const found = { ...meanOf(differences, false, -1), n: pairs.length, unscored: units.length - pairs.length };
  const changed = (by) => differences.filter((each) => each === by).length;
  const groups = byUnit(independent(settings.map((each) => each[0][0])), differences);
  if (groups.length < differences.length) found.ci95 = clustered(groups, false, -1);
  else if (rates) found.ci95 = bonettPrice(changed(1), changed(-1), differences.length);
  return cases.length === pairs.length ? found : { ...found, cases: cases.length };
}

/** The rows that a view is of: not skipped, of one system or of all (""), of the testbeds that are wanted. */
function cohort(metric, of, systems) {
  const mine = (row) => {
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

/** Metrics to choose from: primary ones first, by how many outcomes they decide, then the others, then what is counted. */
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

/** Two decimals, a half to the even one, as the summary in the terminal has them. */
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
