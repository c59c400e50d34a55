"""Rewrite Chinese and English number words in digits."""

from __future__ import annotations

import re

__all__ = ["in_digits"]

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}

_CHINESE = re.compile(
    r"(?P<before>[第初周\d期拜])?(?P<of>[百千万]分之)?"
    r"(?P<number>[零〇一二三四五六七八九十百千万亿两]+(?:点[零〇一二三四五六七八九]+(?![十分])[万亿]*)?)"
)
_UNITS = "年(?!级)|个?月|个?季度|个?星期|周|天|日|个?小时|个?钟头|分钟|秒|倍|元|块钱|美元|港元|港币|欧元|日元|英镑"
_UNITS_AND_MEASURE_WORDS = (
    f"{_UNITS}|公里|千米|米|厘米|毫米|公斤|千克|克(?!服)|吨|度|个|人|名|家|位|次|只|项|条|种|款|期|股|户|件|台|辆"
    "|点(?:[半钟整]|[一二三四五六七八九十]{1,3}分)"
)
_AFTER_ONE = re.compile(_UNITS)
_AFTER_DIGIT = re.compile(_UNITS_AND_MEASURE_WORDS)
_PER = {"百": "%", "千": "‰", "万": "‱"}

_TEENS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_TEENS.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORD = "|".join([*sorted(_SMALL, key=len, reverse=True), *_SCALES])
_ENGLISH = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(sorted(_SMALL, key=len, reverse=True))})\b(?:(?:[ -]| and )(?:{_WORD})\b)*", re.I
)
_LONGEST = 40

_PLAIN = dict(zip("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千", strict=True))
_BANK = re.compile(f"[{''.join(_PLAIN)}][{''.join(_PLAIN)}零万亿]+")
"""Numerals of bank cheques, at least two, because a single one may be part of a word such as 大陆."""


def in_digits(text: str) -> str:
    """Return ``text`` with digits instead of number words: 二十三 as 23, 百分之五 as 5%, "five" as 5.

    万, 亿 and the larger English words stay after a round number (两亿 as 2亿), because they show its precision.
    Numerals that are not numbers stay: 一 as an article, ordinals, names such as 三星. Time is linear.
    """
    if not text.isascii():
        text = _CHINESE.sub(_chinese, _BANK.sub(_plain_numerals, text))
    return _ENGLISH.sub(_english, text)


def _plain_numerals(match: re.Match[str]) -> str:
    """Return numerals of bank cheques as everyday numerals."""
    return "".join(_PLAIN.get(character, character) for character in match[0])


def _chinese(match: re.Match[str]) -> str:
    """Return a Chinese numeral in digits; unchanged if it is an ordinal, a part of a word or not a number."""
    numeral, of = match["number"], match["of"]
    if match["before"] or len(numeral) > _LONGEST:
        return match[0]
    number = _chinese_number(numeral)
    whole = len(match[0]) == len(match.string.strip())
    if number is None or not (of or whole or len(numeral) > 1 or _counts(numeral, match.string, match.end())):
        return match[0]
    return number + (_PER[of[0]] if of else "")


def _counts(digit: str, text: str, end: int) -> bool:
    """Return whether a unit follows a single digit, so that the digit is a number."""
    return bool((_AFTER_ONE if digit == "一" else _AFTER_DIGIT).match(text, end))


def _chinese_number(numeral: str) -> str | None:
    """Return a numeral in digits; None if it is not a complete number: 千万, 三四."""
    bare = numeral.rstrip("万亿")
    whole, _, decimals = bare.partition("点")
    if decimals:
        value = _chinese_integer(whole)
        return None if value is None else f"{value}.{''.join(str(_DIGITS[c]) for c in decimals)}{numeral[len(bare) :]}"
    value = _chinese_integer(numeral)
    if value is None:
        return None
    scale = next((scale for scale in ("万亿", "亿", "万") if numeral.endswith(scale)), "")
    power = 1
    for character in scale:
        power *= _POWERS[character]
    return f"{value // power}{scale}" if scale and value % power == 0 else str(value)


def _chinese_integer(numeral: str) -> int | None:
    """Return the value of a numeral without decimals; None if it is not a complete number."""
    if all(character in _DIGITS for character in numeral):
        return int("".join(str(_DIGITS[c]) for c in numeral)) if len(numeral) == 1 or len(numeral) >= 4 else None
    total = section = digit = 0
    counted = False
    for character in numeral:
        if character in _DIGITS:
            if digit:
                return None
            digit, counted = _DIGITS[character], True
        elif character in "十百千":
            if not digit and character != "十":
                return None
            section, digit, counted = section + (digit or 1) * _POWERS[character], 0, True
        else:
            if not counted:
                return None
            if character == "亿":
                total, section, digit = (total + section + digit) * _POWERS["亿"], 0, 0
            else:
                total, section, digit = total + (section + digit) * _POWERS["万"], 0, 0
    if digit and len(numeral) > 1 and numeral[-2] in "百千万亿":  # 三万五 is 35,000 in speech
        return None
    return total + section + digit


def _english(match: re.Match[str]) -> str:
    """Return English number words in digits; unchanged if they do not form one number."""
    words = re.split(r"[ -]", match[0].lower().replace(" and ", " "))
    if len(words) > _LONGEST or (words == ["one"] and not _AFTER_ONE_IN_ENGLISH.match(match.string, match.end())):
        return match[0]
    total = section = 0
    last = 10**18
    for word in words:
        if word in _SMALL:
            if section % 100 and not (section % 100 >= 20 and section % 10 == 0 and _SMALL[word] < 10):
                return match[0]
            section += _SMALL[word]
        elif word == "hundred":
            section *= 100
        elif _SCALES[word] >= last:
            return match[0]
        else:
            total, section, last = total + section * _SCALES[word], 0, _SCALES[word]
    value = total + section
    if words[-1] in _SCALES and words[-1] != "hundred":
        return f"{value // _SCALES[words[-1]]} {words[-1]}"
    return str(value)


_AFTER_ONE_IN_ENGLISH = re.compile(
    r"[ -](?:percent|per cent|dollar|year|month|week|day|hour|minute|second|euro|pound)", re.I
)
