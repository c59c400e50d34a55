// The page of a chain: edit values, show a prompt, run one action or all of them, save the file.
import { unescaped } from "/assets/asking.js";
import { el, data, replaced, say, send } from "/assets/site.js";

const chain = document.getElementById("chain");
const question = document.getElementById("chain-question");
const cards = [...document.querySelectorAll(".action")];
const outputs = Object.fromEntries(cards.flatMap((card) => {
  const output = card.querySelector(".output");
  return output ? [[card.dataset.action, JSON.parse(output.dataset.output)]] : [];
}));

/** The values that differ from the file. */
function edits() {
  return cards.flatMap((card) => [...card.querySelectorAll(".value")].filter((field) => field.value !== field.dataset.was).map((field) => {
    const { field: key, message } = field.dataset;
    const value = key === "k" && /^\d+$/.test(field.value) ? Number(field.value) : unescaped(field.value);
    return { action: card.dataset.action, key, value, ...(message === undefined ? {} : { message: Number(message) }) };
  }));
}

async function keep() {
  const { stale } = await send("/api/chain", { chain: chain.dataset.chain, question: question.value, edits: edits() }, "PUT");
  for (const card of cards) card.classList.toggle("stale", stale.includes(card.dataset.action));
}

function order(card, more = {}) {
  const before = Object.fromEntries(cards.slice(0, cards.indexOf(card)).flatMap(({ dataset: { action } }) => (outputs[action] ? [[action, outputs[action]]] : [])));
  return { chain: chain.dataset.chain, name: card.dataset.action, question: question.value, outputs: before, edits: edits(), ...more };
}

async function show(card) {
  const { texts } = await send("/api/action", order(card, { prompts_only: true }));
  replaced(card.querySelector(".shown"), texts.flatMap(([what, text]) => [el("h3", {}, what), el("pre", {}, data(text))]));
}

async function run(card) {
  const place = card.querySelector(".shown");
  const stop = card.querySelector(".stop");
  replaced(place, el("p", { class: "quiet" }, "Running …"));
  stop.hidden = false;
  const ran = await send("/api/action", order(card, { draft: true })).finally(() => {
    replaced(place, null);
    stop.hidden = true;
  });
  if (ran.error) {
    replaced(place, el("p", { class: "alert" }, data(ran.error)));
    return false;
  }
  outputs[card.dataset.action] = ran.output;
  return true;
}

/** Do something that asks the server; a sentence of an error is shown, and `done` tells whether it worked. */
async function guarded(call) {
  say("");
  try {
    return await call();
  } catch (error) {
    say(error.message);
    return false;
  }
}

async function runAll() {
  await keep();
  for (const card of cards) {
    card.scrollIntoView({ block: "nearest" });
    if (!(await run(card))) return false;
  }
  return true;
}

async function plan() {
  const place = document.getElementById("chain-planned");
  const body = { kind: "chain", chain: chain.dataset.chain, edits: edits() };
  const planned = await send("/api/save", { ...body, preview: true });
  if (!planned.diff.length) {
    replaced(place, el("p", {}, "Nothing differs from the file."));
    return;
  }
  const write = el("button", { type: "button", class: "primary" }, "Save chain");
  write.addEventListener("click", () => guarded(async () => {
    const saved = await send("/api/save", { ...body, preview: false, seen: planned.seen });
    for (const field of document.querySelectorAll(".value")) field.dataset.was = field.value;
    replaced(place, el("p", { class: "good" }, "Written: ", data(saved.written.join(", "))));
  }));
  const kinds = { "+": "plus", "-": "minus" };
  const lines = planned.diff.slice(2).map((line) => el("span", { class: kinds[line[0]] ?? "context" }, data(line)));
  replaced(place, [el("pre", { class: "diff" }, lines), el("p", {}, write)]);
}

if (chain) {
  for (const card of cards) {
    card.querySelector(".show-prompt").addEventListener("click", () => guarded(() => show(card)));
    card.querySelector(".run").addEventListener("click", () => guarded(async () => {
      await keep();
      if (await run(card)) location.reload();
    }));
    card.querySelector(".stop").addEventListener("click", () => guarded(() => {
      const { dataset: { action } } = card;
      return send(`/api/action/${encodeURIComponent(action)}?${new URLSearchParams({ chain: chain.dataset.chain })}`, {}, "DELETE");
    }));
    for (const field of card.querySelectorAll(".value")) field.addEventListener("change", () => guarded(keep));
  }
  question.addEventListener("change", () => guarded(keep));
  document.getElementById("run-all").addEventListener("click", () => guarded(async () => (await runAll()) && location.reload()));
  document.getElementById("save-chain").addEventListener("click", () => guarded(plan));
}
