"""Draft cases about one row: lookups, joins, all fields of a row, conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_rageval.generation.draft import Draft, case_id
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Row
from pytest_rageval.generation.templates.answers import Answered, answers_of, links_of, told_apart
from pytest_rageval.generation.templates.expression import Found
from pytest_rageval.generation.templates.making import make_draft
from pytest_rageval.generation.templates.prepared import Prepared, Text
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Turn

__all__ = ["AMBIGUOUS", "row_drafts"]

AMBIGUOUS, REPEATED, NOT_UNIQUE, BRIDGE = "ambiguous", "duplicate", "not_unique", "bridge_in_question"

Asked = frozenset[tuple[str, str]]
"""What a question fills in: placeholder and folded value. Two wordings that fill in the same ask the same."""


def row_drafts(prepared: Prepared, rows: Sequence[Row], plan: Plan, missing: Counter[str]) -> Iterator[Draft]:
    """Yield a draft, or the turns of a conversation, for each row that has all values."""
    asked: set[Asked] = set()
    for row in rows:
        wording = prepared.wording(row, plan.seed)
        filled = wording.fill(row)
        answers = answers_of(prepared, row) if filled else []
        later = [text.fill(row) for text in prepared.follow_ups]
        if filled is None or not answers or None in later:
            missing["without a value of ask or answer"] += 1
            continue
        question, found = filled
        if not prepared.template.answer:
            answers = [answer.without(question) for answer in answers]
        group = prepared.rows_of_question(row, wording.expressions)
        every = [answer for each in group for answer in answers_of(prepared, each)]
        if prepared.template.follow_up:
            questions = [question, *(each[0] for each in later if each is not None)]
            turns = _conversation(prepared, plan, row, wording, questions, answers[0])
        else:
            turns = [_draft(prepared, plan, row, filled, every if prepared.template.collect else answers[:1])]
        reason, detail = _refusal(prepared, row, question, every)
        filled_in = zip(wording.expressions, found, strict=True)
        key = frozenset((expression.text, fold(", ".join(each.texts))) for expression, each in filled_in)
        if not reason and key in asked:
            reason, detail = REPEATED, "an earlier row has the same question and answer"
        asked.add(key)
        yield from (turn.dropped(reason, detail) if reason else turn for turn in turns)


def _refusal(prepared: Prepared, row: Row, question: str, every: Sequence[Answered]) -> tuple[str, str]:
    """Return why the question has no certain answer, as reason and finding; two empty texts if it has one."""
    template = prepared.template
    if template.unique:
        shared = prepared.table.matching({column: row.values.get(column) for column in template.unique})
        if len(shared) > 1:
            return NOT_UNIQUE, f"{len(shared)} rows share {', '.join(template.unique)}"
    apart = told_apart(every)
    if apart and not template.collect:
        return AMBIGUOUS, apart
    for link in links_of(prepared, row):
        if contains(question, link):
            return BRIDGE, f"{link} is in the question"
    return "", ""


def _draft(
    prepared: Prepared, plan: Plan, row: Row, filled: tuple[str, tuple[Found, ...]], answers: Sequence[Answered]
) -> Draft:
    """Return the draft of a question; several answers are slots."""
    question, found = filled
    slots = {tuple(map(fold, slot)): slot for answer in answers for slot in answer.gold}
    rows = dict.fromkeys(each for answer in answers for each in answer.rows)
    gold, links = tuple(slots.values()), links_of(prepared, row)
    return make_draft(prepared, plan, question, gold, list(rows), links=links, found=found)


def _conversation(
    prepared: Prepared, plan: Plan, row: Row, wording: Text, questions: Sequence[str], answered: Answered
) -> list[Draft]:
    """Return the turns of a conversation about a row, each with the turns before it."""
    dialogue = case_id(row.topic, prepared.template.task, "\n".join(questions), [row.id])
    found = [each.find(row) for each in wording.expressions]
    entities = [text for each in found if each is not None for text in each.texts]
    history: tuple[Turn, ...] = ()
    turns = []
    for number, (asked, gold) in enumerate(zip(questions, answered.parts, strict=True), 1):
        facets = {"dialogue": dialogue, "round": str(number)}
        turn = make_draft(prepared, plan, asked, gold, answered.rows, history=history, facets=facets)
        turns.append(replace(turn, verdicts={**turn.verdicts, "entities": entities}))
        history = (*history, Turn(asked, ", ".join(slot[0] for slot in gold)))
    return turns
