// The page of `rageval play`: what is typed goes to the server at once, questions are asked, lists are searched.
import { followed, later, planSaving, unescaped } from "/assets/asking.js";
import { el, data, replaced, say, send } from "/assets/site.js";

const state = document.getElementById("state");
const draft = document.getElementById("draft");
const progress = document.getElementById("progress");
let version = Number(state.dataset.version);
let waiting = Promise.resolve();
let storing = 0;
let asking = "";

/** Store a change of the draft; changes go one after the other, each with the version of the one before. */
function store(change) {
  storing += 1;
  waiting = waiting.then(async () => {
    try {
      ({ version } = await send("/api/draft", { version, ...change }, "PUT"));
      return true;
    } catch (error) {
      say(error.message);
      return false;
    } finally {
      storing -= 1;
    }
  });
  return waiting;
}

/** Follow a question until it is answered, then show the page anew. */
async function follow(response) {
  document.getElementById("ask").disabled = true;
  document.getElementById("stop").hidden = false;
  await followed(response, progress, (number) => (asking = number));
  location.assign("/");
}

function idle() {
  replaced(progress, null);
  document.getElementById("ask").disabled = false;
  document.getElementById("stop").hidden = true;
}

async function ask() {
  say("");
  try {
    const headers = { "Content-Type": "application/json" };
    await follow(await fetch("/api/ask", { method: "POST", headers, body: JSON.stringify({ draft: true }) }));
  } catch (error) {
    say(error.message);
    idle();
  }
}

function watchDraft() {
  const question = document.getElementById("question");
  const system = document.getElementById("system");
  const typed = later(() => store({ question: unescaped(question.value) }));
  question.addEventListener("input", typed.wait);
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) draft.requestSubmit();
  });
  system.addEventListener("change", () => store({ system: system.value }));
  document.getElementById("no-case").addEventListener("click", async () => {
    if (await store({ case: "" })) location.reload();
  });
  draft.addEventListener("submit", async (event) => {
    event.preventDefault();
    await typed.now();
    if (await store({ system: system.value, fresh: true })) await ask(); // with what the system finds itself
  });
  document.getElementById("stop").addEventListener("click", () => {
    send(`/api/ask/${asking}`, {}, "DELETE").catch((error) => say(error.message));
  });
  const [running] = state.dataset.asking.split(" ").filter(Boolean);
  if (running) fetch(`/api/ask/${running}`).then(follow).catch((error) => (say(error.message), idle()));
}

/** The passages of the draft: leave out, move by mouse and by keyboard, edit, add, ask again. */
function watchPassages() {
  const section = document.getElementById("passages");
  const list = section.querySelector("ol");
  const described = (item) => ({
    key: Number(item.dataset.keyNumber),
    on: item.querySelector(".on").checked,
    ...(item.dataset.touched ? { text: unescaped(item.querySelector(".passage-text").value) } : {}),
    ...(item.querySelector(".role") ? { role: item.querySelector(".role").value } : {}),
  });
  const all = () => [...list.children].map(described);
  const keep = () => {
    document.getElementById("fresh").hidden = false;
    return store({ passages: all() });
  };
  const typed = later(keep);
  const move = (item, by) => {
    const other = by < 0 ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (by < 0) other.before(item);
    else other.after(item);
    keep();
  };
  const added = async (passages) => {
    await typed.now();
    if (await store({ passages: [...all(), ...passages] })) location.reload();
  };
  for (const item of list.children) watchPassage(item, { keep, typed, move });
  list.addEventListener("dragover", (event) => {
    const dragged = list.querySelector(".dragged");
    const over = event.target.closest("li.passage");
    if (!dragged || !over) return;
    event.preventDefault();
    const { top, height } = over.getBoundingClientRect();
    if (over !== dragged) over[event.clientY < top + height / 2 ? "before" : "after"](dragged);
  });
  document.getElementById("again").addEventListener("click", async () => {
    await typed.now();
    if (await keep()) await ask();
  });
  document.getElementById("fresh").addEventListener("click", async () => {
    if (await store({ fresh: true })) await ask();
  });
  document.getElementById("shrink")?.addEventListener("click", (event) => shrink(event.target));
  document.getElementById("stop-shrink")?.addEventListener("click", () => {
    send(`/api/shrink?${new URLSearchParams({ case: caseName() })}`, {}, "DELETE").catch((error) => say(error.message));
  });
  watchAdding(added);
}

function watchPassage(item, { keep, typed, move }) {
  item.querySelector(".on").addEventListener("change", (event) => {
    item.classList.toggle("off", !event.target.checked);
    keep();
  });
  for (const [name, by] of [["up", -1], ["down", 1]]) {
    const press = item.querySelector(`.${name}`);
    press.addEventListener("click", () => (move(item, by), press.focus()));
  }
  item.addEventListener("keydown", (event) => {
    if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    const focused = document.activeElement;
    move(item, event.key === "ArrowUp" ? -1 : 1);
    focused.focus();
  });
  item.querySelector(".passage-text")?.addEventListener("input", () => {
    item.dataset.touched = "yes";
    typed.wait();
  });
  item.querySelector(".role")?.addEventListener("change", keep);
  const handle = item.querySelector(".handle");
  handle.addEventListener("mousedown", () => (item.draggable = true));
  item.addEventListener("dragstart", () => item.classList.add("dragged"));
  item.addEventListener("dragend", () => {
    item.classList.remove("dragged");
    item.draggable = false;
    keep();
  });
}

function watchAdding(added) {
  const hits = document.getElementById("hits");
  document.getElementById("searching").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { passages } = await send("/api/search", { query: new FormData(event.target).get("query") });
      replaced(hits, passages.map(({ score, ...passage }) => hit(passage, added)));
      if (!passages.length) replaced(hits, el("li", {}, "Nothing was found."));
    } catch (error) {
      say(error.message);
    }
  });
  document.getElementById("writing").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text").replace(/\r\n?/g, "\n");
    if (text.trim()) added([{ text }]);
  });
}

function hit(passage, added) {
  const press = el("button", { type: "button", class: "pick" }, el("b", {}, data(passage.title || passage.id)), el("span", {}, data(passage.text.slice(0, 200))));
  press.addEventListener("click", () => added([passage]));
  return el("li", {}, press);
}

function caseName() {
  return document.getElementById("of-case").dataset.case;
}

async function shrink(press) {
  const place = document.getElementById("shrunk");
  const stop = document.getElementById("stop-shrink");
  press.disabled = true;
  stop.hidden = false;
  replaced(place, el("p", { class: "quiet" }, "Searching the smallest context …"));
  try {
    const { lines } = await send("/api/shrink", { case: caseName() });
    replaced(place, lines.map((line) => el("p", {}, data(line))));
  } catch (error) {
    replaced(place, el("p", { class: "alert" }, data(error.message))); // beside the button, which may be far from the top
  }
  press.disabled = false;
  stop.hidden = true;
}

/** Save a case: gold, evidence marked in a passage, a file; first what would be written, then the file. */
function watchSaving() {
  const section = document.getElementById("save");
  const gold = document.getElementById("gold");
  const right = document.getElementById("right");
  const passages = document.getElementById("with-passages");
  const file = document.getElementById("file");
  const evidence = document.getElementById("evidence");
  const planned = document.getElementById("planned");
  const quotes = () => [...evidence.children].map((each) => ({ page: each.dataset.page, quote: unescaped(each.dataset.quote) }));
  const keep = () => {
    replaced(planned, null);
    return store({ answers: unescaped(gold.value), evidence: quotes(), file: file.value, with_passages: passages.checked });
  };
  const typed = later(keep);
  for (const each of [gold, file]) each.addEventListener("input", typed.wait);
  passages.addEventListener("change", keep);
  right.addEventListener("change", () => {
    if (right.checked) gold.value = document.getElementById("right-text").value;
    keep();
  });
  evidence.addEventListener("click", (event) => {
    const item = event.target.closest(".drop")?.closest("li");
    if (item) keep(item.remove());
  });
  document.getElementById("quote").addEventListener("click", () => quoted(evidence, passages, keep));
  document.getElementById("preview").addEventListener("click", async () => {
    await typed.now();
    const { case: name, answer } = section.dataset;
    if (await keep()) await planSaving({ kind: "record", draft: true, file: file.value, case: name, answer }, planned);
  });
}

/** Take the marked text of a passage as evidence; without a page, the passage itself is saved as a positive one. */
function quoted(evidence, passages, keep) {
  const selection = getSelection();
  const text = selection.toString().trim();
  const item = selection.anchorNode?.parentElement?.closest("li.passage");
  if (!text || !item || !item.contains(selection.focusNode)) {
    say("Mark a text inside one passage, then press the button again.");
    return;
  }
  say("");
  if (!item.dataset.page) {
    passages.checked = true;
    item.querySelector(".role").value = "positive";
    item.querySelector(".role").dispatchEvent(new Event("change"));
    say("This passage has no page, so the passages are saved with the case, and this one as positive.");
  } else {
    const drop = el("button", { type: "button", class: "drop", "aria-label": "Remove this evidence" }, "×");
    evidence.append(el("li", { "data-page": item.dataset.page, "data-quote": text }, el("q", {}, data(text)), " ", el("span", { class: "quiet" }, data(item.dataset.page)), " ", drop));
  }
  keep();
}

function watchSearch() {
  const form = document.getElementById("finding");
  const found = document.getElementById("found");
  const look = async () => {
    const response = await fetch(`/cases?${new URLSearchParams(new FormData(form))}`);
    found.innerHTML = await response.text(); // written by the server, with all data as text
  };
  document.addEventListener("submit", async (event) => {
    const field = event.target.elements.version;
    if (!field) return;
    field.value = version; // the draft may have changed since the form was drawn, on this page
    if (!storing) return;
    event.preventDefault();
    await waiting;
    field.value = version;
    event.target.submit();
  });
  const typed = later(look, 200);
  form.addEventListener("input", typed.wait);
  form.addEventListener("submit", (event) => (event.preventDefault(), look()));
  const section = document.getElementById("find");
  section.addEventListener("toggle", () => section.open && !found.childElementCount && look());
  if (section.open) look();
}

/** Look from time to time whether the project is read, and whether its code changed. */
async function watchProject() {
  const read = state.dataset.ready === "yes";
  try {
    const now = await (await fetch("/api/state")).json();
    if (!read && (now.ready || now.problem)) location.reload();
    document.getElementById("code-changed").hidden = !now.changed_code;
  } catch {
    return; // the server has ended
  }
  setTimeout(watchProject, read ? 5000 : 300);
}

if (draft) watchDraft();
if (document.getElementById("passages")) watchPassages();
if (document.getElementById("save")) watchSaving();
if (document.getElementById("finding")) watchSearch();
if (!document.querySelector("#state .alert")) watchProject();
