"""Convert items that a model writes to drafts, and drafts to items that a model inspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.single import run_checks
from pytest_rageval.generation.checks.stage import drop_with_dialogue
from pytest_rageval.generation.checks.support import CALCULATION
from pytest_rageval.generation.draft import Draft, case_id
from pytest_rageval.generation.model_drafts.jobs import CALCULATED, CHAINED, PAIRED, Job
from pytest_rageval.generation.model_drafts.replies import is_storable
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Gold, Passage, Turn
from pytest_rageval.text.folding import fold_compact, fold_with_offsets

__all__ = ["LLM", "Item", "WrongFieldsError", "checked_item", "item_json", "item_key", "read_item"]

LLM = "llm"
"""The generator of drafts that a model writes."""

Item = tuple[Draft, ...]
"""One draft, or the turns of a conversation."""

CONVERSATION = "conversational_qa"
TURNS = range(2, 7)
"""How many turns a conversation may have."""


class WrongFieldsError(ValueError):
    """Raised when an item lacks a field or has a wrong value; the message names it."""


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a question, in the form of a draft."""

    question: str
    gold: Gold
    evidence: tuple[str, ...]


def item_key(task: str) -> str:
    """Return a key that every item of a task has."""
    return "turns" if task == CONVERSATION else "question"


def read_item(values: Mapping[str, Any], job: Job, model: str) -> Item:
    """Return the drafts of an item; they still need their checks.

    Args:
        values: the item.
        job: the request that the model got.
        model: the name of the model.

    Raises:
        WrongFieldsError: a field is missing or has a wrong value. Other keys are ignored.
    """
    if not is_storable(values):
        raise WrongFieldsError("a text holds NUL or half of a surrogate pair")
    if job.task == CONVERSATION:
        return _conversation(values, job, model)
    fields = _fields(values)
    verdicts: dict[str, Any] = {"kind": job.kind}
    if job.kind == CALCULATED:
        calculation = values.get("calculation")
        if not isinstance(calculation, str) or not calculation.strip():
            raise WrongFieldsError("calculation: wanted a text, such as 120 - 70.5")
        verdicts[CALCULATION] = calculation
    draft = _draft(fields, job, model, verdicts)
    if job.kind == CHAINED and len(draft.gold) == 1:
        draft = replace(draft, sources=_answer_last(draft))
    if job.task == INTEGRATION:
        draft = replace(draft, sources=tuple(replace(each, group=_group(draft, each)) for each in draft.sources))
    return (draft,)


def checked_item(item: Item) -> Item:
    """Return an item after the checks of its drafts; a conversation with a dropped turn is dropped as a whole.

    A question over two passages is dropped as ``one_hop`` if one passage contains all its evidence.
    """
    return tuple(drop_with_dialogue(_drop_one_hop(run_checks(draft)) for draft in item))


def item_json(item: Item) -> dict[str, Any]:
    """Return an item in the JSON form that a model writes."""
    if len(item) == 1 and item[0].task != CONVERSATION:
        draft = item[0]
        more = {"calculation": draft.verdicts[CALCULATION]} if CALCULATION in draft.verdicts else {}
        return _question_json(draft) | more
    turns = [_question_json(draft) for draft in item]
    return {"entity": item[0].verdicts["entities"][0], "turns": turns}


def _drop_one_hop(draft: Draft) -> Draft:
    if draft.state == "dropped" or draft.verdicts.get("kind") not in PAIRED:
        return draft
    quotes = [fold_compact(quote) for quote in draft.evidence]
    for source in draft.sources:
        text = fold_compact(source.text)
        if all(quote in text for quote in quotes):
            return draft.dropped("one_hop", f"all evidence comes from {source.id}")
    return draft


def _question_json(draft: Draft) -> dict[str, Any]:
    gold = {"answers": list(draft.gold[0])} if len(draft.gold) == 1 else {"slots": [list(slot) for slot in draft.gold]}
    return {"question": draft.question, **gold, "evidence": list(draft.evidence)}


def _conversation(values: Mapping[str, Any], job: Job, model: str) -> Item:
    turns = values.get("turns")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns) or len(turns) not in TURNS:
        raise WrongFieldsError(f"turns: wanted a list of {TURNS[0]} to {TURNS[-1]} objects")
    fields_of_turns = [_fields(turn) for turn in turns]
    entity = values.get("entity")
    if not isinstance(entity, str) or not fold(entity) or fold(entity) not in fold(fields_of_turns[0].question):
        raise WrongFieldsError("entity: wanted the name that the first question writes")
    verdicts = {"kind": job.kind, "entities": [entity]}
    questions = "\n".join(fields.question for fields in fields_of_turns)
    dialogue = case_id(job.topic, job.task, questions, [source.id for source in job.sources])
    history: tuple[Turn, ...] = ()
    item: list[Draft] = []
    for number, fields in enumerate(fields_of_turns, 1):
        facets = {"dialogue": dialogue, "round": str(number)}
        item.append(replace(_draft(fields, job, model, verdicts), history=history, facets=facets))
        history = (*history, Turn(fields.question, "; ".join(slot[0] for slot in fields.gold)))
    return tuple(item)


def _draft(fields: _Fields, job: Job, model: str, verdicts: Mapping[str, Any]) -> Draft:
    quotes = [_locate(quote, job) for quote in fields.evidence]
    places = [place for _, place in quotes if place]
    return Draft(
        question=fields.question,
        gold=fields.gold,
        task=job.task,
        topic=job.topic,
        generator=LLM,
        origin=model,
        sources=job.sources,
        language=job.language,
        evidence=tuple(quote for quote, _ in quotes),
        verdicts={**verdicts, "evidence": places},
    )


def _locate(quote: str, job: Job) -> tuple[str, list[object]]:
    """Return a quote as its source writes it, and its place: source id and span; an empty place if no source has it."""
    for source in job.sources:
        folded = fold_compact(quote)
        span = next(fold_with_offsets(source.text).find(folded), None) if folded else None
        if span is not None:
            return source.text[span[0] : span[1]], [source.id, *span]
    return quote, []


def _answer_last(draft: Draft) -> tuple[Passage, ...]:
    """Return the sources with the one that contains the answer last; the others lead to it."""

    def holds(text: str) -> bool:
        return any(contains(text, alias) for alias in draft.gold[0])

    return tuple(sorted(draft.sources, key=lambda source: holds(source.text)))


def _group(draft: Draft, source: Passage) -> int | None:
    """Return the index of the slot that a source answers; None if it answers none or several."""
    slots = [at for at, slot in enumerate(draft.gold) if any(contains(source.text, alias) for alias in slot)]
    return slots[0] if len(slots) == 1 else None


def _fields(values: Mapping[str, Any]) -> _Fields:
    question = values.get("question")
    if not isinstance(question, str) or not question.strip():
        raise WrongFieldsError("question: wanted a text")
    if ("answers" in values) == ("slots" in values):
        raise WrongFieldsError("wanted either answers or slots")
    slots = [values["answers"]] if "answers" in values else values["slots"]
    if not isinstance(slots, list) or not slots or not all(_is_list_of_texts(slot) for slot in slots):
        shape = "a list of texts" if "answers" in values else "a list of lists of texts"
        raise WrongFieldsError(f"{'answers' if 'answers' in values else 'slots'}: wanted {shape}, none of them empty")
    evidence = values.get("evidence")
    if not _is_list_of_texts(evidence):
        raise WrongFieldsError(f"evidence: found {short_repr(evidence)}, wanted a list of texts, none of them empty")
    gold = tuple(tuple(dict.fromkeys(alias.strip() for alias in slot)) for slot in slots)
    return _Fields(question.strip(), gold, tuple(dict.fromkeys(_texts(evidence))))


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each.strip() for each in value)


def _texts(value: Any) -> Sequence[str]:
    return [str(each) for each in value]
