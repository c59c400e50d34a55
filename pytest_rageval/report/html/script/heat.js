// A matrix as a table of coloured cells.

const PLAIN_SCALE = [[247, 247, 247], [216, 230, 243], [172, 206, 232], [112, 170, 214], [54, 127, 186], [20, 84, 140]];
const DIVERGING = [[150, 28, 22], [196, 74, 64], [230, 138, 127], [249, 206, 200], [247, 247, 247], [203, 233, 214], [137, 203, 166], [66, 146, 101], [14, 100, 56]];

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

/** Black or white text for a background; the contrast is at least 4.58. */
const inkOn = (parts) => (luminance(parts) > 0.179 ? "#000" : "#fff");

/** The colour scale: a function from mean to share, and the labels of its ends. */
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
  return { colours: PLAIN_SCALE, signed, lower, ends, share: (mean) => (lower ? 1 - (mean - low) / width : (mean - low) / width) };
}

function legendOf(scale) {
  const stops = [...Array(9).keys()].map((at) => svg("stop", { offset: `${(at / 8) * 100}%`, "stop-color": asRgb(colour(scale.colours, scale.lower ? 1 - at / 8 : at / 8)) }));
  const bar = svg("svg", { class: "ramp", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("defs", {}, svg("linearGradient", { id: "ramp" }, stops)),
    svg("rect", { width: "100", height: "8", fill: "url(#ramp)" }));
  return el("p", { class: "legend" }, el("span", {}, scale.ends[0]), bar, el("span", {}, scale.ends[1]),
    el("span", { class: "key few" }, `dashed: fewer than ${FEW} cases`),
    scale.signed ? el("span", {}, scale.tested ? "! significant by the comparison's test, corrected over its cells; for other cells the interval leaves out 0" : "! its interval leaves out 0") : el("span", {}, scale.lower ? "dark is low, which is better" : "dark is high"),
    el("span", {}, "arrow keys go from cell to cell, Enter shows its cases"));
}

/** The number of values of a cell, and of cases if there are fewer. */
function countText({ n, cases, unscored }, minus = "") {
  const many = cases === undefined ? `n ${n.toLocaleString("en")}` : `${counted(n, store.facets.repeat && !minus ? "run" : "score")} of ${counted(cases, "case")}`;
  return unscored ? `${many} · ${unscored.toLocaleString("en")} unscored` : many;
}

/** A cell of the table; `where` are the facets that a click filters the cases by. */
function matrixCell(cell, view, scale, where, kind) {
  if (!cell) return el("td", { class: "none" }, el("span", { class: "hidden" }, "no case"), el("span", { "aria-hidden": "true" }, "–"));
  const few = isFew(cell, view.metric);
  const apart = scale.signed && (cell.sure ?? (cell.ci95 && !(cell.ci95[0] <= 0 && cell.ci95[1] >= 0)));
  const exact = { "data-mean": cell.mean, "data-n": cell.n, "data-unscored": cell.unscored, "data-ci95": cell.ci95?.join(" ") };
  const press = el("button", { type: "button", tabindex: "-1", click: () => showCases(view, where), ...exact },
    el("b", {}, cell.mean === null ? "no value" : valueText(cell.mean, view.metric, scale.signed), apart ? "!" : "", few ? el("span", { class: "hidden" }, ", few cases") : null),
    el("span", {}, countText(cell, view.minus)),
    cell.ci95 ? el("span", {}, intervalText(cell.ci95, scale.signed)) : null);
  if (cell.mean !== null) {
    const parts = colour(scale.colours, scale.share(cell.mean));
    press.style.backgroundColor = asRgb(parts);
    press.style.color = inkOn(parts);
  }
  return el("td", { class: [kind, few ? "few" : ""].join(" ").trim() || false }, press);
}

function matrixTable(view, matrix) {
  const scale = scaleOf(view, matrix);
  const isTotal = TOTALS.includes(view.metric); // sums have one margin
  const micro = isTotal ? "all" : "all (micro)";
  const cellAt = (cell, where, kind = "") => matrixCell(cell, view, scale, where, kind);
  const macroAt = (mean) => (isTotal ? null : el("td", { class: "macro" }, mean === null ? "–" : valueText(mean, view.metric, scale.signed)));
  const body = [];
  let group = null;
  for (const row of matrix.rows) {
    const over = matrix.groups.get(row.group);
    const above = over ? { [matrix.above]: row.group } : {};
    if (over && row.group !== group) {
      body.push(el("tr", { class: "group" }, el("th", { scope: "row" }, data(row.group)),
        over.cells.map((cell, at) => cellAt(cell, { ...above, [view.cols]: matrix.cols[at].name })),
        cellAt(over.margin, above, "margin"), macroAt(over.macro)));
    }
    group = row.group;
    const where = { ...above, [view.rows]: row.name };
    body.push(el("tr", {}, el("th", { scope: "row", class: over ? "under" : false }, data(row.name)),
      row.cells.map((cell, at) => cellAt(cell, { ...where, [view.cols]: matrix.cols[at].name })),
      cellAt(row.margin, where, "margin"), macroAt(row.macro)));
  }
  const head = el("tr", {}, el("th", { scope: "col" }, data(view.rows), " \\ ", data(view.cols)),
    matrix.cols.map((col) => el("th", { scope: "col" }, data(col.name))),
    el("th", { scope: "col" }, micro), isTotal ? null : el("th", { scope: "col" }, "macro"));
  const foot = [
    el("tr", {}, el("th", { scope: "row" }, micro),
      matrix.cols.map((col) => cellAt(col.margin, { [view.cols]: col.name }, "margin")),
      cellAt(matrix.total, {}, "margin"), macroAt(matrix.macro.ofCols)),
    isTotal ? null : el("tr", { class: "macros" }, el("th", { scope: "row" }, "macro"),
      matrix.cols.map((col) => macroAt(col.macro)), macroAt(matrix.macro.ofRows), macroAt(matrix.macro.ofCells)),
  ];
  const table = el("table", { class: "heat" }, el("caption", {}, captionOf(view)), el("thead", {}, head), el("tbody", {}, body), el("tfoot", {}, foot));
  return [legendOf(scale), el("div", { class: "scroll tall" }, asGrid(table))];
}

function captionOf(view) {
  const minus = view.minus === "baseline" ? " minus the baseline" : view.minus ? [" minus ", data(view.minus.slice(7))] : "";
  return [data(view.metric), " over ", data(view.rows), " × ", data(view.cols), view.system ? [", ", data(view.system)] : ", all systems", minus];
}
