"""One answer before its judges: a single one, or a panel that votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.tracebacks import or_case_error
from pytest_rageval.errors import CaseError
from pytest_rageval.judges.panel import Panel, decided, values_of
from pytest_rageval.llm.client.usage_meter import SCOPE, current
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict, Vote

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel

__all__ = ["verdict_of", "voted"]


async def verdict_of(judge: Judge, model: ChatModel | None, sample: Sample) -> Verdict:
    """Return a judge's verdict; what it raises becomes a `CaseError`."""
    asked = judge.ask(sample, model)  # type: ignore[arg-type] # a judge without a model needs none
    return await or_case_error(asked, "judge_error", f"judge {judge.name!r} failed on case {sample.case.id!r}")


async def voted(judge: Judge, panel: Panel, panelists: Mapping[str, ChatModel | None], sample: Sample) -> Verdict:
    """Return what the votes of a panel come to; like verdicts, they are asked for one after the other.

    Each repeat has recordings of its own, none of which another repeat of the case has.
    """
    scope, votes = current(), []
    for name, repeat, swapped in panel.ballots():
        asked: Judge = judge.swapped if swapped else judge  # type: ignore[attr-defined] # see panel.fitted
        model = panelists[name]
        outer = SCOPE.set(replace(scope, repeat=(scope.repeat - 1) * panel.repeat + repeat))
        try:
            said = Verdict(problem="judge_unavailable") if model is None else await verdict_of(asked, model, sample)
        finally:
            SCOPE.reset(outer)
        votes.append(Vote(name, said, repeat, swapped))
    try:
        return decided(votes, panel.rule or "majority", values_of(judge))
    except ValueError as fault:
        raise CaseError("judge_error", f"judge {judge.name!r} on case {sample.case.id!r}: {fault}") from None
