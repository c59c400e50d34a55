"""The scoring input ``labels``: scores of answers from single documents, as in eRAG."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput
from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask
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

__all__ = ["LABELS", "DocumentAnswer"]


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """The system's answer to a case from a single document.

    Attributes:
        case: the case with this document as its only passage.
        answer: the answer; None if the document's text is unknown.
    """

    case: Case
    answer: Answer | None


def _ask(context: Context) -> Mapping[str, DocumentAnswer] | None:
    """Return document id -> answer for the documents of a ranking.

    A sync system is called in this thread, for one document after the other. An async system is called on the event
    loop, for all documents at once.

    Raises:
        CaseError: the ranking is malformed, or the system fails on a document.
    """
    system, ranking = context.sources.system, context.sample.answer.ranking
    if system is None or ranking is None:
        return None
    if system.overlap:
        return context.sources.loop.run(_ask_ahead(context))
    cases = _single_document_cases(context.task.case, ranking)
    if cases is None:
        return _without_answers(context.task.case, ranking)
    return {name: DocumentAnswer(each, system(each, _why(name))) for name, each in cases.items()}


async def _ask_ahead(context: Context) -> Mapping[str, DocumentAnswer] | None:
    """Return document id -> answer; call the system on the event loop, for all documents at once within its limits.

    If one call fails, wait for the others before raising: their replies are paid for, and are recorded.
    """
    import asyncio

    system, ranking = context.sources.system, context.sample.answer.ranking
    if system is None or ranking is None:
        return None
    cases = _single_document_cases(context.task.case, ranking)
    if cases is None:
        return _without_answers(context.task.case, ranking)
    coroutines = (system.ahead(each, _why(name)) for name, each in cases.items())
    answers = await asyncio.gather(*coroutines, return_exceptions=True)
    document_answers: dict[str, DocumentAnswer] = {}
    for (name, each), answer in zip(cases.items(), answers, strict=True):
        if isinstance(answer, BaseException):
            raise answer
        document_answers[name] = DocumentAnswer(each, answer)
    return document_answers


def _labels(
    document_answers: Mapping[str, DocumentAnswer], task: Task, score: Callable[[Case, Answer, Metric], Score]
) -> dict[str, Score]:
    """Return document id -> score of its answer by the downstream metric of a task."""
    metric = downstream_of(task.metrics)
    return {
        name: NO_TEXTS if each.answer is None else score(each.case, each.answer, metric)
        for name, each in document_answers.items()
    }


def _cross_checks(cases: Collection[Case]) -> Iterator[str]:
    from pytest_rageval.metrics.rankings.pages import evidence_sets

    yield "answer_in_context"
    if any(evidence_sets(case) for case in cases):
        yield "page_Rprec"


def _estimate(planned: PlannedTask, prompts: Prompts) -> Iterator[PlannedCall]:
    """Yield the model calls for the answers from single documents."""
    if planned.plan_calls is None:
        yield PlannedCall("each document", None, None)
        return
    run = planned.plan_calls(planned.task.case.query)
    if not run.calls or planned.model is None or run.documents == 0:
        return
    if run.documents is None:
        yield PlannedCall("each document", planned.model, None)
        return
    n_calls = run.documents * run.calls
    yield PlannedCall("each document", planned.model, run.messages, final=False, times=n_calls, counted=n_calls == 1)


def _single_document_cases(case: Case, ranking: Ranking) -> dict[str, Case] | None:
    """Return document id -> the case with only this document, best first; None if the text of any is unknown."""
    try:
        ranked = by_rank(ranking)
    except CaseError as error:
        raise CaseError(error.kind, f"case {case.id!r}: {error}") from error
    passages = [passage_with_text(item, case.instance) for item in ranked]
    cases = {passage.id: replace(case, supplied=(passage,)) for passage in passages if passage is not None}
    return cases if len(cases) == len(passages) else None


def _without_answers(case: Case, ranking: Ranking) -> dict[str, DocumentAnswer]:
    return {name: DocumentAnswer(case, None) for name in ranking.doc_ids}


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
