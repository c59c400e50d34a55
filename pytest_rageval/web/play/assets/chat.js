// A conversation: each question is asked with the turns before it.
import { asked, planSaving, unescaped } from "/assets/asking.js";
import { replaced, say, send } from "/assets/site.js";

const form = document.getElementById("chat");
const question = document.getElementById("chat-question");
const progress = document.getElementById("progress");
const section = document.getElementById("save-chat");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  say("");
  const system = document.getElementById("chat-system").value;
  try {
    await asked({ chat: true, question: unescaped(question.value), system }, progress);
    location.reload();
  } catch (error) {
    say(error.message);
    replaced(progress, null);
  }
});
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
document.getElementById("start-again")?.addEventListener("click", async () => {
  const { version } = await (await fetch("/api/state")).json();
  try {
    await send("/api/draft", { version, chat: [] }, "PUT");
    location.reload();
  } catch (error) {
    say(error.message);
  }
});
document.getElementById("chat-right")?.addEventListener("change", (event) => {
  if (event.target.checked) document.getElementById("chat-gold").value = document.getElementById("chat-right-text").value;
});
document.getElementById("chat-preview")?.addEventListener("click", () => {
  const answers = unescaped(document.getElementById("chat-gold").value).split("\n").map((line) => line.trim()).filter(Boolean);
  const record = { ...JSON.parse(section.dataset.record), answers };
  planSaving({ kind: "record", record, file: document.getElementById("chat-file").value, answer: section.dataset.answer }, document.getElementById("planned"));
});
