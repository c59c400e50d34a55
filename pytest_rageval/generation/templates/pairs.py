"""Draft cases about two rows: contrasts, and questions with two lookups."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Row, is_missing, value_text
from pytest_rageval.generation.tables.values import comparable, is_ordered
from pytest_rageval.generation.templates.answers import RowAnswer, alternatives_of, answers_of
from pytest_rageval.generation.templates.parsed_template import ParsedTemplate, Text
from pytest_rageval.generation.templates.row_drafts import AMBIGUOUS
from pytest_rageval.generation.templates.template_draft import make_draft
from pytest_rageval.model.case import Gold

__all__ = ["paired_drafts"]

MAX_CANDIDATES = 100
"""How many following rows are candidates for the second row of a pair; the limit keeps the time linear."""


def paired_drafts(
    parsed_template: ParsedTemplate, rows: Sequence[Row], plan: Plan, skipped: Counter[str]
) -> Iterator[Draft]:
    """Yield a draft for each pair of a topic: a row, and the next row that differs from it.

    A row is in only one pair of a template: otherwise pairs would link all rows of a topic, and no split could separate
    them. Pairs are in the order of their second rows, so a new last row of the table only adds a last pair.
    """
    positions = {row.id: position for position, row in enumerate(rows)}
    pairs = sorted(_pairs(parsed_template, rows, skipped), key=lambda pair: positions[pair[1].id])
    yield from (_pair(parsed_template, plan, row, other) for row, other in pairs)


def _pairs(parsed_template: ParsedTemplate, rows: Sequence[Row], skipped: Counter[str]) -> Iterator[tuple[Row, Row]]:
    """Yield the pairs, topic by topic; a row is in at most one pair."""
    topics: dict[str, list[Row]] = {}
    for row in rows:
        if _is_complete(parsed_template, row):
            topics.setdefault(row.topic, []).append(row)
        else:
            skipped["without a value of ask, answer or pick"] += 1
    for members in topics.values():
        candidates = deque(members)
        while candidates:
            row = candidates.popleft()
            other = next(
                (each for each in islice(candidates, MAX_CANDIDATES) if _differ(parsed_template, row, each)), None
            )
            if other is None:
                skipped["without a second row that differs"] += 1
                continue
            candidates.remove(other)
            yield row, other


def _is_complete(parsed_template: ParsedTemplate, row: Row) -> bool:
    """Return whether a row has all values that a pair needs."""
    pick = parsed_template.template.pick
    if pick is not None and is_missing(row.values.get(pick.column)):
        return False
    expressions = {each for ask in parsed_template.asks for each in ask.expressions}
    return all(each.find(row) is not None for each in expressions) and bool(answers_of(parsed_template, row))


def _differ(parsed_template: ParsedTemplate, one: Row, other: Row) -> bool:
    """Return whether two rows differ in the question and in the answer."""
    key = parsed_template.table.key
    if comparable(one.values.get(key)) == comparable(other.values.get(key)):
        return False
    pick = parsed_template.template.pick
    if pick is None:
        return answers_of(parsed_template, one)[0].key != answers_of(parsed_template, other)[0].key
    values = [comparable(each.values[pick.column]) for each in (one, other)]
    return values[0] != values[1] and is_ordered(values)


def _pair(parsed_template: ParsedTemplate, plan: Plan, row: Row, other: Row) -> Draft:
    """Return the draft of a pair, dropped as ambiguous if other rows give other answers."""
    wording = parsed_template.wording(row, plan.seed)
    filled = wording.fill(row, other)
    question, values = filled if filled is not None else ("", ())
    gold, groups = _gold(parsed_template, row, other)
    draft = make_draft(parsed_template, plan, question, gold, [row, other], groups=groups, values=values)
    for side, each in ((False, row), (True, other)):
        alternatives = alternatives_of(_answers_of_side(parsed_template, wording, each, other=side))
        if alternatives:
            return draft.dropped(AMBIGUOUS, alternatives)
    return draft


def _gold(parsed_template: ParsedTemplate, row: Row, other: Row) -> tuple[Gold, Sequence[int] | None]:
    """Return the slots: for a contrast, the picked row and both values; for two lookups, both answers."""
    pick = parsed_template.template.pick
    answers = [answers_of(parsed_template, each)[0] for each in (row, other)]
    if pick is None:
        return tuple(slot for answer in answers for slot in answer.gold), (0, 1)
    values = [each.values[pick.column] for each in (row, other)]
    best = (min if pick.order == "min" else max)((0, 1), key=lambda at: comparable(values[at])[1])
    return (*answers[best].gold, *((value_text(value),) for value in values)), None


def _answers_of_side(parsed_template: ParsedTemplate, wording: Text, row: Row, *, other: bool) -> list[RowAnswer]:
    """Return the answers, or the compared values, of all rows that one side of the question may refer to."""
    pick = parsed_template.template.pick
    group = parsed_template.rows_of_question(row, wording.side(other))
    answers = [answer for each in group for answer in answers_of(parsed_template, each)]
    if pick is None:
        return answers
    return [RowAnswer((((value_text(each.values.get(pick.column)),),),), (each,)) for each in group]
