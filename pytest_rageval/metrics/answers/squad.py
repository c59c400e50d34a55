"""Exact match and token F1: SQuAD's normalisation, and jieba's words for Chinese."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.shared.matching import fold_spaces
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.notation import join_thousands, join_wide_thousands, mark_negatives
from pytest_rageval.text.unicode import nfkc
from pytest_rageval.text.words import cached_per_text, words

__all__ = [
    "EXACT_MATCH",
    "TOKEN_F1",
    "best_score",
    "count_shared",
    "exact_match",
    "f1",
    "is_chinese",
    "normalize",
    "published_normal",
    "references",
    "token_f1",
]

_ARTICLES = frozenset({"a", "an", "the"})
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_ASCII_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_PUNCTUATION_BYTES = string.punctuation.encode()

_NUMBER_SIGNS = ".%‰"
_MINUS = "\x01"  # stands for a minus while hyphens are removed
# Each pattern starts with a character of its match and looks behind from there: `re` searches that faster.
_SPACE_BEFORE_PERCENT = re.compile(r" (?<=\d ) *(?=[%‰])")  # 5 %
_LEADING_POINT = re.compile(r"\.(?<![^\W_]\.)(?<!\.\.)(?=\d)")  # .5
_BETWEEN_NUMBERS = re.compile(r"[^\w\s.%‰](?<=\d.)(?=\d)")  # 5-10
_OUTSIDE_NUMBER = re.compile(r"[.%‰](?:(?<!\d.)|(?<=\.)(?!\d))")  # the final point of "It is 5."


class _WithoutPunctuation(dict[int, int | None]):
    """A table for ``str.translate`` that drops punctuation except ``exceptions``; it caches each character."""

    def __init__(self, exceptions: str = "") -> None:
        super().__init__((ord(character), ord(character)) for character in exceptions)

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        drop = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if drop else code
        return self[code]


_PUNCTUATION, _PUNCTUATION_EXCEPT_SIGNS = _WithoutPunctuation(), _WithoutPunctuation(_NUMBER_SIGNS)


@cached_per_text
def normalize(text: str, *, chinese: bool = False) -> str:
    """Return ``text`` in SQuAD's normal form: lower case, no punctuation, no English articles, single spaces.

    For English in ASCII the result equals that of SQuAD's script, so 1.5% and 15% are equal, and so are -5 and 5.
    Other texts are first normalised by NFKC, Unicode's punctuation (category P) is dropped too, and U+2212 counts as a
    hyphen.

    If ``chinese`` is true, numbers keep their value: the minus (`notation.negative_span`, written as a hyphen), the
    decimal point, % and ‰ remain; separators of thousands are removed; and numbers stay apart if other punctuation
    separates them (5-10% does not become 510%).
    """
    return " ".join(_normal_words(text, chinese))


def _normal_words(text: str, chinese: bool) -> list[str]:
    """Return the words of the normal form of a text (see `normalize`)."""
    if not chinese and text.isascii():
        words = text.lower().encode("ascii").translate(None, _PUNCTUATION_BYTES).decode("ascii").split()
        if "".join(words).isalnum():  # without punctuation, an article is a whole word
            return [word for word in words if word not in _ARTICLES]
    bare = _chinese_numbers(text) if chinese else nfkc(text).lower().replace("\u2212", "-").translate(_PUNCTUATION)
    if "a" in bare or "the" in bare:
        bare = _ARTICLE.sub(" ", bare)
    return bare.split()


def _chinese_numbers(text: str) -> str:
    """Return a text in lower case, without punctuation except in numbers."""
    bare = join_thousands(nfkc(join_wide_thousands(text)).lower().replace("\u2212", "-").replace(_MINUS, " "))
    bare = mark_negatives(_LEADING_POINT.sub("0.", _SPACE_BEFORE_PERCENT.sub("", bare)), _MINUS)
    bare = _OUTSIDE_NUMBER.sub("", _BETWEEN_NUMBERS.sub(" ", bare)).translate(_PUNCTUATION_EXCEPT_SIGNS)
    return bare.replace(_MINUS, "-")


@cached_per_text
def published_normal(text: str) -> str:
    """Return ``text`` normalised by SQuAD's script: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split())


def exact_match(sample: Sample) -> Score:
    """Score whether the answer equals a reference after SQuAD's normalisation.

    Formula: 1 if normalize(answer) equals normalize(reference) for any reference, ignoring spaces next to Han
    characters. With one slot, each alias is a reference. With several slots, there is one reference: from each slot
    the alias that shares most tokens with the answer (the first of equals), joined with spaces in slot order. If the
    record is Chinese, or the answer or the reference has a Han character, numbers keep their value: 1,000元 equals
    1000元, but 1.5% is not 15%, and -5% is not 5%. English follows SQuAD's script, which drops the point and the minus:
    1.5 equals 15, and -5 equals 5.
    Range: 0 or 1, higher is better. Empty input: both normalise to nothing 1, one of them 0; no gold is not applicable.
    Source: SQuAD's evaluation script (Rajpurkar et al., 2016; 2018 for empty answers).
    """
    chinese = is_chinese(sample)
    return best_score(sample, lambda answer, reference: float(_equal(answer, reference, chinese)))


def token_f1(sample: Sample) -> Score:
    """Score the overlap of tokens between the answer and the nearest reference.

    Formula: max over the references of 2PR / (P + R); P and R are the shares of the answer's and of the reference's
    tokens that are in both, counted with multiplicity. References as in `exact_match`. Tokens are separated by spaces
    after SQuAD's normalisation. If the record is Chinese, or the answer or the reference has a Han character, jieba
    cuts both into words (not into characters; spaces next to Han characters are ignored), and numbers keep their value
    as in `exact_match`. In English 1.5 and 15 are the same token, as in SQuAD's script.
    Range: 0..1, higher is better. Empty input: both without tokens 1, one of them 0; no gold is not applicable.
    Source: SQuAD's evaluation script (Rajpurkar et al., 2016; 2018 for empty answers).
    """
    chinese = is_chinese(sample)
    return best_score(sample, lambda answer, reference: f1(answer, reference, chinese))


def is_chinese(sample: Sample) -> bool:
    """Return whether all texts of a sample are cut as Chinese, even a text without a Han character, such as 1.5%."""
    return sample.case.instance.language == "zh" or has_chinese(sample.answer.text)


def best_score(sample: Sample, score: Callable[[str, str], float]) -> Score:
    """Return the highest ``score(answer, reference)`` over the references; without gold the score is not applicable."""
    if not sample.case.instance.gold:
        return NO_GOLD
    answer, best = sample.answer.text, 0.0
    for reference in references(sample):
        best = max(best, score(answer, reference))
        if best >= 1:  # no other reference is nearer
            break
    return Score(best)


def references(sample: Sample) -> tuple[str, ...]:
    """Return the texts to compare the answer with; see the formula of `exact_match`."""
    gold = sample.case.instance.gold
    if len(gold) == 1:
        return gold[0]
    answer, chinese = sample.answer.text, is_chinese(sample)
    aliases = (
        max(slot, key=lambda alias: count_shared(*_token_counts(answer, alias, chinese)), default="") for slot in gold
    )
    return (" ".join(aliases),)


def f1(answer: str, reference: str, chinese: bool = False) -> float:
    """Return the F1 of the tokens of two texts."""
    answer_counts, reference_counts = _token_counts(answer, reference, chinese)
    if not answer_counts or not reference_counts:
        return float(not answer_counts and not reference_counts)
    n_shared = count_shared(answer_counts, reference_counts)
    if not n_shared:
        return 0.0
    precision, recall = n_shared / answer_counts.total(), n_shared / reference_counts.total()
    return 2 * precision * recall / (precision + recall)


def count_shared(one: Counter[str], other: Counter[str]) -> int:
    """Return the number of tokens that two texts share, with multiplicity."""
    smaller, larger = (one, other) if len(one) <= len(other) else (other, one)
    return sum(min(count, larger[token]) for token, count in smaller.items() if token in larger)


def _equal(answer: str, reference: str, chinese: bool) -> bool:
    chinese = chinese or has_chinese(reference)
    one, other = normalize(answer, chinese=chinese), normalize(reference, chinese=chinese)
    return one == other or (not (one.isascii() and other.isascii()) and fold_spaces(one) == fold_spaces(other))


def _token_counts(answer: str, reference: str, chinese: bool) -> tuple[Counter[str], Counter[str]]:
    """Return the tokens of both texts with their counts; if one of the texts is Chinese, jieba cuts both."""
    chinese = chinese or has_chinese(answer) or has_chinese(reference)
    return _counts(answer, chinese), _counts(reference, chinese)


@cached_per_text
def _counts(text: str, chinese: bool) -> Counter[str]:
    """Return the tokens of ``text`` with their counts."""
    return Counter(_signed_words(fold_spaces(normalize(text, chinese=True))) if chinese else _normal_words(text, False))


def _signed_words(text: str) -> list[str]:
    """Return jieba's words of a normalised text, with the minus of each number, which `words` drops."""
    first, *others = text.split("-")
    signed = words(first, chinese=True)
    for part in others:
        number, *rest = words(part, chinese=True)
        signed += [f"-{number}", *rest]
    return signed


EXACT_MATCH = Metric("exact_match", exact_match, binary=True)
TOKEN_F1 = Metric("token_f1", token_f1)
