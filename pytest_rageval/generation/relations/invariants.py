"""Compare what a reworded question must keep: digits, quantities, names, negations, quotes."""

from __future__ import annotations

import re
from collections import Counter

from pytest_rageval.metrics.shared.same_quantity import read_quantities
from pytest_rageval.text.quantities import Quantity, in_names
from pytest_rageval.text.unicode import nfkc

__all__ = ["OPENERS", "WORD", "is_negation", "lost_invariants", "names_of", "quotes_of", "same_values", "values_of"]

_OPENERS = (
    "a an and are at by can could did do does explain for from give had has have how i if in is list name of on please"
    " should since tell that the there these this to under was were what what's when where which who who's whom whose"
    " why will with would"
)
OPENERS = frozenset(_OPENERS.split())
"""Words that often open a question. Any other capitalised word may be a name, even the first one."""

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_NEGATION_WORDS = "cannot except hardly neither never no nobody none nor not nothing nowhere scarcely unless without"
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_NEGATION = re.compile(rf"\b(?:{'|'.join(sorted(_NEGATIONS))})\b|n['’]t\b|[不没沒未无無非别莫勿否]")
_QUOTES = re.compile(r"""["“”]([^"“”]+)["“”]|[「『《〈]([^」』》〉]+)[」』》〉]|(?<!\w)['‘]([^'‘’]+)['’](?!\w)""")
_DIGITS = re.compile(r"\d+")


def lost_invariants(question: str, form: str) -> tuple[str, ...]:
    """Return the names of the properties that a changed question loses; () if it keeps all.

    Texts are compared after NFKC and case folding. ``digits`` are runs of digits, ``quantities`` are compared by value
    and unit, ``names`` are words with a capital letter except a first word such as When, ``negations`` are counted,
    and ``quotes`` are texts in quotation marks.
    """
    one, other = _fold(question), _fold(form)
    checks = {
        "digits": _DIGITS.findall(one) == _DIGITS.findall(other),
        "quantities": same_values(question, form),
        "names": not names_of(question) - Counter(WORD.findall(other)),
        "negations": Counter(_NEGATION.findall(one)) == Counter(_NEGATION.findall(other)),
        "quotes": quotes_of(question) == quotes_of(form),
    }
    return tuple(name for name, is_kept in checks.items() if not is_kept)


def same_values(one: str, other: str) -> bool:
    """Return whether two texts state the same quantities, by value and unit, and the same digits in names."""
    return values_of(one) == values_of(other) and _values_in_names(one) == _values_in_names(other)


def values_of(text: str) -> Counter[object]:
    """Return the values and units of the quantities in a text, independent of their notation."""
    return Counter(map(_value, read_quantities(text)))


def names_of(text: str) -> Counter[str]:
    """Return the folded words with a capital letter, except a first word that often opens a question."""
    all_words = [match[0] for match in WORD.finditer(nfkc(text))]
    has_opener = bool(all_words) and all_words[0].casefold() in OPENERS
    return Counter(word.casefold() for word in all_words[has_opener:] if word != word.lower())


def quotes_of(text: str) -> list[str]:
    """Return the texts in quotation marks, folded, in order."""
    return [next(filter(None, match.groups())) for match in _QUOTES.finditer(_fold(text))]


def is_negation(word: str) -> bool:
    """Return whether an English word is a negation."""
    return word.casefold() in _NEGATIONS or word.casefold().replace("’", "'").endswith("n't")


def _fold(text: str) -> str:
    return nfkc(nfkc(text).casefold())


def _value(one: Quantity) -> object:
    return one.low, one.high, one.unit, one.date


def _values_in_names(text: str) -> Counter[object]:
    return Counter(map(_value, in_names(text)))
