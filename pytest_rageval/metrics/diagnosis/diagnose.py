"""Diagnose an answer: where a right one comes from, or why it is wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case
from pytest_rageval.model.facets import ABILITIES
from pytest_rageval.model.outcome import Diagnosis, DiagnosisType, Grounded, Score
from pytest_rageval.trace.steps import (
    END,
    END_REASONS,
    FINISHED,
    LIMITS,
    OUTAGES,
    PROGRAM,
    end_reason,
    has_failed,
    model_calls,
    tool_calls,
)

__all__ = ["RIGHT", "THRESHOLD", "WORDS", "WRONG", "diagnose", "has_record"]

THRESHOLD = 0.5
"""The smallest value of the correctness metric that counts as right; 1 for a metric whose values are 0 or 1."""

RIGHT: tuple[DiagnosisType, ...] = ("EM", "AM", "A?")
WRONG: tuple[DiagnosisType, ...] = ("GE", "RE", "TE", "ME", "W?")

WORDS: dict[DiagnosisType, str] = {
    "EM": "right, retrieved",
    "AM": "right, from memory",
    "A?": "right, not known from where",
    "GE": "wrong, although retrieved",
    "RE": "wrong: searched badly",
    "TE": "wrong: tools failed",
    "ME": "wrong: model failed",
    "W?": "wrong, not known why",
}

_EMPTY = "empty_answer"

_MODEL_FAILED = ("context_limit", "no_action", "filtered")
_LENGTH_REASONS = ("length", "max_tokens")
"""Providers' names for a completion that was cut because it reached the maximum length."""

_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,63}", re.ASCII)


class _Run(NamedTuple):
    """Facts about a run, read from its trace.

    Attributes:
        end: the reason for its end, one of `END_REASONS` or ``empty_answer``.
        n_calls: number of tool calls.
        failed: the name of the tool of each failed call.
        is_cut: whether the last completion was cut at the maximum length.
        program_error: the class of the error that ended a program, or "".
    """

    end: str
    n_calls: int
    failed: Sequence[str]
    is_cut: bool
    program_error: str

    @property
    def mostly_failed(self) -> bool:
        return 2 * len(self.failed) > self.n_calls


def diagnose(case: Case, answer: Answer, correctness: Score, threshold: float = THRESHOLD) -> Diagnosis | Score:
    """Return the diagnosis of an answer, or a score with the reason why there is none.

    Args:
        case: the case, with its gold answers.
        answer: the answer with its trace.
        correctness: the score of the answer by the metric that decides whether it is right.
        threshold: the smallest value of that metric for a right answer.
    """
    run = _run_of(answer)
    reason = _not_applicable(case, answer, run, correctness)
    if reason or correctness.value is None:
        return Score.not_applicable(reason)
    from pytest_rageval.metrics.diagnosis.context import context_of
    from pytest_rageval.metrics.diagnosis.grounding import grounding_of

    right = correctness.value >= threshold
    context = context_of(case, answer)
    ground = grounding_of(case, context)
    kind = _right(ground) if right else _wrong(ground, run)
    return Diagnosis(kind, right, ground, run.end, _why(kind, run, nothing_retrieved=context.is_empty))


def _not_applicable(case: Case, answer: Answer, run: _Run, correctness: Score) -> str:
    """Return why a case has no diagnosis, or ""."""
    if case.facets.get("ability") in ABILITIES:
        return "ability_testbed"
    if case.instance.answerable is False:
        return "unanswerable"
    if not case.instance.gold:
        return "no_gold"
    if run.end in OUTAGES:
        return run.end
    if correctness.value is None:
        return "unscored"
    return "" if has_record(answer) or case.supplied is not None else "no_trace"


def has_record(answer: Answer) -> bool:
    """Return whether an answer has a ranking, or a trace with more than the normal end of the run."""
    has_trace = any(step.kind != END for step in answer.trace) or end_reason(answer.trace) not in (FINISHED, _EMPTY)
    return answer.ranking is not None or has_trace


def _run_of(answer: Answer) -> _Run:
    trace = answer.trace
    reason = end_reason(trace)
    end = reason if reason in END_REASONS else FINISHED  # another word may be private text of the case
    if end == FINISHED and not answer.text.strip():
        end = _EMPTY
    calls, completions = tool_calls(trace), model_calls(trace)
    failed = [_name_of(step) for step in calls if has_failed(step)]
    is_cut = bool(completions) and completions[-1].detail.get("finish_reason") in _LENGTH_REASONS
    errors = [step.detail["error"] for step in trace if step.kind == PROGRAM and step.detail.get("error")]
    match = _NAME.match(str(errors[-1])) if errors else None
    return _Run(end, len(calls), failed, is_cut, match[0].rstrip(".:-") if match else "")


def _name_of(step: Step) -> str:
    """Return the name of a tool; an invented name may be any text, so it is not shown."""
    name = str(step.detail.get("name") or "")
    return name if _NAME.fullmatch(name) else "no such tool"


def _right(ground: Grounded) -> DiagnosisType:
    return "EM" if ground == "yes" else "AM" if ground == "no" else "A?"


def _wrong(ground: Grounded, run: _Run) -> DiagnosisType:
    if ground == "yes":
        return "GE"
    if run.end in _MODEL_FAILED or run.is_cut:
        return "ME"
    if run.end == "program_error" or (run.end in LIMITS and run.mostly_failed):
        return "TE"
    return "W?" if ground == "unknown" and run.end not in LIMITS else "RE"


def _why(kind: DiagnosisType, run: _Run, *, nothing_retrieved: bool) -> str:
    """Return the reason for a type; it names tools and error classes, but quotes no text of the case."""
    if kind == "ME":
        return run.end if run.end in _MODEL_FAILED else "completion cut by its length"
    if kind == "TE":
        return _tool_fault(run)
    abnormal_end = run.end if run.end != FINISHED else ""
    if kind == "GE":
        return f"{abnormal_end or 'another answer'}, although the answer was retrieved"
    if kind == "RE" and abnormal_end:
        return f"{abnormal_end} after {_call_counts(run)}"
    if kind in ("AM", "RE"):
        missed = "nothing was retrieved" if nothing_retrieved else "the answer was not retrieved"
        return f"{missed}, {_call_counts(run)}" if kind == "RE" and run.n_calls else missed
    return "the answer was retrieved" if kind == "EM" else "not known whether the answer was retrieved"


def _tool_fault(run: _Run) -> str:
    if run.end == "program_error":
        return f"program_error: {run.program_error}" if run.program_error else "program_error"
    tools = ", ".join(name for name, _ in Counter(run.failed).most_common())
    return f"{len(run.failed)} of {run.n_calls} tool calls failed: {tools}"


def _call_counts(run: _Run) -> str:
    failed = f", {len(run.failed)} failed" if run.failed else ""
    return f"{run.n_calls} tool call{'' if run.n_calls == 1 else 's'}{failed}"
