"""The request to the model ``embedded`` as values; a real model reads it as messages."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pytest_rageval.environments.tool import Observation, Tool
    from pytest_rageval.model.case import Passage

__all__ = ["TURN", "ToolUse", "Turn"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call of the run, and its observation."""

    name: str
    arguments: Mapping[str, Any] | str
    observation: Observation


@dataclass(frozen=True, slots=True)
class Turn:
    """A request of a built-in system to its model.

    Attributes:
        dialect: the form of the reply: ``react``, ``tools`` (tool calls), ``program``, or ``answer`` (plain text).
        question: the case's question.
        language: its language.
        tools: the tools that the model may call.
        uses: the tool calls so far, in order.
        passages: the passages that were supplied or retrieved so far; None for none.
        max_steps: the maximum number of steps of the run.
        finish: the name of the tool that ends the run; "" if a plain reply ends it.
        finish_values: the other arguments of that tool.
        answer_parameter: the name of the argument with the answer.
    """

    dialect: Literal["react", "tools", "program", "answer"]
    question: str
    language: str = "en"
    tools: tuple[Tool, ...] = ()
    uses: tuple[ToolUse, ...] = ()
    passages: tuple[Passage, ...] | None = None
    max_steps: int = 10
    finish: str = ""
    finish_values: Mapping[str, str] = field(default_factory=dict)
    answer_parameter: str = "answer"

    def finish_arguments(self, answer: str) -> dict[str, str]:
        """Return the arguments of the tool that ends the run."""
        return {**self.finish_values, self.answer_parameter: answer}


TURN: ContextVar[Turn | None] = ContextVar("rageval_turn", default=None)
"""The current request; None if the caller is not a built-in system with a dialect."""
