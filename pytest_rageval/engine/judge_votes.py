"""Ask a judge, or a panel that votes, for the verdict on an answer."""

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

__all__ = ["panel_verdict", "verdict_of"]


async def verdict_of(judge: Judge, model: ChatModel | None, sample: Sample) -> Verdict:
    """Return a judge's verdict; its exceptions become a `CaseError`."""
    verdict = judge.ask(sample, model)  # type: ignore[arg-type] # a judge without a model needs none
    return await or_case_error(verdict, "judge_error", f"judge {judge.name!r} failed on case {sample.case.id!r}")


async def panel_verdict(
    judge: Judge, panel: Panel, panelists: Mapping[str, ChatModel | None], sample: Sample
) -> Verdict:
    """Return the verdict of a panel's votes; ask for them one after the other.

    Each repeat has separate recordings, also across repeats of the case.
    """
    scope, votes = current(), []
    for name, repeat, swapped in panel.ballots():
        voter: Judge = judge.swapped if swapped else judge  # type: ignore[attr-defined] # see panel.fitted
        model = panelists[name]
        outer = SCOPE.set(replace(scope, repeat=(scope.repeat - 1) * panel.repeat + repeat))
        try:
            verdict = Verdict(problem="judge_unavailable") if model is None else await verdict_of(voter, model, sample)
        finally:
            SCOPE.reset(outer)
        votes.append(Vote(name, verdict, repeat, swapped))
    try:
        return decided(votes, panel.rule or "majority", values_of(judge))
    except ValueError as fault:
        raise CaseError("judge_error", f"judge {judge.name!r} on case {sample.case.id!r}: {fault}") from None
