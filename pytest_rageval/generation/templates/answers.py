"""Find the answers of a template for a row, through joins, lists and ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from pytest_rageval.generation.tables.table import Row, value_text
from pytest_rageval.generation.templates.joins import follow
from pytest_rageval.generation.templates.parsed_template import ParsedTemplate, Text
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Gold

__all__ = ["RowAnswer", "alternatives_of", "answers_of", "links_of"]

Option = tuple[Gold, tuple[Row, ...]]
"""One option for a text of the answer: slots, and the rows of other tables that they come from."""


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """One answer to the question about a row.

    Attributes:
        parts: the slots of each text of the template's answer.
        rows: the rows that it comes from: the row of the question, rows of joins, and rows that a placeholder links to.
    """

    parts: tuple[Gold, ...]
    rows: tuple[Row, ...]

    @property
    def gold(self) -> Gold:
        """All slots."""
        return tuple(slot for part in self.parts for slot in part)

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """The key by which answers are compared: folded slots in sorted order."""
        return tuple(sorted(tuple(map(fold, slot)) for slot in self.gold))

    def without(self, question: str) -> RowAnswer:
        """Return the answer without slots that the question contains; unchanged if none would remain."""
        parts = tuple(part for part in self.parts if not any(contains(question, slot[0]) for slot in part))
        return replace(self, parts=parts) if parts else self

    def __str__(self) -> str:
        return " and ".join(slot[0] for slot in self.gold)


def alternatives_of(answers: Iterable[RowAnswer]) -> str:
    """Return different answers as a text such as ``Oslo or Bergen``; "" if all answers are equal."""
    different = {answer.key: str(answer) for answer in answers}
    return " or ".join(dict.fromkeys(different.values())) if len(different) > 1 else ""


def answers_of(parsed_template: ParsedTemplate, row: Row) -> list[RowAnswer]:
    """Return the answers of a row, one for each chain of joins and each tied record.

    A chain that lacks a value of the answer gives no answer.
    """
    answers = []
    for path in follow(row, parsed_template.joins):
        options_of_slots = [_options(slot, path[-1]) for slot in parsed_template.slots]
        present = [options for options in options_of_slots if options]
        if not present or (len(present) < len(options_of_slots) and parsed_template.template.answer):
            continue
        for combination in product(*present):
            linked = [each for _, rows in combination for each in rows]
            answers.append(RowAnswer(tuple(gold for gold, _ in combination), tuple(dict.fromkeys((*path, *linked)))))
    return answers


def links_of(parsed_template: ParsedTemplate, row: Row) -> list[str]:
    """Return the values that lead from the row of a question to the row of its answer."""
    links: list[str] = []
    for path in follow(row, parsed_template.joins):
        for each, join in zip(path, parsed_template.joins, strict=False):
            links += map(value_text, join.values(each))
    return list(dict.fromkeys(links))


def _options(aliases: Sequence[Text], row: Row) -> list[Option]:
    """Return the options for a text of the answer about a row: none if a value is missing, several for a tie.

    A list field gives a slot for each item.
    """
    first = aliases[0]
    if len(aliases) == 1 and len(first.expressions) == 1 and first.pattern == f"{{{first.expressions[0].text}}}":
        value = first.expressions[0].find(row)
        if value is None:
            return []
        slots = tuple((text,) for text in value.texts)
        return [((slot,), value.rows) for slot in slots] if value.tied else [(slots, value.rows)]
    pairs = [each for each in (alias.fill(row) for alias in aliases) if each is not None]
    if len(pairs) < len(aliases) or any(value.tied for _, values in pairs for value in values):
        return []
    rows = tuple(linked for _, values in pairs for value in values for linked in value.rows)
    return [((tuple(dict.fromkeys(text for text, _ in pairs)),), rows)]
