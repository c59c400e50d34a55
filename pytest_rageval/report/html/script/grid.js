// A table of buttons with one tab stop: arrow keys move between buttons and skip cells without one.

function asGrid(table) {
  const buttonAt = (row, col) => table.rows[row]?.cells[col]?.querySelector("button");
  const buttons = [...table.querySelectorAll("button")];
  let stop = buttons[0];
  const focus = (press) => {
    stop.tabIndex = -1;
    stop = press;
    stop.tabIndex = 0;
    stop.focus();
  };
  const beside = (cell, down, right) => {
    let [row, col] = [cell.parentNode.rowIndex + down, cell.cellIndex + right];
    while (table.rows[row]?.cells[col] && !buttonAt(row, col)) [row, col] = [row + down, col + right];
    return buttonAt(row, col);
  };
  const target = (event) => {
    const cell = event.target.closest("td");
    const line = event.ctrlKey ? buttons : [...cell.parentNode.querySelectorAll("button")];
    const keys = { ArrowUp: () => beside(cell, -1, 0), ArrowDown: () => beside(cell, 1, 0), ArrowLeft: () => beside(cell, 0, -1), ArrowRight: () => beside(cell, 0, 1), Home: () => line[0], End: () => line.at(-1) };
    return Object.hasOwn(keys, event.key) ? keys[event.key]() : undefined;
  };
  table.setAttribute("role", "grid");
  table.addEventListener("keydown", (event) => {
    const press = target(event);
    if (!press) return;
    event.preventDefault();
    focus(press);
  });
  table.addEventListener("click", (event) => {
    const press = event.target.closest("button");
    if (press) focus(press);
  }, { capture: true });
  stop.tabIndex = 0;
  return table;
}
