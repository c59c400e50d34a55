// Behaviour of all local pages: theme, keys, requests. A page's own script is a module, and begins with
// `import { el, data, send } from "/assets/site.js";`. The part before this line is the report's: texts and elements.

unseen = new RegExp(`[${document.documentElement.dataset.unseen}\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]`, "gu");

const THEMES = ["system", "light", "dark"];

function themes() {
  const press = document.getElementById("theme");
  const use = (theme) => {
    document.documentElement.dataset.theme = THEMES.includes(theme) ? theme : "system";
    press.textContent = `Theme: ${document.documentElement.dataset.theme}`;
  };
  press.addEventListener("click", () => {
    use(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
    localStorage.setItem("rageval-theme", document.documentElement.dataset.theme);
  });
  use(localStorage.getItem("rageval-theme"));
  press.hidden = false;
}

/** Show a sentence to the person, and read it out. */
function say(sentence) {
  replaced(document.getElementById("message"), sentence ? data(sentence) : null);
}

/** Send an object as JSON and return the answer's object; an error is thrown with the server's sentence. */
async function send(path, value, method = "POST") {
  let response;
  try {
    const headers = { "Content-Type": "application/json" };
    response = await fetch(path, { method, headers, body: JSON.stringify(value) });
  } catch {
    throw new Error("the server does not answer; start the command again");
  }
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw new Error([answer.error, answer.hint].filter(Boolean).join("; "));
  return answer;
}

const writing = (target) => target.matches("input:not([type=checkbox], [type=radio]), textarea, select");

/** An element with `data-key="n"` is pressed by that key, while nobody writes; `?` lists the keys. */
function keys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || writing(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.target.matches("[type=checkbox]")) event.preventDefault(); // it would submit the form
    const pressed = [...document.querySelectorAll("[data-key]")].find(
      (each) => each.dataset.key.toLowerCase() === event.key.toLowerCase() && each.checkVisibility() && !each.disabled,
    );
    if (!pressed) return;
    event.preventDefault();
    if (writing(pressed)) pressed.focus();
    else pressed.click();
  });
  const press = document.getElementById("keys");
  press.addEventListener("click", showKeys);
  press.hidden = document.querySelectorAll("[data-key]").length < 2;
}

function showKeys() {
  const dialog = document.getElementById("key-list");
  const rows = [...document.querySelectorAll("[data-key]")].filter((each) => each.checkVisibility());
  const label = (each) => each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.textContent;
  replaced(
    dialog.querySelector("dl"),
    rows.map((each) => el("div", {}, el("dt", {}, el("kbd", {}, each.dataset.key)), el("dd", {}, label(each).trim()))),
  );
  dialog.showModal();
}

export { el, svg, data, plainly, button, labelled, choice, scrolling, replaced, counted, say, send };
themes();
keys();
