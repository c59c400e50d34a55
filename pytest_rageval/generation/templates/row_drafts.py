"""Draft cases about one row: lookups, joins, all fields of a row, conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_rageval.generation.draft import Draft, case_id
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Row
from pytest_rageval.generation.templates.answers import RowAnswer, alternatives_of, answers_of, links_of
from pytest_rageval.generation.templates.expression import PlaceholderValue
from pytest_rageval.generation.templates.making import make_draft
from pytest_rageval.generation.templates.prepared import Prepared, Text
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Turn

__all__ = ["AMBIGUOUS", "row_drafts"]

AMBIGUOUS, REPEATED, NOT_UNIQUE, BRIDGE = "ambiguous", "duplicate", "not_unique", "bridge_in_question"

QuestionKey = frozenset[tuple[str, str]]
"""Placeholder and folded value of each placeholder of a question. Wordings with equal keys ask the same question."""


def row_drafts(prepared: Prepared, rows: Sequence[Row], plan: Plan, missing: Counter[str]) -> Iterator[Draft]:
    """Yield a draft, or the turns of a conversation, for each row that has all values."""
    earlier_keys: set[QuestionKey] = set()
    for row in rows:
        wording = prepared.wording(row, plan.seed)
        first = wording.fill(row)
        answers = answers_of(prepared, row) if first else []
        later = [text.fill(row) for text in prepared.follow_ups]
        if first is None or not answers or None in later:
            missing["without a value of ask or answer"] += 1
            continue
        question, values = first
        if not prepared.template.answer:
            answers = [answer.without(question) for answer in answers]
        group = prepared.rows_of_question(row, wording.expressions)
        all_answers = [answer for each in group for answer in answers_of(prepared, each)]
        if prepared.template.follow_up:
            questions = [question, *(each[0] for each in later if each is not None)]
            turns = _conversation(prepared, plan, row, wording, questions, answers[0])
        else:
            answers = all_answers if prepared.template.collect else answers[:1]
            turns = [_draft(prepared, plan, row, question, values, answers)]
        reason, detail = _problem(prepared, row, question, all_answers)
        placeholders = zip(wording.expressions, values, strict=True)
        key = frozenset((expression.text, fold(", ".join(value.texts))) for expression, value in placeholders)
        if not reason and key in earlier_keys:
            reason, detail = REPEATED, "an earlier row has the same question and answer"
        earlier_keys.add(key)
        yield from (turn.dropped(reason, detail) if reason else turn for turn in turns)


def _problem(prepared: Prepared, row: Row, question: str, answers: Sequence[RowAnswer]) -> tuple[str, str]:
    """Return the reason and the detail if a question has no single answer; two empty texts if it has one."""
    template = prepared.template
    if template.unique:
        shared = prepared.table.matching({column: row.values.get(column) for column in template.unique})
        if len(shared) > 1:
            return NOT_UNIQUE, f"{len(shared)} rows share {', '.join(template.unique)}"
    alternatives = alternatives_of(answers)
    if alternatives and not template.collect:
        return AMBIGUOUS, alternatives
    for link in links_of(prepared, row):
        if contains(question, link):
            return BRIDGE, f"{link} is in the question"
    return "", ""


def _draft(
    prepared: Prepared,
    plan: Plan,
    row: Row,
    question: str,
    values: Sequence[PlaceholderValue],
    answers: Sequence[RowAnswer],
) -> Draft:
    """Return the draft of a question; several answers become slots."""
    slots = {tuple(map(fold, slot)): slot for answer in answers for slot in answer.gold}
    rows = dict.fromkeys(each for answer in answers for each in answer.rows)
    gold, links = tuple(slots.values()), links_of(prepared, row)
    return make_draft(prepared, plan, question, gold, list(rows), links=links, values=values)


def _conversation(
    prepared: Prepared, plan: Plan, row: Row, wording: Text, questions: Sequence[str], answered: RowAnswer
) -> list[Draft]:
    """Return the turns of a conversation about a row, each with the turns before it as history."""
    dialogue = case_id(row.topic, prepared.template.task, "\n".join(questions), [row.id])
    values = [expression.find(row) for expression in wording.expressions]
    entities = [text for value in values if value is not None for text in value.texts]
    history: tuple[Turn, ...] = ()
    turns = []
    for number, (question, gold) in enumerate(zip(questions, answered.parts, strict=True), 1):
        facets = {"dialogue": dialogue, "round": str(number)}
        turn = make_draft(prepared, plan, question, gold, answered.rows, history=history, facets=facets)
        turns.append(replace(turn, verdicts={**turn.verdicts, "entities": entities}))
        history = (*history, Turn(question, ", ".join(slot[0] for slot in gold)))
    return turns
