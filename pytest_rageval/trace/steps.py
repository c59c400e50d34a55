"""Kinds of steps, reasons why a run ended, and how to read both from a trace."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.model import facts
from pytest_rageval.model.answer import Step

__all__ = [
    "BRANCH",
    "COMPLETION",
    "END",
    "END_REASONS",
    "FINISHED",
    "GENERATE",
    "KINDS",
    "LIMITS",
    "OUTAGES",
    "PROGRAM",
    "RETRIEVE",
    "TEMPLATE",
    "THOUGHT",
    "TOOL",
    "end_of",
    "end_reason",
    "has_failed",
    "is_cut_short",
    "is_timing",
    "model_calls",
    "tool_calls",
]

RETRIEVE = facts.RETRIEVE
TOOL = "tool"
COMPLETION = "completion"
THOUGHT = "thought"
PROGRAM = "program"
GENERATE = "generate"
BRANCH = "branch"
TEMPLATE = "template"
END = "end"
KINDS = (RETRIEVE, TOOL, COMPLETION, THOUGHT, PROGRAM, GENERATE, BRANCH, TEMPLATE, END)
"""The kinds that the plugin reads; a step of another kind is stored and ignored."""

FINISHED = "finished"
LIMITS = ("step_limit", "call_limit", "time_limit", "context_limit")
"""End reasons of a run that reached a limit."""
OUTAGES = ("tool_unavailable", "model_error")
"""End reasons that make the case an error instead of a low score."""
END_REASONS = (FINISHED, "empty_answer", "gave_up", *LIMITS, "no_action", "filtered", "program_error", *OUTAGES)
"""All values of ``reason`` in a step of the kind "end"."""


def end_of(trace: Sequence[Step]) -> Step | None:
    """Return the step "end" of a trace, which says why the run ended; None if there is none."""
    return next((step for step in reversed(trace) if step.kind == END), None)


def end_reason(trace: Sequence[Step]) -> str:
    """Return why the run ended; "finished" if the trace has no step "end"."""
    end = end_of(trace)
    return FINISHED if end is None else str(end.detail.get("reason") or FINISHED)


def is_cut_short(trace: Sequence[Step]) -> bool:
    """Return whether an exception ended the run: its trace has steps, but no step "end"."""
    return len(trace) > 0 and end_of(trace) is None


def has_failed(step: Step) -> bool:
    """Return whether a call raised, was invalid, or found nothing (``found`` is false)."""
    detail = step.detail
    return bool(detail.get("error")) or bool(detail.get("invalid")) or detail.get("found") is False


def is_timing(step: Step) -> bool:
    """Return whether a step has only the seconds of a stage, like the steps of the built-in `naive` system."""
    return step.kind in (RETRIEVE, GENERATE) and step.detail.keys() <= {"seconds", "retriever"}


def tool_calls(trace: Sequence[Step]) -> list[Step]:
    """Return the calls of tools. A search inside a tool is a part of that call and is not counted separately."""
    return [step for step in trace if step.kind == TOOL]


def model_calls(trace: Sequence[Step]) -> list[Step]:
    """Return the calls of models."""
    return [step for step in trace if step.kind == COMPLETION]
