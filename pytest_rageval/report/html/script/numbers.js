// Numbers of a folded text with their minus; the same rules as pytest_rageval/text/notation.py.

const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2ebef}";
const CURRENCY = "(?:人民币|rmb|cny|usd|us\\$|hk\\$|hkd|eur|jpy|gbp|[$€£¥￥])";
const NUMBERS = /(?<chain>\d+(?:\.\d+){2,})|\d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\p{L}\p{N}])(?<!\.)\.\d+|(?<=\d)[百千万亿]{2,}/gu;
const COMMAS = /(?<=\d)(?<!\d{4})(?<!\.\d{1,3}),(?=\d{3}(?!\d))/g;
const WIDE_SPACES = /(?<=\d)(?<!\d{4})[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))/g;
const LONGEST_SIGN = 20;
const MINUS = new RegExp(`(?:(?<dash>[-–](?:${CURRENCY} ?)?)|(?<late>(?<!\\d)${CURRENCY} ?[-–])|(?<word>负|零下|(?<![\\p{L}\\p{N}_])(?:minus|negative) )(?:${CURRENCY} ?)?)$`, "u");
const JOINS = /[-–)\]}%‰°℃\/+±_$€£¥]$/u;
const ENDS_IN_HAN = new RegExp(`[${HAN}]$`, "u");
const MEASURE_BEFORE = new RegExp(`\\d[${HAN}]{1,4}$`, "u");
const MEASURE = /^ ?(?:[%‰°℃万亿元度倍]|个?百分点|美元|港元|bp|pp)/u;
const OPENS = new RegExp(`${CURRENCY} ?$`, "u");
const CLOSES = /^\) ?[%‰]/u;

/** [start, end, digits] of each number, including its minus; each part of a chain like 2022.1.3 is a number. */
function numbersOf(text) {
  const numbers = [];
  for (const match of text.matchAll(NUMBERS)) {
    const parts = match.groups.chain ? [...match[0].matchAll(/\d+/gu)].map((part) => [match.index + part.index, part[0].length]) : [[match.index, match[0].length]];
    for (const [start, length] of parts) numbers.push([...withMinus(text, start, start + length), start]);
  }
  return numbers;
}

function withMinus(text, start, end) {
  const before = text.slice(Math.max(0, start - LONGEST_SIGN), start);
  const behind = text.slice(end, end + 8);
  if (before.endsWith("(")) {
    const accounting = behind.startsWith(")") && (OPENS.test(before.slice(0, -1)) || CLOSES.test(behind));
    return accounting ? [start - 1, end + 1] : [start, end];
  }
  const match = MINUS.exec(before);
  return match && negates(match, before, behind) ? [start - before.length + match.index, end] : [start, end];
}

/** Whether a dash before a number is a minus. */
function negates(match, before, behind) {
  if (match.groups.late) return true;
  const ahead = before.slice(0, match.index);
  const word = ahead.trimEnd();
  if (match.groups.word) return !/\p{Nd}$/u.test(word) && !JOINS.test(word);
  if (ENDS_IN_HAN.test(ahead)) return MEASURE.test(behind) && !MEASURE_BEFORE.test(ahead);
  return !/[\p{L}\p{N}]$/u.test(ahead) && !JOINS.test(ahead) && !/[%‰]$/u.test(word);
}
