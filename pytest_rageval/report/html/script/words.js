// The difference of two answers by words.

const MOST_WORDS = 600; // longer middles are shown as replaced whole
const WORDS = new RegExp(`[${HAN}]|[^\\s${HAN}]+\\s*|\\s+`, "gu");

/** [kind, text] pieces: "same", "gone" (only in `was`) and "come" (only in `now`). */
function wordDifference(was, now) {
  const [old, fresh] = [was.match(WORDS) ?? [], now.match(WORDS) ?? []];
  const isSame = (one, other) => one.trim() === other.trim();
  let head = 0;
  while (head < old.length && head < fresh.length && isSame(old[head], fresh[head])) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && isSame(old.at(-1 - tail), fresh.at(-1 - tail))) tail += 1;
  const middle = between(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail), isSame);
  const same = (many, start) => many.map((word, at) => ["same", longer(word, old[start + at])]);
  return joined([...same(fresh.slice(0, head), 0), ...middle, ...same(fresh.slice(fresh.length - tail), old.length - tail)]);
}

/** The word with the space behind it, which the last word of a text lacks. */
const longer = (one, other) => (other.length > one.length ? other : one);

/** The same for words without common start and end: by their longest common subsequence. */
function between(old, fresh, isSame) {
  const whole = [...old.map((word) => ["gone", word]), ...fresh.map((word) => ["come", word])];
  if (!old.length || !fresh.length || old.length > MOST_WORDS || fresh.length > MOST_WORDS) return whole;
  const width = fresh.length + 1;
  const best = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = isSame(old[i], fresh[j]) ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const pieces = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (isSame(old[i], fresh[j])) {
      pieces.push(["same", longer(fresh[j], old[i])]);
      [i, j] = [i + 1, j + 1];
    } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) pieces.push(["gone", old[i++]]);
    else pieces.push(["come", fresh[j++]]);
  }
  return [...pieces, ...old.slice(i).map((word) => ["gone", word]), ...fresh.slice(j).map((word) => ["come", word])];
}

/** Neighbours of one kind as one piece. */
function joined(pieces) {
  const whole = [];
  for (const [kind, text] of pieces) {
    if (whole.at(-1)?.[0] === kind) whole.at(-1)[1] += text;
    else whole.push([kind, text]);
  }
  return whole;
}

/** The old and the new answer as one text: what is gone struck out, what has come underlined. */
function differenceOf(was, now) {
  const tags = { gone: ["del", "gone: "], come: ["ins", "new: "] };
  const pieces = wordDifference(was, now).map(([kind, text]) => {
    if (kind === "same") return visible(text);
    const [tag, word] = tags[kind];
    return el(tag, {}, el("span", { class: "hidden" }, word), visible(text));
  });
  return prose(el("bdi", { class: "data difference", dir: "auto" }, pieces));
}
