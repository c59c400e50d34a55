"""A judge that is a user's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.errors import CaseError, SettingError, found
from pytest_rageval.judges.values import is_share, worth_of
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

__all__ = ["FunctionJudge"]


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """A function as a judge: ``(sample)`` or ``(sample, model)`` to a verdict, sync or async.

    It returns a number in 0..1 or a bool or, where there are ``values``, one of their labels; or a `Verdict` with that.
    It is called on the event loop, where the other cases' calls are under way: one that waits has to be async.

    Attributes:
        name: unique, also the name of its metric.
        function: the function; one that takes no model is asked without any, too.
        values: label -> the value of an answer that gets it, in 0..1; None leaves the answer unscored.
        higher_is_better: the direction in which values improve.

    Raises:
        SettingError: the function takes other arguments, or a value is out of range.
    """

    name: str
    function: Callable[..., Any]
    values: Mapping[str, float | None] = field(default_factory=dict)
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        if _arguments(self.function) not in (1, 2):
            raise SettingError(
                f"judge {found(self.name)}: {found(self.function)} cannot be called with (sample) or (sample, model); "
                "give a function of one or both"
            )
        if not all(value is None or is_share(value) for value in self.values.values()):
            raise SettingError(
                f"judge {found(self.name)}: values: found {found(self.values)}, wanted numbers in 0..1, or None"
            )

    @property
    def needs_model(self) -> bool:
        """Whether the function takes a model."""
        return _arguments(self.function) == 2

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        """Return what the function says; what is no verdict is a `CaseError` of kind "judge_error"."""
        value = self.function(sample, model) if self.needs_model else self.function(sample)
        if inspect.isawaitable(value):
            value = await value
        try:
            return self._verdict(value)
        except (TypeError, ValueError) as fault:
            message = f"judge {self.name!r} returned {found(value)} for case {sample.case.id!r}: {fault}"
            raise CaseError("judge_error", message) from None

    def _verdict(self, value: object) -> Verdict:
        verdict = value if isinstance(value, Verdict) else None
        if verdict is not None and verdict.problem is not None:
            return verdict
        label = self._label(value if verdict is None else verdict.label)
        worth_of(self).of(label)
        return Verdict(label) if verdict is None else replace(verdict, label=label)

    def _label(self, value: object) -> str | float:
        if isinstance(value, str):
            return value
        if not hasattr(value, "__float__"):
            raise ValueError("it must return a number in 0..1, a bool, a label of its values, or a Verdict")
        return float(value)


def _arguments(function: object) -> int:
    """Return how many arguments a function has to be called with, 0 where it cannot be called with so many alone."""
    if not callable(function):
        return 0
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin that does not say
        return 1
    wanted = [p for p in parameters if p.default is p.empty]
    if any(p.kind is p.KEYWORD_ONLY for p in wanted):
        return 0
    by_position = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in wanted)
    optional = any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
    return by_position or int(optional)
