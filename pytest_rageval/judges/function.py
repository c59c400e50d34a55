"""Use a user's function as a judge."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.errors import CaseError, SettingError, short_repr
from pytest_rageval.judges.values import is_share, worth_of
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

__all__ = ["FunctionJudge"]


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """A judge that calls a function with ``(sample)`` or ``(sample, model)``, sync or async.

    The function returns a number in 0..1, a bool, a label in ``values``, or a `Verdict` with one of these. It runs on
    the event loop together with the calls of other cases, so a function that waits must be async.

    Attributes:
        name: its unique name, also the name of its metric.
        function: the function; without a model parameter, it also works in a session without a model.
        values: label -> value in 0..1; an answer with the value None is unscored.
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
                f"judge {short_repr(self.name)}: {short_repr(self.function)} cannot be called with (sample) or "
                "(sample, model); give a function of one or both"
            )
        if not all(value is None or is_share(value) for value in self.values.values()):
            raise SettingError(
                f"judge {short_repr(self.name)}: values: found {short_repr(self.values)}, "
                "wanted numbers in 0..1, or None"
            )

    @property
    def needs_model(self) -> bool:
        """Whether the function takes a model."""
        return _arguments(self.function) == 2

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        """Return the function's verdict; raise a `CaseError` of kind "judge_error" for an invalid return value."""
        value = self.function(sample, model) if self.needs_model else self.function(sample)
        if inspect.isawaitable(value):
            value = await value
        try:
            return self._verdict(value)
        except (TypeError, ValueError) as fault:
            message = f"judge {self.name!r} returned {short_repr(value)} for case {sample.case.id!r}: {fault}"
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
    """Return with how many positional arguments a function can be called; 0 if it needs keyword arguments."""
    if not callable(function):
        return 0
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin without a signature
        return 1
    required = [p for p in parameters if p.default is p.empty]
    if any(p.kind is p.KEYWORD_ONLY for p in required):
        return 0
    by_position = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in required)
    optional = any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
    return by_position or int(optional)
