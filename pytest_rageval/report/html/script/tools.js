// What a reader takes along: a command, a case as Markdown, a link, the listed rows; and the keys of the page.

/** Copy a text; the button says whether it worked. */
async function copied(press, text) {
  const label = press.textContent;
  try {
    await navigator.clipboard.writeText(text);
    press.textContent = "copied";
  } catch { // a page from a file may not write to the clipboard
    const field = el("textarea", { "aria-label": label, rows: "4", readonly: "" });
    field.value = text;
    press.after(field);
    field.select();
    press.textContent = document.execCommand("copy") ? "copied" : "copy it from here";
    if (press.textContent === "copied") field.remove();
    press.focus();
  }
  setTimeout(() => { press.textContent = label; }, 2000);
}

const copyButton = (label, text) => button(label, (event) => copied(event.currentTarget, text()));

/** A text between single quotes for a shell. */
const inShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A text of the data inside Markdown: a block of code longer than any run of backticks in it. */
function fenced(text) {
  const fence = "`".repeat(Math.max(3, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))));
  return `${fence}text\n${text}\n${fence}`;
}

/** A case as the Markdown of an issue. */
function asIssue(row, outcome, instance, was) {
  const section = (title, text) => (text ? [`**${title}**`, "", fenced(text), ""] : []);
  const gold = (instance.gold ?? []).map((slot) => slot.join(" or ")).join("\n");
  const scores = Object.entries(outcome.scores).map(([name, score]) => `${name} ${score.value === null ? "no value" : valueText(score.value, name)}`);
  return [...section("Case", outcome.nodeid), ...section("Question", outcome.question ?? instance.question), ...section("Wanted", gold), ...section("Was", was?.text),
    ...section("Now", outcome.answer?.text), ...section("Error", outcome.error), ...section("Scores", scores.join(", ")),
    ...section("To run it", `pytest ${inShell(outcome.nodeid)}`)].join("\n");
}

function takePart(row, outcome, instance, was) {
  return el("div", { class: "controls", role: "group", "aria-label": "Copy" },
    copyButton("copy pytest command", () => `pytest ${inShell(outcome.nodeid)}`),
    copyButton("copy play command", () => `rageval play --run latest --case ${inShell(outcome.nodeid)}`),
    copyButton("copy as issue", () => asIssue(row, outcome, instance, was)),
    copyButton("copy link", () => location.href.split("#")[0] + caseAddress(row)));
}

/** A field of a CSV file; a leading sign gets an apostrophe, or a spreadsheet would compute it. */
function csvField(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The listed rows as CSV: names, state, facets and every score. */
function asCsv() {
  const metrics = Object.keys(store.scores);
  const head = ["nodeid", "case", "system", "status", "missed", ...store.facetNames, ...metrics];
  const lines = browser.hits.map((row) => [store.nodeid[row], caseAt(row), systemAt(row), statusAt(row), isMissed(row, browser.filters), ...store.facetNames.map((name) => facetAt(row, name)), ...metrics.map((name) => scoreAt(row, name))]);
  return [head, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n");
}

function download() {
  const address = URL.createObjectURL(new Blob(["\ufeff", asCsv()], { type: "text/csv" }));
  el("a", { href: address, download: "cases.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const KEYS = [["/", "search"], ["j", "next case"], ["k", "case before"], ["n", "next question"], ["?", "these keys"]];

/** Handle the keys of the page, except while a text is typed. */
function keyed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const at = browser.hits.indexOf(browser.selected);
  const acts = {
    "/": () => document.getElementById("search")?.focus(),
    j: () => select(Math.min(browser.hits.length - 1, at + 1), "step"),
    k: () => select(Math.max(0, at - 1), "step"),
    n: () => select(nextQuestion(at), "step"),
    "?": () => document.getElementById("keys").showModal(),
  };
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}

function nextQuestion(at) {
  const next = browser.hits.findIndex((row, place) => place > at && (at < 0 || questionKey(row) !== questionKey(browser.hits[at])));
  return next < 0 ? at : next;
}

/** Make the columns of the page's tables sortable by a button in each head. */
function sortable() {
  for (const table of document.querySelectorAll("table.plain[role=table]")) {
    for (const head of table.tHead.rows[0].cells) {
      if (!head.textContent) continue;
      const press = button([...head.childNodes], () => sortBy(table, head), { class: "sort" });
      head.replaceChildren(press);
    }
  }
}

function sortBy(table, head) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const textIn = (row) => row.cells[head.cellIndex].textContent.trim();
  const valueIn = (row) => Number.parseFloat(textIn(row).replaceAll(",", "").replace("−", "-").replace(/^[[<p ]+/, ""));
  const rows = [...table.tBodies[0].rows];
  const turn = down ? -1 : 1;
  const compare = (one, other) => {
    const [left, right] = [valueIn(one), valueIn(other)];
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right) || turn * (textIn(one) < textIn(other) ? -1 : textIn(one) > textIn(other) ? 1 : 0);
    return turn * (left - right);
  };
  table.tBodies[0].append(...rows.sort(compare));
}

function tools() {
  sortable();
  const close = button("Close", () => document.getElementById("keys").close());
  document.body.append(el("dialog", { id: "keys", "aria-label": "Keys" }, facts(KEYS), close));
  document.addEventListener("keydown", keyed);
}
