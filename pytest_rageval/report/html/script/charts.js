// Curves over noise and passages, the radar of levels and abilities, time or cost against quality.

const LINES = ["noise_rate", "passages"];
const SPOKES = ["ability", "level"];
const SIDES = 3; // minimum for a radar chart
const PRICES = [["latency_p50", "median seconds an answer"], ["latency_p95", "95 % of answers within seconds"], ["cost", "dollars an answer"], ["token", "tokens an answer"]];

const cellText = (cell, metric) => (cell && cell.n ? `${valueText(cell.mean, metric)} (${countText(cell)}) ${cell.ci95 ? intervalText(cell.ci95) : ""}` : "–");

/** A card with selectors above a drawing, redrawn on each change. */
function card(title, choices, draw) {
  const chosen = Object.fromEntries(choices.map(([name, , options]) => [name, options()[0]?.[0]]));
  const controls = el("div", { class: "controls" });
  const place = el("div", {});
  const fill = (focused) => {
    const made = choices.map(([name, label, options]) => {
      const open = options(chosen);
      if (!open.some(([value]) => value === chosen[name])) chosen[name] = open[0]?.[0];
      return choice(label, open, chosen[name], (value) => { chosen[name] = value; fill(name); });
    });
    replaced(controls, made);
    replaced(place, draw(chosen, place));
    if (focused) made[choices.findIndex(([name]) => name === focused)].lastChild.focus();
  };
  const whole = el("article", { class: "card" }, el("h3", {}, title), controls, place);
  return { whole, fill };
}

/** Testbeds with several values of a facet: only within one a curve compares the same cases. */
function lined() {
  const byFacet = new Map(LINES.map((facet) => [facet, []]));
  const values = new Map();
  for (let row = 0; row < store.rows; row += 1) {
    for (const facet of LINES) {
      const value = facetAt(row, facet);
      if (value === null || statusAt(row) === "skipped") continue;
      const at = `${facet}|${store.testbed.codes[row]}`;
      values.set(at, (values.get(at) ?? new Set()).add(value));
    }
  }
  for (const [at, seen] of values) {
    const [facet, code] = at.split("|");
    const testbed = store.testbedOf.get(store.testbed.values[code]);
    if (seen.size > 1 && testbed) byFacet.get(facet).push(testbed);
  }
  return byFacet;
}

function curves(byFacet) {
  const facets = LINES.filter((facet) => byFacet.get(facet).length);
  const testbeds = (chosen) => byFacet.get(chosen?.facet ?? facets[0]).map((each) => [each.nodeid, each.name]);
  const metrics = (chosen) => (store.testbedOf.get(chosen?.testbed ?? testbeds()[0][0]).metrics.map((name) => [name, name]));
  return card("Curves", [["facet", "Over", () => facets.map((name) => [name, name])], ["testbed", "Testbed", testbeds], ["metric", "Metric", metrics]], drawCurves);
}

function drawCurves({ facet, testbed, metric }, place) {
  const rows = cohort(metric, `testbed:${testbed}`, []).filter((row) => facetAt(row, facet) !== null);
  const values = [...new Set(rows.map((row) => facetAt(row, facet)))].sort(inOrder);
  const systems = store.system.values;
  const lines = systems.map((name) => values.map((value) => cellOf(metric, rows.filter((row) => systemAt(row) === name && facetAt(row, facet) === value))));
  const [width, height] = [widthOf(place), 300];
  const numbers = values.map(Number);
  const pad = (Math.max(...numbers) - Math.min(...numbers)) * 0.04;
  const [low, high] = domain(metric, lines.flat().map((cell) => cell.mean ?? 0));
  const x = { low: Math.min(...numbers) - pad, high: Math.max(...numbers) + pad, label: facet, text: String, ticks: numbers };
  const frame = axes(width, height, x, { low, high, label: metric, text: (value) => valueText(value, metric) });
  const parts = lines.flatMap((cells, at) => {
    const shift = (at - (systems.length - 1) / 2) * 3;
    const points = cells.map((cell, index) => ({ cell, x: frame.atX(numbers[index]) + shift })).filter(({ cell }) => cell.mean !== null);
    const whisker = ({ cell, x: middle }) => {
      if (!cell.ci95) return [];
      const [top, bottom] = [frame.atY(cell.ci95[1]), frame.atY(cell.ci95[0])];
      return [svg("path", { class: `whisker ${hue(at)}`, d: `M${middle - 4} ${top}h8M${middle} ${top}V${bottom}M${middle - 4} ${bottom}h8` })];
    };
    const path = points.map(({ cell, x: left }) => `${left},${frame.atY(cell.mean)}`).join(" ");
    return [svg("polyline", { class: `line ${hue(at)}`, points: path }), ...points.flatMap(whisker), ...points.map(({ cell, x: left }) => mark(at, left, frame.atY(cell.mean)))];
  });
  const title = `${metric} over ${facet}`;
  const table = values.map((value, index) => [value, ...lines.map((cells) => cellText(cells[index], metric))]);
  return figure(plainly(title), drawing(width, height, `${title}, one line a system, with 95 % intervals`, ...frame.parts, ...parts), systems, [facet, ...systems], table);
}

/** The primary metric with the most outcomes, for each value of a facet. */
function spokes(facet) {
  const counts = new Map();
  for (let row = 0; row < store.rows; row += 1) {
    const value = facetAt(row, facet);
    const metric = primaryAt(row);
    if (value === null || metric === null || statusAt(row) === "skipped" || store.apart.has(testbedAt(row)?.nodeid)) continue;
    const mine = counts.get(value) ?? new Map();
    counts.set(value, mine.set(metric, (mine.get(metric) ?? 0) + 1));
  }
  return [...counts].sort(([one], [other]) => inOrder(one, other)).map(([value, metrics]) => ({ value, metric: [...metrics].sort((one, other) => other[1] - one[1])[0][0] }));
}

function drawRadar({ facet }, place) {
  const corners = spokes(facet);
  const systems = store.system.values;
  const cells = systems.map((name) => corners.map(({ value, metric }) => cellOf(metric, cohort(metric, "primary", [name]).filter((row) => facetAt(row, facet) === value))));
  const title = `The metric that decides each ${facet}`;
  const table = corners.map(({ value, metric }, at) => [value, plainly(metric) + (isLower(metric) ? " (low is better)" : ""), ...cells.map((line) => cellText(line[at], metric))]);
  const shown = corners.length < SIDES ? el("p", {}, "A radar takes three values or more; the table has the numbers.") : radar(corners, cells, title, widthOf(place));
  return figure(plainly(title), shown, systems, [facet, "metric", ...systems], table);
}

function radar(corners, cells, title, width) {
  const [height, middle, size] = [320, width / 2, Math.max(60, Math.min(115, width / 2 - 94))];
  const at = (index, share) => {
    const angle = (index / corners.length) * 2 * Math.PI - Math.PI / 2;
    return [middle + Math.cos(angle) * size * share, height / 2 + Math.sin(angle) * size * share];
  };
  const ring = (share) => svg("polygon", { class: "grid ring", points: corners.map((_, index) => at(index, share).join(",")).join(" ") });
  const parts = [0.25, 0.5, 0.75, 1].map(ring);
  parts.push(...[0.5, 1].map((share) => svg("text", { class: "tick start", x: middle + 4, y: height / 2 - size * share + 12 }, share.toFixed(1))));
  corners.forEach(({ value, metric }, index) => {
    const [x, y] = at(index, 1);
    const [left, top] = at(index, 1.13);
    const side = Math.abs(left - middle) < 12 ? "middle" : left > middle ? "start" : "end";
    const room = side === "middle" ? width : side === "start" ? width - left : left;
    const most = Math.max(8, Math.floor(room / 6.8));
    const lines = [...wrapped(value, most).map((line) => ["label", line]), ...wrapped(isLower(metric) ? `1 − ${metric}` : metric, most).map((line) => ["tick", line])];
    const first = top - (side === "middle" && top < height / 2 ? lines.length - 1 : side === "middle" ? -1 : lines.length / 2 - 0.7) * 14;
    parts.push(svg("line", { class: "grid", x1: middle, y1: height / 2, x2: x, y2: y }),
      lines.map(([kind, line], at) => svg("text", { class: `${kind} ${side}`, x: left, y: first + at * 14 }, line)));
  });
  cells.forEach((line, system) => {
    const share = (cell, { metric }) => (isLower(metric) ? 1 - cell.mean : cell.mean); // better values are further out
    const points = line.map((cell, index) => (cell.mean === null ? null : at(index, share(cell, corners[index]))));
    const whole = points.every(Boolean);
    const known = points.filter(Boolean);
    if (known.length > 1) parts.push(svg(whole ? "polygon" : "polyline", { class: `${whole ? "area " : ""}line ${hue(system)}`, points: known.map((point) => point.join(",")).join(" ") }));
    parts.push(...known.map(([x, y]) => mark(system, x, y)));
  });
  return drawing(width, height, `${title}, one shape a system`, ...parts);
}

function priceOf(rows, price) {
  if (price.startsWith("latency")) return cellOf(price, rows).mean;
  const cell = cellOf(price === "cost" ? "cost_usd" : "tokens", rows);
  return cell.mean === null || !cell.n ? null : cell.mean / cell.n;
}

/** Whether one system is at least as good and as cheap as another, and better in one of them. */
function dominates(one, other, metric) {
  const sign = isLower(metric) ? -1 : 1;
  if (one.price === null || other.price === null || one.cell.mean === null || other.cell.mean === null) return false;
  const [cheaper, better] = [other.price - one.price, sign * (one.cell.mean - other.cell.mean)];
  return cheaper >= 0 && better >= 0 && (cheaper > 0 || better > 0);
}

const labelOf = (rows, facet) => [...new Set(rows.map((row) => facetAt(row, facet)).filter((value) => value !== null))].join("+") || "–";

function drawScatter({ price, metric }, place) {
  const [name, system] = [Object.fromEntries(PRICES)[price], store.system.values];
  const points = system.map((each) => {
    const rows = cohort(metric, "all", [each]);
    return { each, price: priceOf(rows, price), cell: cellOf(metric, rows) };
  });
  const known = points.filter((point) => point.price !== null && point.cell.mean !== null);
  const [width, height] = [widthOf(place), 300];
  const text = (value) => (price === "cost" ? dollars(value) : price === "token" ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const x = { low: 0, high: Math.max(...known.map((point) => point.price), 0) * 1.15 || 1, label: name, text };
  const frame = axes(width, height, x, { low: 0, high: 1, label: metric, text: (value) => value.toFixed(2) });
  const parts = known.flatMap((point) => {
    const at = system.indexOf(point.each);
    const [left, top] = [frame.atX(point.price), frame.atY(point.cell.mean)];
    const whisker = point.cell.ci95 && svg("path", { class: `whisker ${hue(at)}`, d: `M${left} ${frame.atY(point.cell.ci95[1])}V${frame.atY(point.cell.ci95[0])}` });
    return [whisker, mark(at, left, top, 6)].filter(Boolean);
  });
  const front = known.filter((point) => !known.some((other) => dominates(other, point, metric))).sort((one, other) => one.price - other.price);
  if (front.length > 1) parts.unshift(svg("polyline", { class: "front", points: front.map((point) => `${frame.atX(point.price)},${frame.atY(point.cell.mean)}`).join(" ") }));
  const title = `${metric} against ${name}`;
  const labels = ["workflow", "model"].filter((facet) => store.facets[facet]);
  const others = PRICES.filter(([key]) => key !== price);
  const shownAs = (key, value) => (value === null ? "unknown" : key === "cost" ? dollars(value) : key === "token" ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const table = points.map((point) => {
    const rows = cohort(metric, "all", [point.each]);
    const better = known.filter((other) => dominates(other, point, metric)).map((other) => other.each);
    return [point.each, point.price === null ? "unknown" : text(point.price), cellText(point.cell, metric),
      !known.includes(point) ? "–" : better.length ? `dominated by ${better.join(", ")}` : "front",
      ...labels.map((facet) => labelOf(rows, facet)), ...others.map(([key]) => shownAs(key, priceOf(rows, key)))];
  });
  const head = ["system", name, metric, "front", ...labels, ...others.map(([, label]) => label)];
  const shown = known.length ? drawing(width, height, `${title}, one point a system`, ...frame.parts, ...parts) : el("p", {}, "No system tells it of all its answers.");
  return figure(plainly(title), shown, system, head, table);
}

function drawCharts(place) {
  const byFacet = lined();
  const cards = [];
  if (LINES.some((facet) => byFacet.get(facet).length)) cards.push(curves(byFacet));
  const counts = new Map(SPOKES.map((facet) => [facet, spokes(facet).length]));
  const spoked = SPOKES.filter((facet) => counts.get(facet)).sort((one, other) => (counts.get(other) >= SIDES) - (counts.get(one) >= SIDES));
  if (spoked.length) cards.push(card("Radar", [["facet", "Over", () => spoked.map((name) => [name, name])]], drawRadar));
  const { primaries, others } = metricNames();
  const metrics = [...primaries, ...others].filter((name) => name !== GAIN).map((name) => [name, name]);
  if (metrics.length) cards.push(card("Time and cost against quality", [["price", "What it takes", () => PRICES], ["metric", "Quality", () => metrics]], drawScatter));
  replaced(place, cards.length ? el("div", { class: "cards" }, cards.map((each) => each.whole)) : el("p", {}, "Nothing was measured that they could show."));
  const fill = () => cards.forEach((each) => each.fill());
  fill();
  let width = place.clientWidth;
  addEventListener("resize", () => {
    if (place.clientWidth !== width) fill();
    width = place.clientWidth;
  });
}
