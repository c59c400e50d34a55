"""Diagnose an answer: what kind of right or wrong it is."""

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
_CUT = ("length", "max_tokens")
"""What providers call a completion that was cut by its length."""

_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,63}", re.ASCII)


class _Run(NamedTuple):
    """What a trace says of its run.

    Attributes:
        end: why it ended.
        n_calls: number of tool calls.
        failed: the tools of failed calls.
        is_cut: whether the last completion was cut by its length.
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
    """Return the diagnosis of an answer, or a score with the reason why it has none.

    Args:
        case: the case, with its gold answers.
        answer: the answer with its trace.
        correctness: the score of the metric that says whether the answer is right.
        threshold: the smallest value of that metric that counts as right.
    """
    run = _run_of(answer)
    missing = _missing(case, answer, run, correctness)
    if missing or correctness.value is None:
        return Score.not_applicable(missing)
    from pytest_rageval.metrics.diagnosis.grounding import grounded
    from pytest_rageval.metrics.diagnosis.seen import seen_of

    right = correctness.value >= threshold
    seen = seen_of(case, answer)
    ground = grounded(case, seen)
    kind = _right(ground) if right else _wrong(ground, run)
    return Diagnosis(
        kind, right, ground, run.end, _why(kind, run, is_empty=not answer.text.strip(), none=seen.is_nothing)
    )


def _missing(case: Case, answer: Answer, run: _Run, correctness: Score) -> str:
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
    """Return whether an answer comes with a ranking, or with a trace that says more than that the run finished."""
    said = any(step.kind != END for step in answer.trace) or end_reason(answer.trace) not in (FINISHED, _EMPTY)
    return answer.ranking is not None or said


def _run_of(answer: Answer) -> _Run:
    trace = answer.trace
    reason = end_reason(trace)
    end = reason if reason in END_REASONS else FINISHED  # any other word may be a text of the data
    if end == FINISHED and not answer.text.strip():
        end = _EMPTY
    calls, completions = tool_calls(trace), model_calls(trace)
    failed = [_name_of(step) for step in calls if has_failed(step)]
    is_cut = bool(completions) and completions[-1].detail.get("finish_reason") in _CUT
    errors = [step.detail["error"] for step in trace if step.kind == PROGRAM and step.detail.get("error")]
    match = _NAME.match(str(errors[-1])) if errors else None
    return _Run(end, len(calls), failed, is_cut, match[0].rstrip(".:-") if match else "")


def _name_of(step: Step) -> str:
    """Return a tool's name; a name that a model made up may be any text, and is not repeated."""
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


def _why(kind: DiagnosisType, run: _Run, *, is_empty: bool, none: bool) -> str:
    """Return the reason for a type; it names tools and error classes, and quotes no text."""
    if kind == "ME":
        return run.end if run.end in _MODEL_FAILED else "completion cut by its length"
    if kind == "TE":
        return _tool_fault(run)
    how = run.end if run.end != FINISHED else ""
    if kind == "GE":
        return f"{how or 'another answer'}, although the answer was retrieved"
    if kind == "RE" and how:
        return f"{how} after {_counted(run)}"
    if kind in ("AM", "RE"):
        missed = "nothing was retrieved" if none else "the answer was not retrieved"
        return f"{missed}, {_counted(run)}" if kind == "RE" and run.n_calls else missed
    return "the answer was retrieved" if kind == "EM" else "not known whether the answer was retrieved"


def _tool_fault(run: _Run) -> str:
    if run.end == "program_error":
        return f"program_error: {run.program_error}" if run.program_error else "program_error"
    tools = ", ".join(name for name, _ in Counter(run.failed).most_common())
    return f"{len(run.failed)} of {run.n_calls} tool calls failed: {tools}"


def _counted(run: _Run) -> str:
    failed = f", {len(run.failed)} failed" if run.failed else ""
    return f"{run.n_calls} tool call{'' if run.n_calls == 1 else 's'}{failed}"
