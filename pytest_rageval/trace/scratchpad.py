"""Read a ReAct transcript: lines ``Thought n:``, ``Action n:`` and ``Observation n:`` become steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_rageval.model.answer import Step
from pytest_rageval.trace.actions import Action, read_action
from pytest_rageval.trace.steps import END, FINISHED, THOUGHT, TOOL

__all__ = ["NO_ACTION", "Transcript", "read_transcript"]

NO_ACTION = "no_action"
"""The tool name of a step whose action cannot be read; the step is invalid."""
UNREACHABLE = "Could not find that page, please try again."
"""What R-Eval answers if Wikipedia cannot be reached. Its authors delete such runs."""

_LABEL = re.compile(r"^[ \t]*(Thought|Action|Observation)[ \t]*\d+[ \t]*:", re.MULTILINE)
_VERDICT = re.compile(r"^[ \t]*(?:Answer is (?:IN)?CORRECT|Episode finished, reward = )", re.MULTILINE)

Part = tuple[str, str]
"""A label ("" before the first one), and the text up to the next label."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The content of a transcript.

    Attributes:
        steps: thoughts and calls of tools, in order. ``Finish`` is no call.
        rounds: the number of actions.
        is_labelled: whether it has a line ``Thought n:``, ``Action n:`` or ``Observation n:``.
        is_finished: whether the run called ``Finish``.
        is_unreachable: whether a tool's service could not be reached.
    """

    steps: tuple[Step, ...]
    rounds: int
    is_labelled: bool
    is_finished: bool
    is_unreachable: bool

    def trace(self, answer: str) -> tuple[Step, ...]:
        """Return the trace of a run with a given answer.

        A run without an answer called ``Finish`` with none, or the step limit ended it.
        """
        without = "empty_answer" if self.is_finished else "step_limit"
        return self.ended(FINISHED if answer.strip() else without)

    def ended(self, reason: str) -> tuple[Step, ...]:
        """Return the steps and why the run ended: an outage if there was one, else ``reason``."""
        outage = {"reason": "tool_unavailable", "detail": UNREACHABLE}
        return (*self.steps, Step(END, outage if self.is_unreachable else {"reason": reason}))


def read_transcript(text: str) -> Transcript:
    """Return the steps of a transcript and how it ended.

    An observation is the result of the action before it. It is not found or invalid if it begins with "Could not find"
    or "Invalid". What follows ``Finish``, and a verdict on the answer ("Answer is CORRECT", "Episode finished, reward =
    1") are left out, because they are no evidence. A text before the first label is a thought.
    """
    steps: list[Step] = []
    rounds, finished, unreachable = 0, False, False
    for label, said, observed in _rounds(text):
        if label == "Thought":
            steps += [Step(THOUGHT, {"text": said})] if said else []
            continue
        rounds += 1
        action = read_action(f"Action: {said}")
        refused = (observed or "").startswith("Invalid")
        if action and action.is_finish and not refused:
            finished = True
        else:
            unreachable = unreachable or observed == UNREACHABLE
            steps.append(Step(TOOL, _call(action, said, observed)))
    return Transcript(tuple(steps), rounds, _LABEL.search(text) is not None, finished, unreachable)


def _rounds(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield thoughts, and actions with their observation, which is None if there is none."""
    pending: str | None = None
    for label, said in _parts(text):
        if label == "Observation":
            yield "Action", pending or "", said
            pending = None
            continue
        if pending is not None:
            yield "Action", pending, None
        pending = said if label == "Action" else None
        if label != "Action":
            yield "Thought", said, None
    if pending is not None:
        yield "Action", pending, None


def _parts(text: str) -> Iterator[Part]:
    labels = list(_LABEL.finditer(text))
    starts = [("", 0, 0), *((match[1], match.start(), match.end()) for match in labels)]
    ends = [*(start for _, start, _ in starts[1:]), len(text)]
    for (label, _, start), end in zip(starts, ends, strict=True):
        yield label, _without_verdict(text[start:end].lstrip(" \t" if label == "Action" else None))


def _without_verdict(text: str) -> str:
    verdict = _VERDICT.search(text)
    return (text[: verdict.start()] if verdict else text).rstrip()


def _call(action: Action | None, said: str, observed: str | None) -> dict[str, Any]:
    """Return the detail of a tool step."""
    call: dict[str, Any] = {"name": action.name if action else NO_ACTION}
    call["arguments"] = action.arguments if action else said.strip()
    if action and action.trailing:
        call["trailing"] = action.trailing
    if observed is not None:
        call["result"] = observed
    if action is None or (observed or "").startswith("Invalid"):
        call["invalid"] = True
    elif (observed or "").startswith("Could not find"):
        call["found"] = False
    if observed == UNREACHABLE:
        call["error"] = UNREACHABLE
    return call
