import { data, replaced, say, send } from "/assets/site.js";

replaced(document.getElementById("drawn"), data("<b>x</b>\u202e\u0000"));
document.getElementById("ask").addEventListener("click", async () => {
  const answer = await send("/api/echo", { text: "<i>\u202e" });
  replaced(document.getElementById("answer"), data(answer.text));
});
document.getElementById("fail").addEventListener("click", () => send("/api/fail/setting", {}).catch((error) => say(error.message)));
