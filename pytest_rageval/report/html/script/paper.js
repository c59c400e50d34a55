// Printing: open the parts of the account, and split tables that are wider than the paper.

const PAPER_COLS = 9; // columns of values that fit a sheet

/** Split a table by columns; each part repeats the row heads. */
function pieces(table) {
  const cols = table.rows[0].cells.length - 1;
  const count = Math.ceil(cols / PAPER_COLS);
  return [...Array(count).keys()].map((piece) => {
    const part = table.cloneNode(true);
    for (const row of part.rows) {
      for (let at = row.cells.length - 1; at > 0; at -= 1) {
        if (Math.floor((at - 1) / PAPER_COLS) !== piece) row.cells[at].remove();
      }
    }
    part.caption.append(` (${piece + 1} of ${count})`);
    return part;
  });
}

function papers() {
  let folded = [];
  let pasted = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll(".told details:not([open])")];
    for (const each of folded) each.open = true;
    for (const table of document.querySelectorAll("table.heat")) {
      if (table.rows[0].cells.length - 1 <= PAPER_COLS) continue;
      const parts = pieces(table);
      table.before(...parts);
      table.hidden = true;
      pasted.push([table, parts]);
    }
  });
  addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
    for (const [table, parts] of pasted) {
      table.hidden = false;
      for (const part of parts) part.remove();
    }
    [folded, pasted] = [[], []];
  });
}
