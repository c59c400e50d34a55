// One case: question, passages, answer and scores.

let showing = 0;

const part = (title, ...children) => el("section", { class: "part" }, el("h4", {}, title), ...children);
const prose = (...children) => el("div", { class: "prose" }, ...children);
const facts = (pairs) => el("dl", { class: "facts" }, pairs.map(([name, value]) => el("div", {}, el("dt", {}, data(name)), el("dd", {}, data(value)))));
const LEFT_OUT = "Texts are left out of this run's reports (rag_report_texts).";

/** Draw a case, and scroll to it if it was `linked`. */
async function showCase(row, linked) {
  showing += 1;
  const mine = showing;
  try {
    const rival = rivalOf(row);
    const [outcome, instance, earlier, theirs] = await Promise.all([outcomeAt(row), instanceAt(row), earlierAt(row), rival < 0 ? null : outcomeAt(rival)]);
    if (mine !== showing) return;
    if (outcome === null) replaced(browser.shown, notKept(row));
    else replaced(browser.shown, caseOf(row, outcome, instance ?? { passages: {} }, earlier, rival, theirs));
    if (linked) toCase();
  } catch (error) {
    if (mine === showing) replaced(browser.shown, el("p", { role: "alert" }, "This case could not be read: ", data(error)));
  }
}

/** A case whose texts the page does not hold. */
const notKept = (row) => [
  el("h3", { id: "case-title", tabindex: "-1" }, data(caseAt(row)), " ", el("span", { class: `state ${statusAt(row)}` }, statusAt(row)), badgesOf(row)),
  el("p", { class: "quiet" }, "This case did not change, and its texts are not in this page (--rag-html-cases changed). results.json has them."),
  el("p", { class: "nodeid" }, el("a", { href: caseAddress(row) }, data(store.nodeid[row]))),
];

function caseOf(row, outcome, instance, earlier, rival, theirs) {
  const gold = (instance.gold ?? []).flat();
  const fake = (instance.fake ?? []).flat();
  const was = outcome.was ?? earlier;
  return [
    el("h3", { id: "case-title", tabindex: "-1" }, data(outcome.case_id), " ", el("span", { class: `state ${outcome.status}` }, outcome.status), badgesOf(row)),
    outcome.error === null && outcome.error_type === null ? null : part(outcome.status === "skipped" ? "Skipped" : "Error", el("p", {}, data(outcome.error_type ?? "")), outcome.error === null ? el("p", {}, LEFT_OUT) : scrolling("Error", el("pre", {}, data(outcome.error)))),
    questionPart(outcome, instance),
    rival < 0 ? answerPart(row, outcome, was, gold, fake) : duelPart(row, outcome, rival, theirs, gold, fake),
    goldPart(outcome, instance),
    rival < 0 ? movedPart(outcome, instance, was?.passages ?? null, null) : movedPart(outcome, instance, theirs && passagesOf(theirs), data(systemAt(rival))),
    takePart(row, outcome, instance, was),
    el("p", { class: "nodeid" }, el("a", { href: caseAddress(row) }, data(outcome.nodeid))),
    el("ul", { class: "facets", "aria-label": "Facets" }, Object.entries(outcome.facets).map(([name, value]) => el("li", {}, data(name), " ", el("b", {}, data(value))))),
    ...passageParts(outcome, instance, gold, fake),
    diagnosisPart(outcome),
    evidencePart(instance),
    scoresPart(row, outcome),
    tracePart(outcome),
    usagePart(outcome),
    elsewherePart(row),
  ].filter(Boolean);
}

/** Badges of a case: its states besides scored, error and skipped. */
function badgesOf(row) {
  const cause = store.causes[store.nodeid[row]] ?? "unknown";
  const broke = cause === "unknown" ? "broke" : `broke (${cause})`;
  const labels = { failed: "test failed", missed: "missed", broken: broke, fixed: "fixed" };
  const mine = Object.keys(labels).filter((state) => stateTest({ ...noFilters(), state })(row));
  return mine.map((state) => [" ", el("span", { class: `state ${state}` }, labels[state])]);
}

/** The type of right or wrong that the answer is, with its reason. */
const DIAGNOSES = {
  EM: "right, retrieved",
  AM: "right, from memory",
  "A?": "right, not known from where",
  GE: "wrong, although retrieved",
  RE: "wrong: searched badly",
  TE: "wrong: tools failed",
  ME: "wrong: model failed",
  "W?": "wrong, not known why",
};

function diagnosisPart(outcome) {
  const diagnosis = outcome.diagnosis;
  if (!diagnosis) return null;
  const { type, end, why } = diagnosis;
  return part("Diagnosis", facts([["type", `${type} ${DIAGNOSES[type] ?? ""}`], ["why", why], ["ended by", end]]));
}

function questionPart(outcome, instance) {
  const history = outcome.history ?? instance.history ?? [];
  const turns = history.map((turn) => el("li", {}, prose(el("b", {}, "Q "), data(turn.question)), prose(el("b", {}, "A "), data(turn.answer))));
  const question = outcome.question ?? instance.question;
  return part("Question", question === undefined ? el("p", {}, LEFT_OUT) : prose(data(question)),
    turns.length ? el("details", {}, el("summary", {}, counted(turns.length, "turn"), " before it"), el("ol", { class: "turns" }, turns)) : null);
}

function goldPart(outcome, instance) {
  const answer = outcome.answer?.text ?? "";
  const slots = (instance.gold ?? []).map((slot) => {
    const met = outcome.scores?.accuracy?.value === 1 || slot.some((alias) => saidAt(answer, [alias]).length);
    const aliases = slot.flatMap((alias, at) => [at ? el("span", { class: "quiet" }, " or ") : null, data(alias)]);
    return el("li", { class: met ? "met" : "unmet" }, el("b", {}, met ? "✓ said" : "✗ not said"), " ", aliases);
  });
  const fakes = (instance.fake ?? []).map((slot) => el("li", {}, el("b", {}, "false"), " ", data(slot.join(" / "))));
  if (!slots.length && !fakes.length) return null;
  return part("Gold answer", el("ul", { class: "slots" }, slots, fakes), el("p", { class: "quiet" }, "Said: the words stand in the answer, numbers compared as numbers, or accuracy is 1; other metrics may see it otherwise."));
}

/** The evidence of the record; each of several lists is sufficient. */
function evidencePart(instance) {
  const lists = instance.evidence ?? [];
  if (!lists.length) return null;
  const stated = (unit) => unit.quote ?? (unit.span ? `code points ${unit.span.join(" to ")}` : LEFT_OUT);
  const units = (list) => el("ul", {}, list.map((unit) => el("li", {}, el("b", {}, data(unit.page)), " ", data(stated(unit)), unit.grade === 1 ? null : ` grade ${unit.grade}`)));
  return part("Evidence", lists.map((list, at) => [at ? el("p", { class: "quiet" }, "or") : null, units(list)]));
}

function scoresPart(row, outcome) {
  const names = Object.keys(outcome.scores);
  if (!names.length) return null;
  const rows = names.map((name) => {
    const score = outcome.scores[name];
    const why = [score.reason, score.withheld === undefined ? null : `would be ${valueText(score.withheld, name)}`, score.label === undefined ? null : `label ${score.label}`, score.by ? `by ${score.by}` : null, score.problem];
    return el("tr", {}, el("th", { scope: "row" }, data(name)), el("td", { class: "number" }, score.value === null ? "–" : data(Number(score.value.toPrecision(6)))), el("td", {}, why.filter(Boolean).map((text, at) => [at ? " · " : "", data(text)])));
  });
  const head = el("tr", {}, ["metric", "value", "why"].map((name) => el("th", { scope: "col" }, name)));
  return part("Scores", scrolling("Scores", el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, rows))), names.map((name) => judgePart(name, outcome.scores[name])));
}

function judgePart(name, score) {
  const votes = score.votes ?? (score.rationale || score.replies?.length ? [score] : []);
  if (!votes.length) return null;
  return el("details", {}, el("summary", {}, "What the judge of ", data(name), " said"), el("ol", { class: "votes" }, votes.map((vote) => el("li", {},
    vote.model === undefined ? null : el("p", {}, el("b", {}, data(vote.model)), ` time ${vote.repeat}${vote.swapped ? ", in the other order" : ""}: `, data(vote.label ?? vote.problem ?? "no label")),
    vote.rationale ? prose(data(vote.rationale)) : null,
    (vote.replies ?? []).map((reply) => scrolling("Reply", el("pre", {}, data(reply))))))));
}

/** A passage with its rank, its role and marked gold answers. */
function passageItem(id, passage, about, gold, fake) {
  return el("li", { class: `passage ${["positive", "negative", "counterfactual"].includes(passage.role) ? passage.role : ""}` },
    el("p", { class: "about" }, passage.role ? el("b", { class: "role" }, passage.role) : null, " ", data(id), passage.title ? [" · ", data(passage.title)] : null, passage.page ? [" · ", data(passage.page)] : null, about ? [" · ", data(about)] : null),
    passage.text === undefined ? el("p", { class: "quiet" }, "Its text is not in the report.") : prose(marked(passage.text, gold, fake)));
}

function passageParts(outcome, instance, gold, fake) {
  const ranking = outcome.answer?.ranking ?? null;
  const ranks = new Map((ranking ?? []).map((each) => [each.doc_id, each]));
  const grade = (id) => (!Object.hasOwn(instance.qrels ?? {}, id) ? "" : `grade ${instance.qrels[id]}`);
  const known = (id) => ({ ...ranks.get(id), ...instance.passages[id], ...outcome.added?.[id] });
  const list = (ids, about, start = 1) => el("ol", { class: "passages", start }, ids.map((id, at) => passageItem(id, known(id), about(id, at), gold, fake)));
  const parts = [];
  if (outcome.supplied.length) parts.push(part(`Passages supplied, in their order (${outcome.supplied.length})`, list(outcome.supplied, grade)));
  if (ranking?.length) {
    const score = (id, at) => [grade(id), typeof ranking[at].score === "number" ? `score ${Number(ranking[at].score.toPrecision(5))}` : ""].filter(Boolean).join(", ");
    parts.push(part(`Passages retrieved, best first (${ranking.length})`, list(ranking.map((each) => each.doc_id), score)));
  } else if (ranking) parts.push(part("Passages retrieved", el("p", {}, "None.")));
  const seen = new Set([...outcome.supplied, ...ranks.keys()]);
  const others = Object.keys(instance.passages).filter((id) => !seen.has(id));
  if (others.length) {
    const place = el("div", {});
    const open = el("details", { toggle: () => { if (open.open && !place.firstChild) place.append(list(others, grade)); } }, el("summary", {}, counted(others.length, "passage"), " of the record that it did not get"), place);
    parts.push(open);
  }
  return parts;
}

/** The steps of the answer; a step that happened inside another stands below it. */
function tracePart(outcome) {
  const steps = outcome.answer?.trace ?? [];
  if (!steps.length) return null;
  const [top, inside] = [[], steps.map(() => [])];
  steps.forEach((step, at) => {
    const { parent } = step.detail;
    (Number.isInteger(parent) && parent >= 0 && parent < at ? inside[parent] : top).push(at);
  });
  const list = (places) => el("ol", { class: "trace" }, places.map((at) => el("li", {}, stepItem(steps[at]), inside[at].length ? list(inside[at]) : null)));
  return part("Trace", list(top));
}

/** One step: short values side by side, long ones as text below. */
function stepItem(step) {
  const values = Object.entries(step.detail).filter(([name]) => name !== "parent").map(([name, value]) => [name, valueInStep(value)]);
  const isLong = (text) => text.length > 100 || text.includes("\n");
  const long = values.filter(([, text]) => isLong(text)).map(([name, text]) => el("details", { open: text.length <= 500 }, el("summary", {}, data(name)), scrolling(`Value of ${name}`, el("pre", {}, data(text)))));
  return [el("b", {}, data(step.kind)), facts(values.filter(([, text]) => !isLong(text))), long];
}

/** A value as text: numbers to six digits, lists and objects as JSON, in one line if it is short. */
function valueInStep(value) {
  if (value === null) return "–";
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  if (typeof value !== "object") return String(value);
  const line = JSON.stringify(value);
  return line.length > 100 ? JSON.stringify(value, null, 2) : line;
}

function usagePart(outcome) {
  const usage = Object.entries(outcome.answer?.usage ?? {}).filter(([, value]) => value !== null);
  const calls = Object.entries(outcome.calls ?? {}).filter(([, value]) => value);
  if (!usage.length && !calls.length) return null;
  const text = ([name, value]) => [name, Number(value.toPrecision(6))];
  return part("Usage", usage.length ? facts(usage.map(text)) : null, calls.length ? [el("h5", {}, "Models asked, judges too"), facts(calls.map(text))] : null);
}

/** The same case with other settings and systems. */
function elsewherePart(row) {
  const others = [];
  for (let other = 0; other < store.rows; other += 1) if (other !== row && store.case.codes[other] === store.case.codes[row]) others.push(other);
  if (!others.length) return null;
  const link = (other) => {
    const metric = primaryAt(other);
    const value = metric === null ? null : valueAt(other, metric);
    return el("li", {}, el("a", { href: caseAddress(other) }, data(store.nodeid[other])), " ", statusAt(other) === "scored" && value !== null ? [data(metric), ` ${valueText(value, metric)}`] : statusAt(other));
  };
  return el("details", {}, el("summary", {}, "The same case elsewhere: ", counted(others.length, "time")), el("ul", { class: "elsewhere" }, others.slice(0, 100).map(link)));
}
