"""One answer on the page as JSON values: question, passages, answer and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pytest_rageval.engine.live_answer import LiveAnswer
from pytest_rageval.generation.shrinking.reply import Reply, ignores_passages
from pytest_rageval.llm.secrets import redact_json
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.answer import Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Gold, Instance, Passage, Turn
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, page_of

__all__ = [
    "FAKE", "GOLD", "HOLDS", "PageAnswer", "ShownPassage", "compare_answers", "mask_answer", "missing_gold",
    "page_answer", "page_answer_in_run", "shown_passages",
]  # fmt: skip

GOLD, FAKE, HOLDS = "gold", "fake", "holds"
"""Marks of a passage: evidence, counterfactual, or without a relevance label but with a gold answer in its text."""

_NO_SCORES: Mapping[str, Score] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage in prompt order.

    Attributes:
        id, title, text, page: as in `Passage`.
        role: its role in the record.
        mark: `GOLD`, `FAKE`, `HOLDS` or "".
        score: the score of the retriever; None if there is none, or the passage was supplied.
    """

    id: str
    text: str
    title: str = ""
    page: str = ""
    role: str = ""
    mark: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer on the page.

    Attributes:
        id: its number on this page; "" for one of a stored run.
        system: the name of the system.
        question: the question.
        case: the node id of the case's test; "" for a typed question.
        history: the earlier turns.
        given: whether passages were supplied, not retrieved.
        edited: whether a person had edited them.
        before: the number of the earlier answer that this one is compared with; "" for none.
        answer: the text; None without an answer.
        abstained: as in `Answer`.
        declined: whether the answer is a rejection.
        ranking: ids of the passages that the answer reports; None if it reports none.
        ignored: whether it proves that the system ignores supplied passages.
        scores: metric -> score.
        error: why there is no answer or no score; "" without an error.
        error_type: the kind of that error.
        steps: the steps to the answer.
        usage: tokens, cost and time of the answer.
        calls: all model calls, also those of judges; None without models.
        replayed: whether all calls came from recordings.
        keys: the keys of the recordings that were read or written.
        passages: the passages that the system read, in prompt order.
        gold: the gold answer.
        missing: gold answers and evidence that no passage contains.
        instructions: the instructions of the testbed.
        language: the language of the question.
    """

    id: str
    system: str
    question: str
    case: str = ""
    history: tuple[Turn, ...] = ()
    given: bool = False
    edited: bool = False
    before: str = ""
    answer: str | None = None
    abstained: bool | None = None
    declined: bool = False
    ranking: tuple[str, ...] | None = None
    ignored: bool = False
    scores: Mapping[str, Score] = field(default_factory=lambda: _NO_SCORES)
    error: str = ""
    error_type: str = ""
    steps: tuple[Step, ...] = ()
    usage: Usage | None = None
    calls: Calls | None = None
    replayed: bool = False
    keys: tuple[str, ...] = ()
    passages: tuple[ShownPassage, ...] = ()
    gold: Gold = ()
    missing: tuple[str, ...] = ()
    instructions: str = ""
    language: str = "en"


def page_answer(number: str, live: LiveAnswer, *, case: str, edited: bool, before: str) -> PageAnswer:
    """Return a new answer in the format of the page."""
    live_case, outcome = live.case, live.outcome
    answer = outcome.answer
    ranking = None if live.responses.answer is None else live.responses.answer.ranking
    passages = shown_passages(live_case.instance, live_case.supplied, ranking)
    return PageAnswer(
        id=number,
        system=outcome.system,
        question=live_case.instance.question,
        case=case,
        history=live_case.instance.history,
        given=live_case.supplied is not None,
        edited=edited,
        before=before,
        answer=None if answer is None or live.responses.answer is None else live.responses.answer.text,
        abstained=None if answer is None else answer.abstained,
        declined=outcome.declined,
        ranking=None if ranking is None else tuple(each.doc_id for each in ranking),
        scores=outcome.scores,
        error=outcome.error or "",
        error_type=outcome.error_type or "",
        steps=() if answer is None else answer.trace,
        usage=None if answer is None else answer.usage,
        calls=live.calls if live.calls.calls else None,
        replayed=live.replayed,
        keys=live.keys,
        passages=passages,
        gold=live_case.instance.gold,
        missing=missing_gold(live_case.instance, passages),
        instructions=live_case.instructions,
        language=live_case.instance.language,
    )


def page_answer_in_run(case: Case, outcome: Outcome) -> PageAnswer:
    """Return an answer of a stored run in the format of the page."""
    answer, instance = outcome.answer, case.instance
    pool = {each.id: each for each in (*(instance.passages or ()), *outcome.added)}
    is_given = case.supplied is not None or bool(outcome.supplied)
    supplied = tuple(pool[name] for name in outcome.supplied if name in pool) if is_given else None
    passages = shown_passages(instance, supplied, None if answer is None else answer.ranking)
    return PageAnswer(
        id="",
        system=outcome.system,
        question=outcome.question or instance.question,
        case=outcome.nodeid,
        history=outcome.history if outcome.history is not None else instance.history,
        given=is_given,
        answer=None if answer is None else answer.text,
        abstained=None if answer is None else answer.abstained,
        scores=outcome.scores,
        error=outcome.error or "",
        error_type=outcome.error_type or "",
        steps=() if answer is None else answer.trace,
        usage=None if answer is None else answer.usage,
        calls=outcome.calls if outcome.calls and outcome.calls.calls else None,
        passages=passages,
        gold=instance.gold,
        missing=missing_gold(instance, passages),
        language=instance.language,
    )


def mask_answer(answer: PageAnswer) -> PageAnswer:
    """Return an answer with the secrets of the environment masked in all its texts, as in results.json."""
    plain = encoder(PageAnswer)(answer)
    masked = redact_json(plain)
    result: PageAnswer = answer if masked is plain else decoder(PageAnswer)(masked)
    return result


def compare_answers(before: PageAnswer, now: PageAnswer) -> PageAnswer:
    """Return an answer that says whether it and the earlier one prove that the system ignores passages."""
    contexts = [[(each.id, each.text) for each in answer.passages] for answer in (before, now)]
    if before.answer is None or now.answer is None or before.system != now.system or contexts[0] == contexts[1]:
        return now
    before_ids, now_ids = ({name for name, _ in context} for context in contexts)
    one = Reply(None, before.answer, before.declined, before.ranking)
    other = Reply(None, now.answer, now.declined, now.ranking)
    ignored = ignores_passages((before_ids, one), (now_ids, other), retrieves=not before.given)
    return replace(now, ignored=ignored)


def shown_passages(
    instance: Instance, supplied: Sequence[Passage] | None, ranking: Ranking | None
) -> tuple[ShownPassage, ...]:
    """Return the passages that a system read: the supplied ones in their order, else the retrieved ones."""
    if supplied is not None:
        return tuple(
            ShownPassage(each.id, each.text, each.title, each.page, each.role, _mark(instance, each, each.page))
            for each in supplied
        )
    by_id = {each.id: each for each in instance.passages or ()}
    shown = []
    for item in ranking or ():
        stored = by_id.get(item.doc_id)
        role = "" if stored is None else stored.role
        text = item.text or ("" if stored is None else stored.text)
        title = item.title or ("" if stored is None else stored.title)
        passage = Passage(item.doc_id, text, title, role)
        mark = _mark(instance, passage, item.page_id)
        shown.append(ShownPassage(item.doc_id, text, title, item.page, role, mark, item.score))
    return tuple(shown)


def missing_gold(instance: Instance, passages: Sequence[ShownPassage]) -> tuple[str, ...]:
    """Return the gold answers, with their aliases, and the quotes of the evidence that no passage contains."""
    texts = [text for each in passages for text in (each.title, each.text)]
    slots = [
        " / ".join(slot) for slot in instance.gold if not any(contains(text, alias) for alias in slot for text in texts)
    ]
    quotes = [unit.quote for units in instance.evidence[:1] for unit in units if unit.quote]
    return (*slots, *(quote for quote in quotes if not any(_flat(quote) in _flat(text) for text in texts)))


def _mark(instance: Instance, passage: Passage, page: str) -> str:
    """Return the mark of a passage for a case; its role, id, page or a quote in its text makes it gold."""
    if passage.role == "counterfactual":
        return FAKE
    pages = {name for names in instance.provenance for name in names}
    by_id = instance.qrels.get(passage.id, 0) > 0 or instance.qrels.get(page, 0) > 0
    if passage.role == "positive" or by_id or page in pages or page_of(passage.id) in pages:
        return GOLD
    quotes = [unit.quote for units in instance.evidence for unit in units if unit.quote]
    if any(_flat(quote) in _flat(passage.text) for quote in quotes):
        return GOLD
    holds = any(contains(passage.text, alias) for slot in instance.gold for alias in slot)
    return HOLDS if holds and not passage.role else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
