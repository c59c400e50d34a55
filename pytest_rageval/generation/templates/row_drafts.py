"""Draft cases about one row: lookups, joins, all fields of a row, conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.generation.draft import Draft, case_id
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Row, is_missing, value_text
from pytest_rageval.generation.templates.joins import follow
from pytest_rageval.generation.templates.making import make_draft
from pytest_rageval.generation.templates.prepared import Prepared, Text
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Gold, Turn

__all__ = ["Answered", "answers_of", "row_drafts", "told_apart"]

AMBIGUOUS, REPEATED, NOT_UNIQUE, BRIDGE = "ambiguous", "duplicate", "not_unique", "bridge_in_question"


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer to the question about a row.

    Attributes:
        gold: the answer.
        rows: the rows that it is from: the row of the question, those of joins, those that a placeholder links.
    """

    gold: Gold
    rows: tuple[Row, ...]

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """The answer as answers are compared."""
        return tuple(tuple(map(fold, slot)) for slot in self.gold)

    def __str__(self) -> str:
        return " and ".join(slot[0] for slot in self.gold)


def row_drafts(prepared: Prepared, rows: Sequence[Row], plan: Plan, missing: Counter[str]) -> Iterator[Draft]:
    """Yield a draft, or the turns of a conversation, for each row that has all values."""
    asked: set[tuple[str, ...]] = set()
    for row in rows:
        wording = prepared.wording(row, plan.seed)
        filled = wording.fill(row)
        answers = answers_of(prepared, row) if filled else []
        if filled is None or not answers:
            missing["without a value of ask or answer"] += 1
            continue
        question, _ = filled
        group = prepared.rows_of_question(row, wording.expressions)
        every = [answer for each in group for answer in answers_of(prepared, each)]
        if prepared.template.follow_up:
            turns = _conversation(prepared, plan, row, wording, question, answers[0])
        else:
            turns = [_draft(prepared, plan, row, question, every if prepared.template.collect else answers[:1])]
        reason, detail = _refusal(prepared, row, question, every)
        key = tuple(fold(question).split())
        if not reason and key in asked:
            reason, detail = REPEATED, "another row has the same question and answer"
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
    for link in _links(prepared, row):
        if contains(question, link):
            return BRIDGE, f"{link} is in the question"
    return "", ""


def told_apart(answers: Sequence[Answered]) -> str:
    """Return answers that differ as ``Oslo or Bergen``; "" if all are equal."""
    different = {answer.key: str(answer) for answer in answers}
    return " or ".join(dict.fromkeys(different.values())) if len(different) > 1 else ""


def answers_of(prepared: Prepared, row: Row) -> list[Answered]:
    """Return the answers of a row, one for each chain of joins from it; those without a value are left out."""
    answers = []
    for path in follow(row, prepared.joins):
        filled = [_slot(slot, path[-1]) for slot in prepared.slots]
        present = [slot for slot in filled if slot is not None]
        if present and (len(present) == len(filled) or not prepared.template.answer):
            gold = tuple(alias for slots, _ in present for alias in slots)
            linked = [each for _, found in present for each in found]
            answers.append(Answered(gold, tuple(dict.fromkeys((*path, *linked)))))
    return answers


def _slot(aliases: Sequence[Text], row: Row) -> tuple[Gold, tuple[Row, ...]] | None:
    """Return the slots of one text of the answer: one, or several if it is a list field; None if a value is missing."""
    first = aliases[0]
    if len(aliases) == 1 and len(first.expressions) == 1 and first.pattern == f"{{{first.expressions[0].text}}}":
        found = first.expressions[0].find(row)
        return None if found is None or found.tied else (tuple((text,) for text in found.texts), found.rows)
    filled = [alias.fill(row) for alias in aliases]
    if any(each is None or any(found.tied for found in each[1]) for each in filled):
        return None
    present = [each for each in filled if each is not None]
    rows = tuple(linked for _, every in present for found in every for linked in found.rows)
    return (tuple(dict.fromkeys(text for text, _ in present)),), rows


def _links(prepared: Prepared, row: Row) -> list[str]:
    """Return the values that lead from the row of a question to that of its answer."""
    links: list[str] = []
    for path in follow(row, prepared.joins):
        for each, join in zip(path, prepared.joins, strict=False):
            value = each.values.get(join.column)
            if not is_missing(value):
                items = value if isinstance(value, (list, tuple)) else [value]
                links += map(value_text, items)
    return list(dict.fromkeys(links))


def _draft(prepared: Prepared, plan: Plan, row: Row, question: str, answers: Sequence[Answered]) -> Draft:
    """Return the draft of a question; several answers are slots."""
    slots = {tuple(map(fold, slot)): slot for answer in answers for slot in answer.gold}
    rows = dict.fromkeys(each for answer in answers for each in answer.rows)
    return make_draft(prepared, plan, question, tuple(slots.values()), list(rows), links=_links(prepared, row))


def _conversation(
    prepared: Prepared, plan: Plan, row: Row, wording: Text, question: str, answered: Answered
) -> list[Draft]:
    """Return the turns of a conversation about a row, each with the turns before it."""
    dialogue = case_id(row.topic, prepared.template.task, question, [row.id])
    found = [each.find(row) for each in wording.expressions]
    entities = [text for each in found if each is not None for text in each.texts]
    later = [text.fill(row) for text in prepared.follow_ups]
    questions = [question, *(filled[0] for filled in later if filled is not None)]
    history: tuple[Turn, ...] = ()
    turns = []
    for number, (asked, slot) in enumerate(zip(questions, answered.gold, strict=True), 1):
        facets = {"dialogue": dialogue, "round": str(number)}
        turn = make_draft(prepared, plan, asked, (slot,), answered.rows, history=history, facets=facets)
        turns.append(replace(turn, verdicts={**turn.verdicts, "entities": entities}))
        history = (*history, Turn(asked, slot[0]))
    return turns
