"""Convert a ReAct transcript (``Thought n: Action n: Observation n:``) to steps."""

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
"""The observation of R-Eval if Wikipedia cannot be reached. Its authors delete such runs."""

_LABEL = re.compile(r"^[ \t]*(Thought|Action|Observation)[ \t]*\d+[ \t]*:", re.MULTILINE)
_VERDICT = re.compile(r"^[ \t]*(?:Answer is (?:IN)?CORRECT|Episode finished, reward = )", re.MULTILINE)

Part = tuple[str, str]
"""A label ("" before the first one), and the text between it and the next label."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The content of a transcript.

    Attributes:
        steps: thoughts and calls of tools, in order, without ``Finish``.
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

        A run without an answer has called ``Finish`` with an empty answer, or has reached the step limit.
        """
        no_answer_reason = "empty_answer" if self.is_finished else "step_limit"
        return self.with_end(FINISHED if answer.strip() else no_answer_reason)

    def with_end(self, reason: str) -> tuple[Step, ...]:
        """Return the steps with a last step for the end of the run: an outage if there was one, else ``reason``."""
        outage = {"reason": "tool_unavailable", "detail": UNREACHABLE}
        return (*self.steps, Step(END, outage if self.is_unreachable else {"reason": reason}))


def read_transcript(text: str) -> Transcript:
    """Return the steps of a transcript and how it ended.

    An observation is the result of the action before it. If it begins with "Could not find", the call found nothing; if
    it begins with "Invalid", the call was invalid. The observation of ``Finish``, and a verdict on the answer ("Answer
    is CORRECT", "Episode finished, reward = 1") are left out, because they are no evidence. A text before the first
    label is a thought.
    """
    steps: list[Step] = []
    rounds, finished, unreachable = 0, False, False
    for label, content, observation in _rounds(text):
        if label == "Thought":
            steps += [Step(THOUGHT, {"text": content})] if content else []
            continue
        rounds += 1
        action = read_action(f"Action: {content}")
        is_invalid = (observation or "").startswith("Invalid")
        if action and action.is_finish and not is_invalid:
            finished = True
        else:
            unreachable = unreachable or observation == UNREACHABLE
            steps.append(Step(TOOL, _call(action, content, observation)))
    return Transcript(tuple(steps), rounds, _LABEL.search(text) is not None, finished, unreachable)


def _rounds(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield (label, text, observation) of each thought and action; the observation may be None."""
    pending: str | None = None
    for label, content in _parts(text):
        if label == "Observation":
            yield "Action", pending or "", content
            pending = None
            continue
        if pending is not None:
            yield "Action", pending, None
        pending = content if label == "Action" else None
        if label != "Action":
            yield "Thought", content, None
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


def _call(action: Action | None, content: str, observation: str | None) -> dict[str, Any]:
    """Return the detail of a tool step."""
    call: dict[str, Any] = {"name": action.name if action else NO_ACTION}
    call["arguments"] = action.arguments if action else content.strip()
    if action and action.trailing:
        call["trailing"] = action.trailing
    if observation is not None:
        call["result"] = observation
    if action is None or (observation or "").startswith("Invalid"):
        call["invalid"] = True
    elif (observation or "").startswith("Could not find"):
        call["found"] = False
    if observation == UNREACHABLE:
        call["error"] = UNREACHABLE
    return call
