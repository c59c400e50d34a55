// One question to two systems: the cost before, then both answers, one after the other.
import { asked, later, unescaped } from "/assets/asking.js";
import { el, data, replaced, say, send } from "/assets/site.js";

const form = document.getElementById("two");
const question = document.getElementById("two-question");
const sides = [...form.querySelectorAll(".side")];
const before = question.value;
const body = (system) => (form.dataset.case && question.value === before ? { case: form.dataset.case, system } : { question: unescaped(question.value), system });

/** Say what both questions may cost, as `--rag-dry-run` does. */
async function cost() {
  const place = document.getElementById("cost");
  if (!question.value.trim() || sides.some((side) => !side.value.trim())) return replaced(place, null);
  try {
    const found = [];
    for (const side of sides) found.push(await send("/api/estimate", body(side.value.trim())));
    replaced(place, found.map(({ calls }, at) => el("span", {}, at ? " · " : "", data(sides[at].value), ": ", line(calls))));
  } catch (error) {
    replaced(place, data(error.message));
  }
}

function line(calls) {
  if (!calls.length) return "no model call";
  return calls.map((each) => {
    if (each.calls === null) return "calls and price are unknown";
    const count = `${each.exact ? "" : "at most "}${each.calls} call${each.calls === 1 ? "" : "s"}`;
    const price = each.cost_usd === null ? "price unknown" : `${each.bounded ? "at most " : ""}$${Number(each.cost_usd.toPrecision(3))}`;
    return `${count}${each.recorded ? `, ${each.recorded} recorded` : ""}, ${price}`;
  }).join("; ");
}

const typed = later(cost);
for (const field of [question, ...sides]) field.addEventListener("input", typed.wait);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  say("");
  const press = form.querySelector("button.primary");
  press.disabled = true;
  try {
    const numbers = [];
    for (const side of sides) numbers.push(await asked(body(side.value.trim()), document.getElementById("progress")));
    location.assign(`/two?left=${numbers[0]}&right=${numbers[1]}`);
  } catch (error) {
    say(error.message);
    replaced(document.getElementById("progress"), null);
    press.disabled = false;
  }
});
cost();
