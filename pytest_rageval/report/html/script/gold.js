// Where a text says a gold answer: folded as the metric `accuracy` folds, a number never cut in two.

const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2ebef}";
const IS_HAN = new RegExp(`^[${HAN}]`, "u");
const CLUSTERS = /[^\p{M}]\p{M}{0,30}|\p{M}/gu;
const NUMBERS = /(?<chain>\d+(?:\.\d+){2,})|\d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\p{L}\p{N}])(?<!\.)\.\d+/gu;

const folded = (text) => text.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");

/** A text folded, with where each of its characters was: `from[i]`..`to[i]` in the text as it stands. */
function foldedWithPlaces(text) {
  const letters = [];
  for (const match of text.matchAll(CLUSTERS)) {
    for (const letter of folded(match[0])) letters.push({ letter: /\s/u.test(letter) ? " " : letter, from: match.index, to: match.index + match[0].length });
  }
  const isSpace = (at) => letters[at]?.letter === " ";
  const isHan = (at) => at >= 0 && at < letters.length && IS_HAN.test(letters[at].letter);
  const kept = [];
  for (let at = 0; at < letters.length; at += 1) {
    if (!isSpace(at)) {
      kept.push(letters[at]);
      continue;
    }
    let end = at;
    while (isSpace(end + 1)) end += 1;
    if (at > 0 && end < letters.length - 1 && !isHan(at - 1) && !isHan(end + 1)) kept.push(letters[at]);
    at = end;
  }
  const from = [];
  const to = [];
  for (const each of kept) {
    for (let unit = 0; unit < each.letter.length; unit += 1) {
      from.push(each.from);
      to.push(each.to);
    }
  }
  return { text: kept.map((each) => each.letter).join(""), from, to };
}

/** [start, end] of the numbers of a folded text; each part of a chain as 2022.1.3 is one. */
function numbersOf(text) {
  const found = [];
  for (const match of text.matchAll(NUMBERS)) {
    if (!match.groups.chain) found.push([match.index, match.index + match[0].length]);
    else for (const part of match[0].matchAll(/\d+/gu)) found.push([match.index + part.index, match.index + part.index + part[0].length]);
  }
  return found;
}

/** [start, end] in the text as it stands of each place where it says one of the aliases. */
function saidAt(text, aliases) {
  const whole = foldedWithPlaces(text);
  const numbers = numbersOf(whole.text);
  const cuts = (place) => numbers.some(([start, end]) => start < place && place < end);
  const found = [];
  for (const alias of aliases) {
    const needle = foldedWithPlaces(alias).text;
    if (!needle) continue;
    for (let at = whole.text.indexOf(needle); at >= 0; at = whole.text.indexOf(needle, at + 1)) {
      if (!cuts(at) && !cuts(at + needle.length)) found.push([whole.from[at], whole.to[at + needle.length - 1]]);
    }
  }
  return found;
}

/** A text of the data with its gold answers marked, and false ones otherwise; of overlapping places the earlier. */
function marked(text, gold, fake) {
  const places = [...saidAt(text, fake).map((place) => [...place, "fake"]), ...saidAt(text, gold).map((place) => [...place, "gold"])];
  places.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
  const nodes = [];
  let end = 0;
  for (const [from, to, kind] of places) {
    if (from < end) continue;
    nodes.push(...visible(text.slice(end, from)), el("mark", { class: kind, title: kind === "gold" ? "a gold answer" : "a false answer" }, visible(text.slice(from, to))));
    end = to;
  }
  nodes.push(...visible(text.slice(end)));
  return el("bdi", { class: "data", dir: "auto" }, nodes);
}
