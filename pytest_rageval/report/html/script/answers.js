// The answer of a case beside the one that the baseline's run gave, and the passages behind both.

const NO_ANSWERS = () => el("p", { class: "quiet" }, "The old answer is not available. To have it: keep answers next to the baseline (", el("code", {}, "rag_baseline_answers = true"), "), then update the baseline, or compare with a run (", el("code", {}, "--rag-against results.json"), ").");

function answerText(answer, gold, fake) {
  if (!answer) return el("p", {}, "There is none.");
  if (answer.text === null) return el("p", {}, LEFT_OUT);
  return answer.text === "" ? el("p", {}, "It is empty.") : prose(marked(answer.text, gold, fake));
}

function earlierText(earlier, gold, fake) {
  if (!earlier) return NO_ANSWERS();
  if (earlier.text === null) return el("p", {}, (earlier.status ?? "scored") === "scored" ? LEFT_OUT : `It ended as ${earlier.status}.`);
  return answerText(earlier, gold, fake);
}

/** The rows of all repeats of a row's case, including the row. */
function runsOf(row) {
  if (facetAt(row, "repeat") === null) return [row];
  const runs = [];
  for (let other = 0; other < store.rows; other += 1) if (store.case.codes[other] === store.case.codes[row] && unitOf(other) === unitOf(row)) runs.push(other);
  return runs;
}

/** A case's value in the baseline, which keeps six digits, and its change. */
function sinceText(before, runs, metric) {
  const values = present(runs);
  const format = (value) => valueText(value, metric);
  if (!values.length) return `${format(before)}, without a value`;
  const now = average(values);
  const many = runs.length > 1 ? ` over ${counted(values.length, "run")}` : "";
  if (Math.abs(now - before) < 1e-6) return `${format(before)}, as before${many}`;
  const text = format(now) === format(before) ? (value) => String(Number(value.toPrecision(6))) : format;
  return `${text(before)}, now ${text(now)}${many}`;
}

/** The answer beside the baseline's, as a difference by words, and the scores of both. */
function answerPart(row, outcome, was, gold, fake) {
  const abstains = (answer) => (answer?.abstained ? el("p", { class: "quiet" }, "The system says that it abstains.") : null);
  const now = el("div", {}, answerText(outcome.answer, gold, fake), abstains(outcome.answer));
  const before = Object.keys(store.before).filter((metric) => store.before[metric][row] !== null);
  if (!before.length && !was) return part("Answer", now);
  const runs = runsOf(row);
  const scores = before.map((metric) => [metric, sinceText(store.before[metric][row], runs.map((run) => valueAt(run, metric)), metric)]);
  return part("Answer",
    el("div", { class: "beside" }, el("div", {}, el("h5", {}, "Baseline"), earlierText(was, gold, fake), abstains(was), facts(scores)), el("div", {}, el("h5", {}, "This run"), now)),
    wordsBetween(was?.text ?? null, outcome.answer?.text ?? null));
}

/** Two answers as a difference by words. */
function wordsBetween(old, fresh) {
  if (old !== null && old === fresh) return el("p", { class: "quiet" }, "Both answers are the same.");
  return old && fresh ? el("div", { class: "words" }, el("h5", {}, "Difference by words"), differenceOf(old, fresh)) : null;
}

/** The row of the same case under the system that the list is compared with; -1 if there is none. */
function rivalOf(row) {
  const name = isAgainstSystem(browser.filters) ? browser.filters.minus.slice(7) : null;
  if (name === null || systemAt(row) === name) return -1;
  const repeat = facetAt(row, "repeat");
  for (let other = 0; other < store.rows; other += 1) {
    if (systemAt(other) === name && store.case.codes[other] === store.case.codes[row] && facetAt(other, "repeat") === repeat && unitOf(other, true) === unitOf(row, true)) return other;
  }
  return -1;
}

/** The answer beside that of the compared system, as a difference by words, with the scores of both. */
function duelPart(row, outcome, rival, theirs, gold, fake) {
  const scores = (at) => facts(metricsAt(at).map((metric) => [metric, valueAt(at, metric)]).filter(([, value]) => value !== null).map(([metric, value]) => [metric, valueText(value, metric)]));
  const side = (at, of) => el("div", {}, el("h5", {}, data(systemAt(at))), of ? answerText(of.answer, gold, fake) : el("p", {}, "Its texts are not in this page."), scores(at));
  return part("Answer", el("div", { class: "beside" }, side(rival, theirs), side(row, outcome)), wordsBetween(theirs?.answer?.text ?? null, outcome.answer?.text ?? null));
}

const passagesOf = (outcome) => outcome.answer?.ranking?.map((each) => each.doc_id) ?? outcome.supplied;

/** Passages that only one of two answers had; nothing if the other's are not known. */
function movedPart(outcome, instance, old, than) {
  if (!Array.isArray(old)) return null;
  const mine = passagesOf(outcome);
  const [lost, gained] = [old.filter((id) => !mine.includes(id)), mine.filter((id) => !old.includes(id))];
  if (!lost.length && !gained.length) return part("Passages", el("p", { class: "quiet" }, "The same as ", than === null ? "in the baseline" : ["those of ", than], "."));
  const needed = (id) => (instance.passages?.[id]?.role === "positive" ? el("b", {}, " with evidence") : null);
  const list = (ids, sign, kind) => ids.map((id) => el("li", { class: kind }, el("b", {}, sign), " ", data(id), needed(id)));
  return part(than === null ? "Passages since the baseline" : ["Passages, against those of ", than], el("ul", { class: "slots" }, list(lost, "− lost", "unmet"), list(gained, "+ gained", "met")));
}
