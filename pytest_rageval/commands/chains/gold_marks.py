"""Mark gold answers and gold pages in printed texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import ascii_safe
from pytest_rageval.metrics.shared.alias_spans import alias_spans
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.case import Gold
from pytest_rageval.model.ranking import page_of

__all__ = ["GoldMarks"]

_PAINT, _PLAIN = "\x1b[1;32m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class GoldMarks:
    """Marks the gold of one case in texts.

    Attributes:
        answers: the gold slots of the case, each a tuple of aliases.
        pages: the ids of its gold pages and documents.
        colours: whether marked parts are also green.
    """

    answers: Gold = ()
    pages: Collection[str] = ()
    colours: bool = False

    def lines(self, text: str) -> Iterator[str]:
        """Yield the lines of a text with gold answers marked, such as ``>>9:00<<``, and control characters escaped.

        An answer is marked if the metric `accuracy` would find it; an alias that is empty when folded is not marked.
        """
        at, parts = 0, []
        for start, end in alias_spans(text, [alias for slot in self.answers for alias in slot]):
            parts += [_escaped(text[at:start]), self._marked(_escaped(text[start:end]))]
            at = end
        yield from "".join([*parts, _escaped(text[at:])]).split("\n")

    def page(self, name: str) -> str:
        """Return the id of a page or document; marked if it, or the page of the document, is gold."""
        is_gold = name in self.pages or page_of(name) in self.pages
        return self._marked(ascii_safe(name)) if is_gold else ascii_safe(name)

    def answers_missing_in(self, texts: Sequence[str]) -> list[str]:
        """Return the gold slots that no text contains, each as its aliases, such as "Paris / City of Light"."""
        return [
            ascii_safe(" / ".join(slot))
            for slot in self.answers
            if not any(contains(text, alias) for alias in slot for text in texts)
        ]

    def _marked(self, text: str) -> str:
        if not self.colours:
            return f">>{text}<<"
        return "\n".join(f"{_PAINT}{line}{_PLAIN}" for line in f">>{text}<<".split("\n"))


def _escaped(text: str) -> str:
    return "\n".join(map(ascii_safe, text.split("\n")))
