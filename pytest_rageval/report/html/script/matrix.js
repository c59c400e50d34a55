// The heat map: any metric over any two facets, or how it differs from the baseline or from another system.

const CIVIDIS = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
const DIVERGING = [[127, 59, 8], [179, 88, 6], [224, 130, 20], [253, 184, 99], [247, 247, 247], [146, 197, 222], [67, 147, 195], [33, 102, 172], [5, 48, 97]];
const MOST_ROWS = 300;
const MOST_COLS = 60;

/** The colour at a share (0..1) of a scale, as [red, green, blue]. */
function colour(scale, share) {
  const at = Math.min(1, Math.max(0, share)) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  return scale[low].map((part, index) => Math.round(part + (scale[low + 1][index] - part) * (at - low)));
}

const asRgb = (parts) => `rgb(${parts.join(", ")})`;

function luminance(parts) {
  const [red, green, blue] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever can be read on a colour: the contrast is 4.58 or more on any. */
const inkOn = (parts) => (luminance(parts) > 0.179 ? "#000" : "#fff");

/** The matrix of a view as values: rows under their groups, columns, cells, margins. */
function matrixOf(view) {
  const systems = view.minus.startsWith("system:") ? [view.system, view.minus.slice(7)] : view.system ? [view.system] : [];
  const rows = cohort(view.metric, view.of, systems);
  const above = `${view.rows}_1`;
  const groupedRows = rows.some((row) => facetAt(row, above) !== null);
  const place = (row) => [groupedRows ? (facetAt(row, above) ?? "-") : "-", facetAt(row, view.rows) ?? "-"];
  const column = (row) => facetAt(row, view.cols) ?? "-";
  const cell = (of) => {
    if (view.minus === "baseline") return fromResults(view, of) ?? againstBaseline(view.metric, of);
    if (view.minus) return againstSystem(view.metric, of, view.minus.slice(7));
    return cellOf(view.metric, of);
  };
  const told = (groups) => new Map([...groups].map(([key, of]) => [key, cell(of)]));
  const key = (...parts) => JSON.stringify(parts);
  const byRow = grouped(rows, (row) => key(...place(row)));
  const names = [...byRow.keys()].map((name) => JSON.parse(name));
  names.sort((one, other) => inOrder(one[0], other[0]) || inOrder(one[1], other[1]));
  const cols = [...new Set(rows.map(column))].sort(inOrder);
  const shownRows = names.slice(0, MOST_ROWS);
  const shownCols = cols.slice(0, MOST_COLS);
  const inner = told(grouped(rows, (row) => key(...place(row), column(row))));
  const rowMargin = told(byRow);
  const colMargin = told(grouped(rows, column));
  const groupInner = groupedRows ? told(grouped(rows, (row) => key(place(row)[0], column(row)))) : new Map();
  const groupMargin = groupedRows ? told(grouped(rows, (row) => place(row)[0])) : new Map();
  return {
    rows: shownRows.map((name) => ({
      group: name[0],
      name: name[1],
      cells: shownCols.map((col) => inner.get(key(...name, col)) ?? null),
      margin: rowMargin.get(key(...name)),
    })),
    groups: new Map([...groupMargin].map(([name, margin]) => [name, { margin, cells: shownCols.map((col) => groupInner.get(key(name, col)) ?? null) }])),
    cols: shownCols.map((col) => ({ name: col, margin: colMargin.get(col) })),
    total: cell(rows),
    left: [names.length - shownRows.length, cols.length - shownCols.length],
    above,
  };
}

/** The difference to the baseline that results.json itself has for just these cases, with its own interval and test. */
function fromResults(view, rows) {
  const pairs = new Set(rows.filter((row) => store.before[view.metric]?.[row] != null && valueAt(row, view.metric) !== null).map((row) => unitOf(row)));
  const found = store.comparisons.find((each) => {
    if (each.metric !== view.metric || each.system !== view.system || each.n !== pairs.size) return false;
    if (!rows.every((row) => named(store.testbed, row) === each.testbed)) return false;
    return Object.entries(each.slice).every(([facet, value]) => rows.every((row) => facetAt(row, facet) === value));
  });
  if (!found || found.delta === null) return null;
  const told = { mean: found.delta, n: found.n, unscored: new Set(rows.map((row) => unitOf(row))).size - found.n, ci95: found.ci95 };
  return { ...told, ...(found.n === found.n_pairs ? {} : { cases: found.n_pairs }), sure: isSure(found) };
}

/** Whether a comparison's test, corrected over all cells, takes a change for no noise. */
const isSure = (each) => each.p_holm !== null && each.p_holm <= store.alpha && each.delta !== 0;

/** How cells are coloured: a share of a scale for a mean, and what stands at its ends. */
function scaleOf(view, matrix) {
  const means = matrix.rows.flatMap((row) => row.cells).filter((cell) => cell && cell.mean !== null).map((cell) => cell.mean);
  const signed = Boolean(view.minus) || view.metric === GAIN;
  const lower = isLower(view.metric);
  if (signed) {
    const far = Math.max(0.1, ...means.map(Math.abs));
    const ends = [`${valueText(-far, view.metric, true)} ${lower ? "better" : "worse"}`, `${valueText(far, view.metric, true)} ${lower ? "worse" : "better"}`];
    return { colours: DIVERGING, signed, lower, ends, tested: view.minus === "baseline", share: (mean) => (lower ? 0.5 - mean / far / 2 : 0.5 + mean / far / 2) };
  }
  const share = isPseudo(view.metric) && view.metric !== "error_rate";
  const [low, high] = share ? [Math.min(...means, Infinity), Math.max(...means, -Infinity)] : [0, 1];
  const width = high > low ? high - low : 1;
  const ends = means.length ? [valueText(low, view.metric), valueText(high, view.metric)] : ["", ""];
  return { colours: CIVIDIS, signed, lower, ends, share: (mean) => (lower ? 1 - (mean - low) / width : (mean - low) / width) };
}

function legendOf(scale) {
  const stops = [...Array(9).keys()].map((at) => svg("stop", { offset: `${(at / 8) * 100}%`, "stop-color": asRgb(colour(scale.colours, scale.lower ? 1 - at / 8 : at / 8)) }));
  const bar = svg("svg", { class: "ramp", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("defs", {}, svg("linearGradient", { id: "ramp" }, stops)),
    svg("rect", { width: "100", height: "8", fill: "url(#ramp)" }));
  return el("p", { class: "legend" }, el("span", {}, scale.ends[0]), bar, el("span", {}, scale.ends[1]),
    el("span", { class: "key few" }, `dashed: fewer than ${FEW} cases`),
    scale.signed ? el("span", {}, scale.tested ? "! no noise by the comparison's test, corrected over its cells; of other cells the interval leaves out 0" : "! its interval leaves out 0") : el("span", {}, scale.lower ? "bright is low, which is better" : "bright is high"));
}

/** A cell of the table; `where` are the facets that the case browser is to show when it is pressed. */
function matrixCell(cell, view, scale, where, kind) {
  if (!cell) return el("td", { class: "none" }, el("span", { class: "hidden" }, "no case"), el("span", { "aria-hidden": "true" }, "–"));
  const few = isFew(cell, view.metric);
  const apart = scale.signed && (cell.sure ?? (cell.ci95 && !(cell.ci95[0] <= 0 && cell.ci95[1] >= 0)));
  const counts = `n ${cell.n.toLocaleString("en")}${cell.cases === undefined ? "" : ` of ${cell.cases}`}${cell.unscored ? ` · ${cell.unscored} unscored` : ""}`;
  const exact = { "data-mean": cell.mean, "data-n": cell.n, "data-unscored": cell.unscored, "data-ci95": cell.ci95?.join(" ") };
  const press = el("button", { type: "button", click: () => showCases(view, where), ...exact },
    el("b", {}, cell.mean === null ? "no value" : valueText(cell.mean, view.metric, scale.signed), apart ? "!" : "", few ? el("span", { class: "hidden" }, ", few cases") : null),
    el("span", {}, counts),
    cell.ci95 ? el("span", {}, intervalText(cell.ci95, scale.signed)) : null);
  if (cell.mean !== null) {
    const parts = colour(scale.colours, scale.share(cell.mean));
    press.style.backgroundColor = asRgb(parts);
    press.style.color = inkOn(parts);
  }
  return el("td", { class: [kind, few ? "few" : ""].join(" ").trim() || false }, press);
}

function macroOf(cells) {
  const means = cells.map((cell) => cell?.mean ?? null);
  return means.length && !means.includes(null) ? average(means) : null;
}

const macroCell = (cells, view, scale) => {
  const mean = macroOf(cells);
  return el("td", { class: "macro" }, mean === null ? "–" : valueText(mean, view.metric, scale.signed));
};

function matrixTable(view, matrix) {
  const scale = scaleOf(view, matrix);
  const cellAt = (cell, where, kind = "") => matrixCell(cell, view, scale, where, kind);
  const body = [];
  let group = null;
  for (const row of matrix.rows) {
    const over = matrix.groups.get(row.group);
    if (over && row.group !== group) {
      const where = { [matrix.above]: row.group };
      body.push(el("tr", { class: "group" }, el("th", { scope: "row" }, data(row.group)),
        over.cells.map((cell, at) => cellAt(cell, { ...where, [view.cols]: matrix.cols[at].name })),
        cellAt(over.margin, where, "margin"), el("td", { class: "macro" })));
    }
    group = row.group;
    const where = { ...(over ? { [matrix.above]: row.group } : {}), [view.rows]: row.name };
    body.push(el("tr", {}, el("th", { scope: "row", class: over ? "under" : false }, data(row.name)),
      row.cells.map((cell, at) => cellAt(cell, { ...where, [view.cols]: matrix.cols[at].name })),
      cellAt(row.margin, where, "margin"), macroCell(row.cells, view, scale)));
  }
  const head = el("tr", {}, el("th", { scope: "col" }, data(view.rows), " \\ ", data(view.cols)),
    matrix.cols.map((col) => el("th", { scope: "col" }, data(col.name))),
    el("th", { scope: "col" }, "all (micro)"), el("th", { scope: "col" }, "macro"));
  const foot = [
    el("tr", {}, el("th", { scope: "row" }, "all (micro)"),
      matrix.cols.map((col) => cellAt(col.margin, { [view.cols]: col.name }, "margin")),
      cellAt(matrix.total, {}, "margin"), el("td", { class: "macro" })),
    el("tr", {}, el("th", { scope: "row" }, "macro"),
      matrix.cols.map((_, at) => macroCell(matrix.rows.map((row) => row.cells[at]), view, scale)), el("td", { class: "macro" }),
      macroCell(matrix.rows.flatMap((row) => row.cells), view, scale)),
  ];
  return [legendOf(scale), scrolling("The matrix as a table", el("table", { class: "heat" },
    el("caption", {}, captionOf(view)), el("thead", {}, head), el("tbody", {}, body), el("tfoot", {}, foot)))];
}

function captionOf(view) {
  const minus = view.minus === "baseline" ? " minus the baseline" : view.minus ? [" minus ", data(view.minus.slice(7))] : "";
  return [data(view.metric), " over ", data(view.rows), " × ", data(view.cols), view.system ? [", ", data(view.system)] : ", all systems", minus];
}

/** The view that results.json was drawn with: its metric, else the one that decides the most. */
function firstView() {
  const { primaries, others } = metricNames();
  const wanted = store.view.metric;
  const metric = wanted ?? primaries[0] ?? others[0] ?? "n";
  const of = wanted === null && primaries.includes(metric) ? "primary" : "all";
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
  const facets = store.facetNames.map((name) => [name, name]);
  const of = [...(primaries.includes(view.metric) ? [["primary", "testbeds that it decides"]] : []), ["all", "all testbeds that have it"],
    ...store.testbeds.filter((each) => isPseudo(view.metric) || each.metrics.includes(view.metric)).map((each) => [`testbed:${each.nodeid}`, each.name])];
  const minus = [["", "its value"],
    ...(store.before[view.metric] && view.system ? [["baseline", "difference to the baseline"]] : []),
    ...(isPseudo(view.metric) || !view.system ? [] : store.system.values.filter((name) => name !== view.system).map((name) => [`system:${name}`, `difference to ${name}`]))];
  return { metrics: metrics.map((name) => [name, name]), facets, of, minus, systems: [["", "all together"], ...store.system.values.map((name) => [name, name])] };
}

function drawMatrix(place) {
  let view = firstView();
  const controls = el("div", { class: "controls", role: "group", "aria-label": "What the matrix shows" });
  const drawn = el("div", {});
  const change = (name) => (value) => {
    const label = document.activeElement?.closest?.(".choice")?.firstChild.textContent;
    view = { ...view, [name]: value };
    draw();
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
    replaced(drawn, matrix.rows.length ? matrixTable(view, matrix) : el("p", {}, "Nothing was measured that it could show."), left);
  };
  draw();
  replaced(place, controls, drawn);
}
