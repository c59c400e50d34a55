"""Declare a scoring input: what metrics read in addition to a case and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_rageval.engine.local_verdicts import LocalVerdicts
    from pytest_rageval.engine.loop import LoopThread, NoLoop
    from pytest_rageval.engine.once_cache import OnceCache
    from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask
    from pytest_rageval.engine.task import Task
    from pytest_rageval.engine.vectors import Vectors
    from pytest_rageval.judges.panel import Panel
    from pytest_rageval.model.answer import Answer
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.chat import ChatModel
    from pytest_rageval.model.metric import Metric
    from pytest_rageval.model.outcome import Score
    from pytest_rageval.model.sample import Sample
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["Context", "ScoringInput", "Sources"]

_NO_PANELS: Mapping[str, Panel] = MappingProxyType({})
_NO_PANELISTS: Mapping[str, ChatModel | None] = MappingProxyType({})
_NO_LOCAL_JUDGES: Mapping[str, LocalVerdicts] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sources:
    """The systems, models and judges that scoring inputs ask; None if the session does not have one.

    Attributes:
        loop: runs coroutines.
        system: calls the system under test, once for each question; None if its answers are recorded.
        llm: the model of the session.
        judge: the model that judges ask.
        vectors: embeds texts.
        prompts: the prompts of the built-in systems.
        panels: name of a judge -> the panel that votes instead of ``judge``.
        panelists: name of a panel's model -> the model; None if it is unavailable.
        local_judges: ``local:FOLDER`` -> the trained judge.
    """

    loop: LoopThread | NoLoop
    system: OnceCache | None = None
    llm: ChatModel | None = None
    judge: ChatModel | None = None
    vectors: Vectors | None = None
    prompts: Prompts | None = None
    panels: Mapping[str, Panel] = field(default_factory=lambda: _NO_PANELS)
    panelists: Mapping[str, ChatModel | None] = field(default_factory=lambda: _NO_PANELISTS)
    local_judges: Mapping[str, LocalVerdicts] = field(default_factory=lambda: _NO_LOCAL_JUDGES)


@dataclass(frozen=True, slots=True)
class Context:
    """An answer, and all that a scoring input needs to ask about it.

    Attributes:
        task: the case with its metrics.
        sample: the case and its answer, without inputs.
        sources: the systems, models and judges that can be asked.
    """

    task: Task
    sample: Sample
    sources: Sources


def _unchanged(reply: object, task: Task, score: object) -> object:
    return reply


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """What metrics read in addition to a case and its answer, such as the verdicts of judges.

    An input without ``ask`` comes from models. It is asked on the event loop, for generated answers only, and ahead of
    the test even if the system itself is fast (``light``). An input with ``ask`` comes from the system under test. It
    is asked where the system runs: in the test's thread or on the event loop.

    Attributes:
        name: the field of `Sample` that holds it, or else its key in ``sample.inputs``.
        ask_ahead: asks for it on the event loop, and returns the reply; None leaves it out of the sample.
        needed_by: whether a metric reads it without naming it in ``needs``.
        ask: asks for it in the test's thread, and returns the reply; None if it comes from models.
        estimate: returns the calls that a planned task would make for it.
        check: raises `SettingError` if the metrics of a testbed cannot use it.
        cross_checks: returns further metrics to compute for these cases; they show whether the input is reliable.
        finish: converts a reply into the value that metrics read; it may score other answers to the question.
        embeds: whether it asks the embedding model.
        runs_own_code: whether it runs a user's code for these metrics, even if all model calls are replayed.
    """

    name: str
    ask_ahead: Callable[[Context], Awaitable[object]]
    needed_by: Callable[[Metric], bool] = lambda metric: False
    ask: Callable[[Context], object] | None = None
    estimate: Callable[[PlannedTask, Prompts], Iterable[PlannedCall]] = lambda planned, prompts: ()
    check: Callable[[Collection[Metric]], object] = lambda metrics: None
    cross_checks: Callable[[Collection[Case]], Iterable[str]] = lambda cases: ()
    finish: Callable[[Any, Task, Callable[[Case, Answer, Metric], Score]], object] = _unchanged
    embeds: bool = False
    runs_own_code: Callable[[Collection[Metric]], bool] = lambda metrics: False
