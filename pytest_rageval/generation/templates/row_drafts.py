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
from pytest_rageval.generation.templates.parsed_template import ParsedTemplate, Text
from pytest_rageval.generation.templates.template_draft import make_draft
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Turn

__all__ = ["AMBIGUOUS", "row_drafts"]

AMBIGUOUS, DUPLICATE, NOT_UNIQUE, BRIDGE = "ambiguous", "duplicate", "not_unique", "bridge_in_question"

QuestionKey = frozenset[tuple[str, str]]
"""(placeholder, normalised value) pairs of a question; equal keys mean the same question."""


def row_drafts(
    parsed_template: ParsedTemplate, rows: Sequence[Row], plan: Plan, missing: Counter[str]
) -> Iterator[Draft]:
    """Yield a draft, or the turns of a conversation, for each row.

    Rows without a value for a question or the answer are left out and counted in ``missing``. A draft is yielded as
    dropped if its question has several answers, names a linking value, or repeats the question of an earlier row.
    """
    earlier_keys: set[QuestionKey] = set()
    for row in rows:
        wording = parsed_template.wording(row, plan.seed)
        first = wording.fill(row)
        answers = answers_of(parsed_template, row) if first else []
        later = [text.fill(row) for text in parsed_template.follow_ups]
        if first is None or not answers or None in later:
            missing["without a value of ask or answer"] += 1
            continue
        question, values = first
        if not parsed_template.template.answer:
            answers = [answer.without(question) for answer in answers]
        group = parsed_template.rows_of_question(row, wording.expressions)
        all_answers = [answer for each in group for answer in answers_of(parsed_template, each)]
        if parsed_template.template.follow_up:
            questions = [question, *(each[0] for each in later if each is not None)]
            turns = _conversation(parsed_template, plan, row, wording, questions, answers[0])
        else:
            answers = all_answers if parsed_template.template.collect else answers[:1]
            turns = [_draft(parsed_template, plan, row, question, values, answers)]
        reason, detail = _problem(parsed_template, row, question, all_answers)
        placeholders = zip(wording.expressions, values, strict=True)
        key = frozenset((expression.text, fold(", ".join(value.texts))) for expression, value in placeholders)
        if not reason and key in earlier_keys:
            reason, detail = DUPLICATE, "an earlier row has the same question and answer"
        earlier_keys.add(key)
        yield from (turn.dropped(reason, detail) if reason else turn for turn in turns)


def _problem(parsed_template: ParsedTemplate, row: Row, question: str, answers: Sequence[RowAnswer]) -> tuple[str, str]:
    """Return the reason and the detail if a question has no single answer; two empty texts if it has one."""
    template = parsed_template.template
    if template.unique:
        shared = parsed_template.table.matching({column: row.values.get(column) for column in template.unique})
        if len(shared) > 1:
            return NOT_UNIQUE, f"{len(shared)} rows share {', '.join(template.unique)}"
    alternatives = alternatives_of(answers)
    if alternatives and not template.collect:
        return AMBIGUOUS, alternatives
    for link in links_of(parsed_template, row):
        if contains(question, link):
            return BRIDGE, f"{link} is in the question"
    return "", ""


def _draft(
    parsed_template: ParsedTemplate,
    plan: Plan,
    row: Row,
    question: str,
    values: Sequence[PlaceholderValue],
    answers: Sequence[RowAnswer],
) -> Draft:
    """Return the draft of a question; several answers become slots."""
    slots = {tuple(map(fold, slot)): slot for answer in answers for slot in answer.gold}
    rows = dict.fromkeys(each for answer in answers for each in answer.rows)
    gold, links = tuple(slots.values()), links_of(parsed_template, row)
    return make_draft(parsed_template, plan, question, gold, list(rows), links=links, values=values)


def _conversation(
    parsed_template: ParsedTemplate, plan: Plan, row: Row, wording: Text, questions: Sequence[str], answered: RowAnswer
) -> list[Draft]:
    """Return the turns of a conversation about a row, each with the turns before it as history."""
    dialogue = case_id(row.topic, parsed_template.template.task, "\n".join(questions), [row.id])
    values = [expression.find(row) for expression in wording.expressions]
    entities = [text for value in values if value is not None for text in value.texts]
    history: tuple[Turn, ...] = ()
    turns = []
    for number, (question, gold) in enumerate(zip(questions, answered.parts, strict=True), 1):
        facets = {"dialogue": dialogue, "round": str(number)}
        turn = make_draft(parsed_template, plan, question, gold, answered.rows, history=history, facets=facets)
        turns.append(replace(turn, verdicts={**turn.verdicts, "entities": entities}))
        history = (*history, Turn(question, ", ".join(slot[0] for slot in gold)))
    return turns
