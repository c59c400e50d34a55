"""Diagnose an answer by R-Eval's published rule, which searches the scratchpad."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_rageval.metrics.answers.kilt import hotpot_f1
from pytest_rageval.metrics.answers.squad import published_normal
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facts import RETRIEVE
from pytest_rageval.model.outcome import DiagnosisType
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.steps import LIMITS, PROGRAM, THOUGHT, TOOL, end_reason

__all__ = ["PUBLISHED_THRESHOLD", "published_type", "scratchpad_of", "type_of_reval"]

PUBLISHED_THRESHOLD = 0.05
"""The smallest `hotpot_f1` of a right answer."""

_HALTS = (*LIMITS, "no_action", "program_error")
"""The reasons for the end of a run that R-Eval calls halted."""


def published_type(gold: str, answer: str, scratchpad: str, *, halted: bool, error: bool = False) -> DiagnosisType:
    """Return the type of an answer by R-Eval's rule.

    Formula: hit = the normalised gold answer is a part of the normalised scratchpad (lower case, without ASCII
    punctuation and articles); right = hotpot_f1 >= 0.05. Right and hit: EM. Right: AM. Hit: GE. Otherwise ME if the run
    halted with an error, TE if it halted, else RE.

    The scratchpad contains the model's own answer, so a right answer is nearly always EM. The rule compares characters:
    "gold" is in "golden", and a gold answer without words is in every scratchpad.

    Source: R-Eval (Tu et al., KDD 2024), its code; the paper looks for the response instead of the gold answer.

    Args:
        gold: the first gold answer.
        answer: the system's answer.
        scratchpad: thoughts, actions and observations.
        halted: whether the run stopped without an answer.
        error: whether a model call failed.
    """
    case = Case("", Instance("", "", ((gold,),)), None, {})
    right = (hotpot_f1(Sample(case, Answer(answer))).value or 0.0) >= PUBLISHED_THRESHOLD
    hit = published_normal(gold) in published_normal(scratchpad)
    if right:
        return "EM" if hit else "AM"
    if hit:
        return "GE"
    if not halted:
        return "RE"
    return "ME" if error else "TE"


def type_of_reval(gold: str, answer: Answer) -> DiagnosisType:
    """Return the published type of an answer with its trace; see `published_type` and `scratchpad_of`."""
    end = end_reason(answer.trace)
    halted, error = end in _HALTS, end == "model_error"
    return published_type(gold, answer.text, scratchpad_of(answer), halted=halted, error=error)


def scratchpad_of(answer: Answer) -> str:
    """Return the thoughts, actions and observations of a trace in the form of R-Eval's log.

    The last line is the action that states the answer, unless the run stopped without one.
    """
    lines: list[str] = []
    number = 1
    for step in answer.trace:
        if step.kind == THOUGHT:
            lines.append(f"Thought {number}: {step.detail.get('text', '')}")
        elif step.kind == PROGRAM:
            lines += [str(step.detail[key]) for key in ("code", "printed", "value", "error") if step.detail.get(key)]
        elif step.kind == TOOL or (step.kind == RETRIEVE and "parent" not in step.detail):
            lines += [f"Action {number}: {_action(step)}", f"Observation {number}: {_observation(step)}"]
            number += 1
    if end_reason(answer.trace) not in _HALTS:
        lines.append(f"Action {number}: Finish[{answer.text}]")
    return "\n".join(lines)


def _action(step: Step) -> str:
    if step.kind == RETRIEVE:
        return f"Retrieve[{step.detail.get('query', '')}]"
    arguments = step.detail.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = ", ".join(_text(value) for value in arguments.values())
    return f"{step.detail.get('name', '')}[{'' if arguments is None else _text(arguments)}]"


def _observation(step: Step) -> str:
    """Return the result of a call, else its passages, else its error."""
    detail = step.detail
    if detail.get("result") is not None:
        return _text(detail["result"])
    passages = detail.get("passages")
    if passages and isinstance(passages, Sequence) and not isinstance(passages, str):
        valid = (passage for passage in passages if isinstance(passage, Mapping))
        return "\n".join(f"{passage.get('title') or ''} {passage.get('text') or ''}".strip() for passage in valid)
    return str(detail.get("error") or "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
