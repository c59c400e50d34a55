"""The scoring input ``labels``: scores of the system's answers from each retrieved document alone, as in eRAG."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput
from pytest_rageval.engine.planned import Planned, PlannedCall
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.metrics.rankings.downstream import downstream_of
from pytest_rageval.metrics.rankings.ranked_passages import NO_TEXTS, by_rank, passage_with_text
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking

if TYPE_CHECKING:
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["LABELS", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A case with a single document as its passages, and its answer; None if the document's text is unknown."""

    case: Case
    answer: Answer | None


def _ask(context: Context) -> Mapping[str, Reading] | None:
    """Return the readings of a ranking by document id; ask in this thread, one after the other.

    An async system is asked on the event loop, for all documents at once.

    Raises:
        CaseError: the ranking is malformed, or the system fails on a document.
    """
    system, ranking = context.sources.system, context.sample.answer.ranking
    if system is None or ranking is None:
        return None
    if system.overlap:
        return context.sources.loop.run(_ask_ahead(context))
    alone = _alone(context.task.case, ranking)
    if alone is None:
        return _unread(context.task.case, ranking)
    return {name: Reading(each, system(each, _why(name))) for name, each in alone.items()}


async def _ask_ahead(context: Context) -> Mapping[str, Reading] | None:
    """Return the same, but ask on the event loop, as many at a time as the limits of system and model allow.

    If one fails, the others still end first: their replies are paid for, and are recorded.
    """
    import asyncio

    system, ranking = context.sources.system, context.sample.answer.ranking
    if system is None or ranking is None:
        return None
    alone = _alone(context.task.case, ranking)
    if alone is None:
        return _unread(context.task.case, ranking)
    asking = (system.ahead(each, _why(name)) for name, each in alone.items())
    answers = await asyncio.gather(*asking, return_exceptions=True)
    readings: dict[str, Reading] = {}
    for (name, each), answer in zip(alone.items(), answers, strict=True):
        if isinstance(answer, BaseException):
            raise answer
        readings[name] = Reading(each, answer)
    return readings


def _labels(
    readings: Mapping[str, Reading], task: Task, score: Callable[[Case, Answer, Metric], Score]
) -> dict[str, Score]:
    """Return the score of each reading by the downstream metric of a task."""
    metric = downstream_of(task.metrics)
    return {
        name: NO_TEXTS if reading.answer is None else score(reading.case, reading.answer, metric)
        for name, reading in readings.items()
    }


def _cross_checks(cases: Collection[Case]) -> Iterator[str]:
    from pytest_rageval.metrics.rankings.pages import evidence_sets

    yield "answer_in_context"
    if any(evidence_sets(case) for case in cases):
        yield "page_Rprec"


def _estimate(planned: Planned, prompts: Prompts) -> Iterator[PlannedCall]:
    """Yield the calls from single documents."""
    if planned.plan is None:
        yield PlannedCall("each document", None, None)
        return
    run = planned.plan(planned.task.case.query)
    if not run.calls or planned.model is None or run.documents == 0:
        return
    if run.documents is None:
        yield PlannedCall("each document", planned.model, None)
        return
    most = run.documents * run.calls
    yield PlannedCall("each document", planned.model, run.messages, final=False, times=most, counted=most == 1)


def _alone(case: Case, ranking: Ranking) -> dict[str, Case] | None:
    """Return the case with each document alone, best first; None if the text of any is unknown."""
    try:
        ranked = by_rank(ranking)
    except CaseError as error:
        raise CaseError(error.kind, f"case {case.id!r}: {error}") from error
    passages = [passage_with_text(item, case.instance) for item in ranked]
    alone = {passage.id: replace(case, supplied=(passage,)) for passage in passages if passage is not None}
    return alone if len(alone) == len(passages) else None


def _unread(case: Case, ranking: Ranking) -> dict[str, Reading]:
    return {name: Reading(case, None) for name in ranking.doc_ids}


def _why(name: str) -> str:
    return f"asked from the document {short_repr(name)} alone"


LABELS = ScoringInput(
    "labels",
    ask_ahead=_ask_ahead,
    ask=_ask,
    needed_by=lambda metric: metric.labels != "none",
    estimate=_estimate,
    check=downstream_of,
    cross_checks=_cross_checks,
    finish=_labels,
)
