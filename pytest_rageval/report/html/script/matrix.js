// The heat map: a metric over two facets, or its difference from the baseline or another system.

const MOST_ROWS = 300;
const MOST_COLS = 60;
const NOTHING = "Nothing was measured that it could show.";

/** The matrix of a view as values: grouped rows, columns, cells, margins. */
function matrixOf(view) {
  const systems = view.minus.startsWith("system:") ? [view.system, view.minus.slice(7)] : view.system ? [view.system] : [];
  const rows = cohort(view.metric, view.of, systems, [view.rows, view.cols]);
  const above = `${view.rows}_1`;
  const groupedRows = rows.some((row) => facetAt(row, above) !== null);
  const place = (row) => [groupedRows ? (facetAt(row, above) ?? "-") : "-", facetAt(row, view.rows) ?? "-"];
  const column = (row) => facetAt(row, view.cols) ?? "-";
  const cell = (of) => {
    if (view.minus === "baseline") return fromResults(view, of) ?? againstBaseline(view.metric, of);
    if (view.minus) return againstSystem(view.metric, of, view.minus.slice(7));
    return cellOf(view.metric, of);
  };
  const cellsOf = (groups) => new Map([...groups].map(([key, of]) => [key, cell(of)]));
  const key = (...parts) => JSON.stringify(parts);
  const byRow = grouped(rows, (row) => key(...place(row)));
  const names = [...byRow.keys()].map((name) => JSON.parse(name));
  names.sort((one, other) => inOrder(one[0], other[0]) || inOrder(one[1], other[1]));
  const cols = [...new Set(rows.map(column))].sort(inOrder);
  const shownRows = names.slice(0, MOST_ROWS);
  const shownCols = cols.slice(0, MOST_COLS);
  const inner = cellsOf(grouped(rows, (row) => key(...place(row), column(row))));
  const rowMargin = cellsOf(byRow);
  const colMargin = cellsOf(grouped(rows, column));
  const groupInner = groupedRows ? cellsOf(grouped(rows, (row) => key(place(row)[0], column(row)))) : new Map();
  const groupMargin = groupedRows ? cellsOf(grouped(rows, (row) => place(row)[0])) : new Map();
  const macros = (cells, by, n) =>
    new Map([...grouped([...cells.keys()], (each) => by(JSON.parse(each)))].map(([name, keys]) => [name, macroOf(keys.map((each) => cells.get(each)), n)]));
  const rowMacro = macros(inner, (parts) => key(parts[0], parts[1]), cols.length);
  const colMacro = macros(inner, (parts) => parts[2], names.length);
  const groupMacro = macros(groupInner, (parts) => parts[0], cols.length);
  return {
    rows: shownRows.map((name) => ({
      group: name[0],
      name: name[1],
      cells: shownCols.map((col) => inner.get(key(...name, col)) ?? null),
      margin: rowMargin.get(key(...name)),
      macro: rowMacro.get(key(...name)),
    })),
    groups: new Map([...groupMargin].map(([name, margin]) => [name, { margin, macro: groupMacro.get(name), cells: shownCols.map((col) => groupInner.get(key(name, col)) ?? null) }])),
    cols: shownCols.map((col) => ({ name: col, margin: colMargin.get(col), macro: colMacro.get(col) })),
    total: cell(rows),
    macro: { ofCols: macroOf([...colMargin.values()], cols.length), ofRows: macroOf([...rowMargin.values()], names.length), ofCells: macroOf([...inner.values()], names.length * cols.length) },
    left: [names.length - shownRows.length, cols.length - shownCols.length],
    above,
  };
}

/** The mean of the means of `n` cells, each counted once; null if one is missing. */
function macroOf(cells, n) {
  const means = present(cells.map((cell) => cell.mean));
  return means.length && means.length === n ? average(means) : null;
}

/** The comparison of results.json for exactly these cases, with its interval and test; else null. */
function fromResults(view, rows) {
  const pairs = new Set(rows.filter((row) => store.before[view.metric]?.[row] != null && valueAt(row, view.metric) !== null).map((row) => unitOf(row)));
  const comparison = store.comparisons.find((each) => {
    if (each.metric !== view.metric || each.system !== view.system || (each.n ?? each.n_pairs) !== pairs.size) return false;
    if (!rows.every((row) => textOf(store.testbed, row) === each.testbed)) return false;
    return Object.entries(each.slice).every(([facet, value]) => rows.every((row) => facetAt(row, facet) === value));
  });
  if (!comparison || comparison.delta === null) return null;
  const n = pairs.size;
  const change = { mean: comparison.delta, n, unscored: new Set(rows.map((row) => unitOf(row))).size - n, ci95: comparison.ci95 };
  return { ...change, ...(n === comparison.n_pairs ? {} : { cases: comparison.n_pairs }), sure: isSure(comparison) };
}

/** Whether a change is significant after correction over all cells. */
const isSure = (each) => each.p_holm !== null && each.p_holm <= store.alpha && each.delta !== 0;

/** The view of results.json: its metric, else the primary metric with the most outcomes. */
function firstView() {
  const { primaries, others } = metricNames();
  const metricOfView = store.view.metric;
  const metric = metricOfView ?? primaries[0] ?? others[0] ?? "n";
  const of = metricOfView === null && primaries.includes(metric) ? "primary" : "all";
  const rows = cohort(metric, of, []);
  const has = (facet) => rows.some((row) => facetAt(row, facet) !== null);
  return {
    metric,
    of,
    system: store.system.values[0] ?? "",
    rows: store.view.rows ?? (has("topic") ? "topic" : "dataset"),
    cols: store.view.cols ?? (has("task") ? "task" : "ability"),
    minus: "",
  };
}

function matrixOptions(view) {
  const { primaries, others } = metricNames();
  const metrics = [...primaries, ...others, ...PSEUDO];
  const facets = [...new Set([...store.facetNames, view.rows, view.cols])].map((name) => [name, name]);
  const of = [...(primaries.includes(view.metric) ? [["primary", "testbeds that it decides"]] : []), ["all", "all testbeds that have it"],
    ...store.testbeds.filter((each) => isPseudo(view.metric) || each.metrics.includes(view.metric)).map((each) => [`testbed:${each.nodeid}`, each.name])];
  const minus = [["", "its value"],
    ...(store.before[view.metric] && view.system ? [["baseline", "difference to the baseline"]] : []),
    ...(isPseudo(view.metric) || !view.system ? [] : store.system.values.filter((name) => name !== view.system).map((name) => [`system:${name}`, `difference to ${name}`]))];
  return { metrics: metrics.map((name) => [name, name]), facets, of, minus, systems: [["", "all together"], ...store.system.values.map((name) => [name, name])] };
}

let openMatrix = () => {};

function drawMatrix(place) {
  if (!store.rows) {
    replaced(place, el("p", {}, NOTHING));
    return;
  }
  const given = (hash) => Object.fromEntries(partsOf(hash).filter(([name]) => Object.hasOwn(firstView(), name)));
  let view = firstView();
  openMatrix = (hash) => {
    view = { ...firstView(), ...given(hash) };
    draw();
    document.getElementById("matrix").scrollIntoView();
  };
  const controls = el("div", { class: "controls", role: "group", "aria-label": "What the matrix shows" });
  const drawn = el("div", {});
  const change = (name) => (value) => {
    const label = document.activeElement?.closest?.(".choice")?.firstChild.textContent;
    view = { ...view, [name]: value };
    draw();
    address(`#matrix&${Object.entries(view).map((pair) => pair.map(written).join("=")).join("&")}`, "jump");
    for (const each of controls.children) if (each.firstChild.textContent === label) each.lastChild.focus();
  };
  const draw = () => {
    const options = matrixOptions(view);
    if (!options.of.some(([value]) => value === view.of)) view.of = options.of[0][0];
    if (!options.minus.some(([value]) => value === view.minus)) view.minus = "";
    const matrix = matrixOf(view);
    const left = matrix.left.some((n) => n > 0) && el("p", {}, `${matrix.left[0]} more rows and ${matrix.left[1]} more columns are not shown`);
    replaced(controls,
      choice("Metric", options.metrics, view.metric, change("metric")), choice("Of", options.of, view.of, change("of")),
      choice("System", options.systems, view.system, change("system")), choice("Rows", options.facets, view.rows, change("rows")),
      choice("Columns", options.facets, view.cols, change("cols")), choice("Show", options.minus, view.minus, change("minus")));
    replaced(drawn, matrix.rows.length ? matrixTable(view, matrix) : el("p", {}, NOTHING), left);
  };
  draw();
  replaced(place, controls, drawn);
}
