"""Names as gold answers; a false value is another name of the same list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, apply_edits, same_length
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.text.language import CJK
from pytest_rageval.text.stems import STOP_WORDS

__all__ = ["NameAnswer", "Names", "name_answer"]

Names = Sequence[Sequence[str]]
"""Lists of names, each of one kind: cities, people, companies."""

_MAX_CANDIDATES = 48
"""Maximum number of other names to try."""

_TITLE = re.compile(
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|President|Chancellor|Senator|Judge|Captain|Coach|King"
    r"|Queen|Prince|Princess|Mayor|Minister|Pope|Saint)\.?\Z"
)
_BEFORE = re.compile(r"(?P<word>[^\W\d_][\w.'’-]*) \Z")
_AFTER = re.compile(r" [A-Z]")
_JOINED = re.compile("[ ·•]")
_PARTICLES = frozenset({"and", "de", "for", "of", "the"})


@dataclass(frozen=True, slots=True)
class NameAnswer:
    """A gold slot whose answer is a listed name.

    Attributes:
        aliases: the aliases of the slot.
        names: the list that contains it.
    """

    aliases: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """Always ``name``."""
        return "name"

    def others(self, random: Random) -> Iterator[str]:
        """Yield the names of the list that share no word with an alias."""
        alias_words = set().union(*(_words(alias) for alias in self.aliases))
        others = [name for name in self.names if not alias_words & _words(name)]
        yield from random.sample(others, min(_MAX_CANDIDATES, len(others)))

    def value_of(self, text: str) -> str | None:
        """Return the listed name that equals ``text``; None if there is none."""
        return next((name for name in self.names if fold(name) == fold(text)), None)

    def fakes(self, value: str) -> tuple[str, ...]:
        """Return the other name as the only alias."""
        return (value,)

    def edits(self, text: str, value: str) -> tuple[Edit, ...] | Drop:
        """Return edits of all aliases; if the text has a full name, also of the last name alone."""
        spans: list[tuple[int, int, str]] = []
        for alias in sorted(filter(self._is_name, self.aliases), key=len, reverse=True):
            spans += [(*span, alias) for span in _places(text, alias) if not _overlaps(span, spans)]
        longer = [name for name in self.names if any(_is_longer(name, alias) for alias in self.aliases)]
        if any(_overlaps(place, spans) for name in longer for place in _places(text, name)):
            return Drop("ambiguous_name", f"{longer[0]} is another name")
        edits = [Edit(start, end, _in_case(value, text[start:end])) for start, end, _ in spans]
        if edits and self.gold_is_in(apply_edits(text, edits)):
            return Drop("old_value_left", "the name is a part of another word")
        for alias in {alias for _, _, alias in spans if _JOINED.search(alias)}:
            last_name_edits = _last_names(text, alias, value, spans)
            if isinstance(last_name_edits, Drop):
                return last_name_edits
            edits += [edit for edit in last_name_edits if edit not in edits]
        return tuple(sorted(edits))

    def _is_name(self, alias: str) -> bool:
        """Return whether an alias is a bare name; "the Louvre" is not, because it adds a word to Louvre."""
        listed = [name for name in self.names if _is_longer(alias, name)]
        return not any(word[0].islower() for name in listed for word in alias.replace(name, " ").split())

    def gold_is_in(self, text: str) -> bool:
        """Return whether ``text`` contains an alias, also as a part of a word."""
        return any(contains(text, alias) for alias in self.aliases)

    def value_is_in(self, text: str, value: str) -> bool:
        """Return whether ``text`` contains the other name, or its last word alone."""
        return contains(text, value) or bool(_places(text, _JOINED.split(value)[-1]))


def name_answer(aliases: tuple[str, ...], names: Names) -> NameAnswer | Drop | None:
    """Parse a slot as a listed name; None if no list has it, a drop if several lists have it."""
    folded = {fold(alias) for alias in aliases}
    lists = [tuple(each) for each in names if any(fold(name) in folded for name in each)]
    if len(set(lists)) > 1:
        return Drop("ambiguous_name", f"{len(lists)} lists have {aliases[0]}")
    return NameAnswer(aliases, lists[0]) if lists else None


def _last_names(text: str, alias: str, value: str, spans: list[tuple[int, int, str]]) -> list[Edit] | Drop:
    """Return edits of a last name that stands alone; a drop if it may be the name of someone else."""
    *first, last = _JOINED.split(alias)
    for word in first:
        if len(word) > 1 and word.casefold() not in _PARTICLES and _outside(text, word, spans):
            return Drop("ambiguous_name", f"{word} stands alone")
    edits = []
    for start, end in _outside(text, last, spans):
        before = _BEFORE.search(text[max(0, start - 40) : start])
        if (before and _is_first_name(before["word"])) or (last.isascii() and _AFTER.match(text, end)):
            return Drop("ambiguous_name", f"{last} may be another name")
        edits.append(Edit(start, end, _in_case(_JOINED.split(value)[-1], text[start:end])))
    return edits


def _is_first_name(word: str) -> bool:
    """Return whether a word before a last name is a first name, so it names another person: Bob, not Mr or When."""
    if word.endswith(".") and len(word) > len("J."):  # the end of a sentence
        return False
    return word[:1].isupper() and word.casefold() not in STOP_WORDS and _TITLE.match(word) is None


def _outside(text: str, word: str, spans: list[tuple[int, int, str]]) -> list[tuple[int, int]]:
    return [span for span in _places(text, word) if not _overlaps(span, spans)]


@lru_cache(maxsize=1024)
def _places(text: str, name: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of a name as whole words, as written or in capitals; Han characters have no word boundaries."""
    words = r"\s+".join(map(re.escape, same_length(name).split()))
    capitals = r"\s+".join(map(re.escape, same_length(name).upper().split()))
    letter = rf"[^\W\d_{CJK}]"
    pattern = (
        rf"(?:(?<!{letter})(?={letter})|(?!{letter}))(?:{words}|{capitals})(?:(?<={letter})(?!{letter})|(?<!{letter}))"
    )
    return tuple(match.span() for match in re.finditer(pattern, same_length(text)))


def _overlaps(span: tuple[int, ...], spans: Sequence[tuple[int, int, str]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end, _ in spans)


def _is_longer(name: str, alias: str) -> bool:
    return fold(name) != fold(alias) and bool(_places(name, alias))


def _words(name: str) -> frozenset[str]:
    """Return the words of a name without "of", "the" and the like; a name in Han characters is one word."""
    return frozenset(word for word in re.split(r"[\W_]+", fold(name)) if word and word not in _PARTICLES)


def _in_case(name: str, old: str) -> str:
    return name.upper() if old.isupper() and len(old) > 3 else name
