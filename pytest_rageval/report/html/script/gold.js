// Find gold answers in a text: folded like the metric `accuracy`, without matches inside a number.

const IS_HAN = new RegExp(`^[${HAN}]`, "u");
const CLUSTERS = /[^\p{M}]\p{M}{0,30}|\p{M}/gu;

const folded = (text) => text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("\u2212", "-").normalize("NFKC");
const placesOf = (text, pattern) => new Set([...text.matchAll(pattern)].map((match) => match.index));

/** Fold a text; `from[i]`..`to[i]` is the position of each folded character in the original. */
function foldedWithPlaces(text) {
  const letters = [];
  const wide = placesOf(text, WIDE_SPACES);
  for (const match of text.matchAll(CLUSTERS)) {
    if (wide.has(match.index)) continue;
    for (const letter of folded(match[0])) letters.push({ letter: /\s/u.test(letter) ? " " : letter, from: match.index, to: match.index + match[0].length });
  }
  const isSpace = (at) => letters[at]?.letter === " ";
  const isHan = (at) => at >= 0 && at < letters.length && IS_HAN.test(letters[at].letter);
  const remaining = [];
  for (let at = 0; at < letters.length; at += 1) {
    if (!isSpace(at)) {
      remaining.push(letters[at]);
      continue;
    }
    let end = at;
    while (isSpace(end + 1)) end += 1;
    if (at > 0 && end < letters.length - 1 && !isHan(at - 1) && !isHan(end + 1)) remaining.push(letters[at]);
    at = end;
  }
  const units = remaining.flatMap((each) => [...Array(each.letter.length).keys()].map((unit) => ({ ...each, letter: each.letter[unit] })));
  const commas = placesOf(units.map((each) => each.letter).join(""), COMMAS);
  const whole = units.filter((_, at) => !commas.has(at));
  return { text: whole.map((each) => each.letter).join(""), from: whole.map((each) => each.from), to: whole.map((each) => each.to) };
}

/** Whether a negative number begins here. */
function negativeAt(numbers, place) {
  const next = numbers.find(([, , digits]) => digits >= place);
  return next !== undefined && next[0] === place && place < next[2];
}

/** [start, end] in the original text of each match of an alias. */
function saidAt(text, aliases) {
  const whole = foldedWithPlaces(text);
  const numbers = numbersOf(whole.text);
  const cuts = (place) => numbers.some(([start, end]) => start < place && place < end);
  const matches = [];
  for (const alias of aliases) {
    const needle = foldedWithPlaces(alias).text;
    if (!needle) continue;
    const isNegative = negativeAt(numbersOf(needle), 0);
    for (let at = whole.text.indexOf(needle); at >= 0; at = whole.text.indexOf(needle, at + 1)) {
      if (!cuts(at) && !cuts(at + needle.length) && (!isNegative || negativeAt(numbers, at))) matches.push([whole.from[at], whole.to[at + needle.length - 1]]);
    }
  }
  return matches;
}

/** A text with marked gold answers and, in another style, false ones; the earlier of overlapping matches wins. */
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
