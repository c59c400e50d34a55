// What the pages of `rageval play` share: follow a question, wait while somebody types, show what will be saved.
import { el, data, replaced, say, send } from "/assets/site.js";

/** Call a function once nothing has happened for a while; `now` calls it at once if it waits. */
function later(call, delay = 400) {
  let timer = 0;
  const run = () => {
    clearTimeout(timer);
    timer = 0;
    return call();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  };
  return { wait, now: () => (timer ? run() : undefined) };
}

/** Yield the events of a stream as { name, data }. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = Object.fromEntries(block.split("\n").map((line) => [line.split(":", 1)[0], line.slice(line.indexOf(":") + 2)]));
      yield { name: lines.event, data: JSON.parse(lines.data) };
    }
  }
}

function stepLine({ kind, detail }) {
  const parts = [kind, detail.action, detail.name, detail.query, detail.model].filter((each) => typeof each === "string");
  if (typeof detail.seconds === "number") parts.push(`${detail.seconds.toPrecision(2)} s`);
  return el("li", {}, data(parts.join(" ").slice(0, 300)));
}

/**
 * Follow a question until it is answered, with its steps in a place of the page, and return its number.
 * `began` gets the number as soon as it is known. A question that cannot be asked is an error.
 */
async function followed(response, place, began = () => {}) {
  if (!response.ok) {
    const { error, hint } = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
    throw new Error([error, hint].filter(Boolean).join("; "));
  }
  const list = el("ol");
  replaced(place, [el("p", {}, "Asking …"), list]);
  let asked = "";
  let lost = "";
  for await (const { name, data: value } of events(response)) {
    if (name === "asked") began((asked = value.ask));
    if (name === "step") list.append(stepLine(value));
    if (name === "error") lost = value.error;
    asked = asked || value.ask;
  }
  const { answers } = await (await fetch("/api/state")).json();
  if (!answers.includes(asked)) throw new Error(lost || "the question was not answered");
  return asked;
}

/** Ask a question and follow it. */
function asked(body, place, began) {
  const headers = { "Content-Type": "application/json" };
  return fetch("/api/ask", { method: "POST", headers, body: JSON.stringify(body) }).then((response) => followed(response, place, began));
}

/** A text field writes invisible characters as \u{202E}; this is the text that they stand for. */
function unescaped(text) {
  return text.replace(/\\u\{([0-9A-F]{1,6})\}/g, (all, code) => (parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(parseInt(code, 16)) : all));
}

/** Show what a request to save would write, with a button that writes it. */
async function planSaving(body, place) {
  say("");
  try {
    const plan = await send("/api/save", { ...body, preview: true });
    const write = el("button", { type: "button", class: "primary" }, "Write");
    write.disabled = plan.blocked;
    write.addEventListener("click", async () => {
      write.disabled = true;
      try {
        showWritten(place, await send("/api/save", { ...body, preview: false, seen: plan.seen }));
      } catch (error) {
        say(error.message);
      }
    });
    replaced(place, [
      el("h3", {}, data(plan.file)),
      el("pre", { class: "diff" }, plan.before ? el("span", { class: "context" }, data(`  ${plan.before.slice(0, 300)}`)) : null, el("span", { class: "plus" }, data(`+ ${plan.line}`))),
      plan.findings.map((each) => el("p", { class: / error: /.test(each) ? "alert" : "note" }, data(each))),
      plan.suite ? [el("p", {}, "No testbed reads this file. This one will:"), el("h3", {}, data(plan.suite.file)), el("pre", { class: "diff" }, plan.suite.text.trimEnd().split("\n").map((line) => el("span", { class: "plus" }, data(`+ ${line}`))))] : null,
      plan.remark ? el("p", { class: "quiet" }, plan.remark) : null,
      el("p", {}, write),
    ]);
    place.scrollIntoView({ block: "nearest" });
  } catch (error) {
    say(error.message);
  }
}

function showWritten(place, saved) {
  replaced(place, [
    el("p", { class: "good" }, "Written: ", data(saved.written.join(", "))),
    el("p", {}, "Run it: ", el("code", {}, data(saved.pytest))),
  ]);
}

export { asked, followed, later, planSaving, unescaped };
