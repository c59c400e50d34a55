// Means with 95 % intervals, by the same formulas as the gates.

const Z = 1.959963984540054;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const average = (values) => sum(values) / values.length;

/** Wilson's score interval of a rate. */
function wilson(successes, n) {
  const p = successes / n;
  const z2 = Z * Z;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.min(p, Math.max(0, centre - half)), Math.max(p, Math.min(1, centre + half))];
}

/** Student's t at 97.5 %: a table for few degrees of freedom, then Abramowitz and Stegun 26.7.5. */
function tQuantile(df) {
  const tabled = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706];
  if (df <= tabled.length) return tabled[df - 1];
  const z = Z;
  return (
    z +
    (z ** 3 + z) / (4 * df) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92160 * df ** 4)
  );
}

/** Bonett and Price's interval of the mean difference of n pairs of 0/1 values, `up` + 1 and `down` - 1. */
function bonettPrice(up, down, n) {
  const [one, other] = [(up + 1) / (n + 2), (down + 1) / (n + 2)];
  const half = Z * Math.sqrt((one + other - (one - other) ** 2) / (n + 2));
  return [Math.max(-1, one - other - half), Math.min(1, one - other + half)];
}

/** The interval of n equal values, within low..1. */
function alike(mean, n, low) {
  const share = Math.min(1, Math.max(low, mean));
  if (low === 0) return wilson(share * n, n);
  const step = Math.abs(share) || 1;
  return bonettPrice(share > 0 ? n : 0, share < 0 ? n : 0, n).map((end) => step * end);
}

/** The bootstrap interval of a mean in closed form (ABC), with Student's quantile, clipped to low..1. */
function bootstrap(values, low) {
  const n = values.length;
  if (n < 2) return null;
  const mean = average(values);
  const deviations = values.map((value) => value - mean);
  const squares = sum(deviations.map((deviation) => deviation ** 2));
  if (squares <= n * 1e-18) return alike(mean, n, low);
  const acceleration = sum(deviations.map((deviation) => (deviation / Math.sqrt(squares)) ** 3)) / 6;
  const [error, t] = [Math.sqrt(squares / (n - 1) / n), tQuantile(n - 1)];
  const [below, above] = [acceleration - t, acceleration + t].map((w) => mean + (error * w) / (1 - acceleration * w) ** 2);
  return [Math.max(low, below), Math.min(1, above)];
}

function meanOf(values, binary, low = 0) {
  if (!values.length) return { mean: null, n: 0, ci95: null };
  const ci95 = binary ? wilson(sum(values), values.length) : bootstrap(values, low);
  return { mean: average(values), n: values.length, ci95 };
}

/** The mean over cases of the means of their repeats; the case is the unit of the interval. */
function meanOfCases(cases, binary, low = 0) {
  const means = cases.map(average);
  const steady = means.every((mean) => mean === 0 || mean === 1);
  const result = meanOf(means, binary && steady, low);
  return { ...result, n: sum(cases.map((values) => values.length)), cases: means.length };
}

/** The interval of a mean of values that depend on each other within units; see clustered_interval in Python. */
function clustered(units, binary, low) {
  const [n, total, sums] = [units.length, sum(units.map((values) => values.length)), units.map(sum)];
  const whole = sum(sums);
  const mean = whole / total;
  const means = units.map(average);
  const even = units.every((values) => values.length === units[0].length);
  const [steady, end] = [means.every((each) => each === 0 || each === 1), mean === 0 || mean === 1];
  if (binary && steady && (even || end)) return end ? wilson(sum(means), n) : wilson(mean * (n - 1), n - 1);
  if (n < 2) return null;
  if (low < 0) return ofChanges(even ? means : units.map((values, at) => mean + ((values.length * n) / total) * (means[at] - mean)), mean, low);
  const without = units.map((values, at) => (whole - sums[at]) / (total - values.length));
  const variance = ((n - 1) / n) * sum(without.map((each) => (each - mean) ** 2));
  if (variance <= 1e-18 / n || !(mean > 0 && mean < 1)) return alike(mean, n, low);
  const half = (tQuantile(n - 1) * Math.sqrt(variance)) / (mean * (1 - mean));
  const [below, above] = [-half, half].map((side) => 0.5 + 0.5 * Math.tanh((Math.log(mean / (1 - mean)) + side) / 2));
  return [Math.max(0, Math.min(mean, below)), Math.min(1, Math.max(mean, above))];
}

/** The interval of the mean change over units. */
function ofChanges(shares, mean, low) {
  const [n, squares, sizes] = [shares.length + 2, sum(shares.map((each) => each ** 2)), sum(shares.map(Math.abs))];
  if (sizes <= 1e-9 * n) return alike(mean, n - 2, low);
  const centre = sum(shares) / n;
  const half = Z * Math.sqrt(((squares + 2 * (squares / sizes) ** 2) / n - centre ** 2) / n);
  return [Math.max(low, Math.min(mean, centre - half)), Math.min(1, Math.max(mean, centre + half))];
}

function quantile(values, q) {
  if (!values.length) return null;
  const ordered = [...values].sort((one, other) => one - other);
  const at = q * (ordered.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ordered.length - 1);
  return ordered[low] + (ordered[high] - ordered[low]) * (at - low);
}
