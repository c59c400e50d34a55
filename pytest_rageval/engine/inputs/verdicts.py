"""The scoring input ``verdicts``: the verdicts of judges, or of panels that replace them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput, Sources
from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask, PricedModel
from pytest_rageval.engine.tracebacks import or_case_error
from pytest_rageval.errors import CaseError
from pytest_rageval.judges.panel import Panel, combine_votes, is_local, values_of
from pytest_rageval.judges.prompted import always
from pytest_rageval.llm.client.usage_meter import SCOPE, current
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict, Vote

if TYPE_CHECKING:
    from pytest_rageval.engine.local_verdicts import LocalVerdicts
    from pytest_rageval.model.chat import ChatModel
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["ASSUMED_ANSWER", "VERDICTS", "ask_verdicts"]

ASSUMED_ANSWER = "word " * 100
"""Placeholder for the answer in a judge's prompt, for an estimate."""


async def ask_verdicts(context: Context) -> Mapping[str, Verdict]:
    """Return name of a judge -> its verdict, for the judges of the metrics; skip a judge whose model is missing."""
    sources, sample = context.sources, context.sample
    verdicts: dict[str, Verdict] = {}
    for judge in _judges(context.task.metrics):
        panel = sources.panels.get(judge.name)
        if panel is not None:
            verdicts[judge.name] = await _panel_verdict(judge, panel, sources, sample)
        elif sources.judge is not None or not getattr(judge, "needs_model", True):
            verdicts[judge.name] = await _verdict(judge, sources.judge, sample)
    return verdicts


async def _verdict(judge: Judge, model: ChatModel | None, sample: Sample) -> Verdict:
    """Return a judge's verdict; its exceptions become a `CaseError`."""
    verdict = judge.ask(sample, model)  # type: ignore[arg-type] # a judge without a model needs none
    return await or_case_error(verdict, "judge_error", f"judge {judge.name!r} failed on case {sample.case.id!r}")


async def _panel_verdict(judge: Judge, panel: Panel, sources: Sources, sample: Sample) -> Verdict:
    """Return the verdict from the votes of a panel; ask for one vote after the other.

    Each repeat of a vote has its own recording, also in each repeat of the case.
    """
    if panel.escalate is not None:
        return await _cascade_verdict(judge, panel, sources, sample)
    panelists = sources.panelists
    scope, votes = current(), []
    for name, repeat, swapped in panel.ballots():
        if is_local(name):
            votes.append(Vote(name, await _local_verdict(judge, sources.local_judges[name], sample)))
            continue
        voter: Judge = judge.swapped if swapped else judge  # type: ignore[attr-defined] # see panel.fitted
        model = panelists[name]
        outer = SCOPE.set(replace(scope, repeat=(scope.repeat - 1) * panel.repeat + repeat))
        try:
            verdict = Verdict(problem="judge_unavailable") if model is None else await _verdict(voter, model, sample)
        finally:
            SCOPE.reset(outer)
        votes.append(Vote(name, verdict, repeat, swapped))
    try:
        return combine_votes(votes, panel.rule or "majority", values_of(judge))
    except ValueError as fault:
        raise CaseError("judge_error", f"judge {judge.name!r} on case {sample.case.id!r}: {fault}") from None


async def _local_verdict(judge: Judge, local: LocalVerdicts, sample: Sample) -> Verdict:
    """Return a local judge's verdict; a verdict with a problem if the metric's judge does not apply."""
    applies: Callable[[Sample], str | None] = getattr(judge, "applies", always)
    why = applies(sample)
    if why is not None:
        return Verdict(problem=f"not_applicable: {why}")
    message = f"the local judge of {judge.name!r} failed on case {sample.case.id!r}"
    return await or_case_error(local(sample), "judge_error", message)


async def _cascade_verdict(judge: Judge, panel: Panel, sources: Sources, sample: Sample) -> Verdict:
    """Return the local judge's verdict if its confidence is high enough, else the second judge's."""
    local, second = panel.models
    verdict = await _local_verdict(judge, sources.local_judges[local], sample)
    if verdict.by != "local" or (verdict.confidence or 0.0) >= float(panel.escalate or 0):
        return verdict
    meter, model = current().meter, sources.panelists[second]
    before = meter.calls
    second_verdict = Verdict(problem="judge_unavailable") if model is None else await _verdict(judge, model, sample)
    cost_before, cost_after = before.cost_usd, meter.calls.cost_usd
    cost = None if cost_before is None or cost_after is None else cost_after - cost_before
    return replace(second_verdict, confidence=verdict.confidence or 0.0, unlike=verdict.unlike, cost_usd=cost)


def _estimate(planned: PlannedTask, prompts: Prompts) -> Iterator[PlannedCall]:
    task = planned.task
    for judge in _judges(task.metrics):
        voters = [(model, times) for model, times in _voters(planned, judge.name) if model is not None]
        if not voters or not getattr(judge, "needs_model", True):
            continue
        make_messages = getattr(judge, "messages", None)
        messages = None if make_messages is None else make_messages(Sample(task.case, Answer(ASSUMED_ANSWER)))
        panel = planned.panels.get(judge.name)
        counted = panel is None or panel.escalate is None
        for model, times in voters:
            yield PlannedCall(judge.name, model, messages, final=False, times=times, counted=counted)


def _voters(planned: PlannedTask, name: str) -> list[tuple[PricedModel | str | None, int]]:
    """Return the models of a judge and their numbers of calls; a prompt in swapped order counts like the normal one."""
    if name not in planned.panels:
        return [(planned.judge, 1)]
    panel = planned.panels[name]
    return [(planned.panelists[model], panel.votes_each) for model in panel.remote_models]


def _runs_own_code(metrics: Collection[Metric]) -> bool:
    """Return whether a judge is a user's code; a judge with ``messages`` only asks a model."""
    return not all(hasattr(judge, "messages") for judge in _judges(metrics))


def _judges(metrics: Iterable[Metric]) -> list[Judge]:
    """Return the judges of metrics, each once."""
    return list({metric.judge.name: metric.judge for metric in metrics if metric.judge is not None}.values())


VERDICTS = ScoringInput(
    "verdicts",
    ask_ahead=ask_verdicts,
    needed_by=lambda metric: metric.judge is not None,
    estimate=_estimate,
    runs_own_code=_runs_own_code,
)
