"""Check whether an answer has the words of an alias, because equal numbers are not enough."""

from __future__ import annotations

import re

from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.quantities import without_numbers
from pytest_rageval.text.stems import STOP_WORDS, stem
from pytest_rageval.text.words import cached_per_text, words

__all__ = ["says_words"]

_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile("[A-Z]")
_MONTH = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]*y|[a-z]*ber|ch|il|e|ust)?")
_MONEY = frozenset({"CNY", "EUR", "GBP", "HK", "HKD", "JPY", "RMB", "US", "USD"})
_OPTIONAL = frozenset(
    [
        "共有",
        "共计",
        "一共",
        "总共",
        "大约",
        "约为",
        "达到",
        *"的了是在有和与或及也为就都被由从对按将把之其该这那约共达于至到年月日元上个",
    ]
)
"""Chinese words of an alias that the answer may lack."""

_SINGLE_LETTERS = frozenset("ast")
"""Single letters without meaning: the article, and endings after an apostrophe ('s, n't)."""

_CHOICE = re.compile(r"\b(?:or|versus|vs)\b|还是|或|抑或", re.IGNORECASE)
"""Words of a question that names several possible answers."""

_RANGE_END = re.compile(r"\b(from|to|since|until|till)(?= (?:[a-z]+ )?[^\w\s]?\d)")
"""Words that mark the number after them as the start or the end of a range."""

_OPPOSITES = tuple(
    frozenset(map(stem, group.split()))
    for group in (
        "first second third fourth fifth sixth seventh eighth ninth tenth last",
        "half quarter",
        "deficit surplus",
        "profit loss",
        "gain loss",
        "north south east west northern southern eastern western",
        "top bottom",
        "left right",
        "before after",
        "for against",
        "on off",
        "with without",
        "in ago",
        "monday tuesday wednesday thursday friday saturday sunday",
        "older younger",
        "higher lower",
        "highest lowest",
        "largest smallest",
        "most least",
        "best worst",
        "better worse",
        "cheaper dearer",
        "men women",
        "male female",
        "buy sell",
        "morning afternoon evening night",
        "hour day week month quarter year",
        "hourly daily weekly monthly quarterly annually yearly annual",
        "hour hourly day daily week weekly month monthly year yearly annual",
        "increase decrease rise fall grow decline shrink",
    )
)
_CHINESE_OPPOSITES = (
    ("上半年", "下半年"),
    ("东", "南", "西", "北"),
    ("左", "右"),
    ("最多", "最少"),
    ("最高", "最低"),
    ("最大", "最小"),
    ("盈利", "亏损"),
    ("增长", "下降"),
    ("上涨", "下跌"),
    ("男", "女"),
    ("前", "后"),
)


def says_words(question: str, alias: str, answer: str) -> bool:
    """Return whether ``answer`` has the words of ``alias``, except its numbers, units and stop words.

    English words are compared by their stems. A word with a capital letter is a name and may be the beginning of a word
    of the answer. The answer may lack a word that the question has, unless the question offers a choice ("A or B?") or
    the answer has the opposite word: north and south, first and second, monthly and annually. Several names must have
    the same order: "Acme paid Bolt" is not "Bolt paid Acme".
    """
    context = "" if _CHOICE.search(question) else question
    text = fold(f"{context}\n{answer}")
    stems, names, chinese = _words(alias)
    if not all(word in text for word in chinese) or not all(_starts_word(name, text) for name in names):
        return False
    in_answer = _stems(answer)
    if not stems <= in_answer | _stems(context):
        return False
    if not _agree(_range_ends(alias), _range_ends(answer)):
        return False
    return _no_opposite(_stems(alias), in_answer) and _no_chinese_opposite(alias, answer) and _in_order(names, answer)


@cached_per_text
def _words(alias: str) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Return the words of an alias: stems of words in lower case, words with a capital letter, Chinese words."""
    plain = without_numbers(alias)
    stems, names = [], []
    for match in _WORD.finditer(plain):
        word = match[0]
        if has_chinese(word) or word in _MONEY or _MONTH.fullmatch(word):
            continue
        if word.lower() in STOP_WORDS and word[1:] == word[1:].lower() and not _is_unit_symbol(match, alias):
            continue
        if _CAPITAL.search(word):
            names.append(fold(word))
        elif word not in _SINGLE_LETTERS:
            stems.append(stem(word))
    chinese = (
        [word for word in words(plain) if has_chinese(word) and word not in _OPTIONAL] if has_chinese(plain) else []
    )
    return frozenset(stems), tuple(dict.fromkeys(names)), frozenset(map(fold, chinese))


def _is_unit_symbol(match: re.Match[str], alias: str) -> bool:
    """Return whether the stop word A is the symbol of a unit, as in A$5 and 5 A."""
    return match[0] == "A" and (f"{match[0]}$" in alias or match.start() > 0)


@cached_per_text
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(fold(text)))


def _starts_word(name: str, text: str) -> bool:
    """Return whether a word of ``text`` begins with ``name``; a name of one or two letters must be the whole word."""
    return _offset(name, text) >= 0


def _offset(name: str, text: str) -> int:
    match = re.search(rf"\b{re.escape(name)}" + ("" if len(name) > 2 else r"(?![^\W\d_])"), text)
    return match.start() if match else -1


def _in_order(names: tuple[str, ...], answer: str) -> bool:
    folded = fold(answer)
    offsets = [offset for offset in (_offset(name, folded) for name in names) if offset >= 0]
    return offsets == sorted(offsets)


def _no_opposite(in_alias: frozenset[str], in_answer: frozenset[str]) -> bool:
    return all(_agree(in_alias & group, in_answer & group) for group in _OPPOSITES)


def _agree(in_alias: frozenset[str], in_answer: frozenset[str]) -> bool:
    """Return whether the answer has all of these words of the alias; True if either set is empty."""
    return not (in_alias and in_answer) or in_alias <= in_answer


def _no_chinese_opposite(alias: str, answer: str) -> bool:
    for group in _CHINESE_OPPOSITES:
        in_alias, in_answer = (frozenset(word for word in group if word in text) for text in (alias, answer))
        if not _agree(in_alias, in_answer):
            return False
    return True


def _range_ends(text: str) -> frozenset[str]:
    return frozenset(_RANGE_END.findall(fold(text)))
