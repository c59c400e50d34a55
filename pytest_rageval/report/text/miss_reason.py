"""Explain why a case missed, slot by slot, for a failing ``rag.check``."""

from __future__ import annotations

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.errors import ascii_safe
from pytest_rageval.metrics.shared.right_answer import answer_hits
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Score

__all__ = ["explain_check"]

MAX_TEXT = 400  # characters to show of a text


def explain_check(gate: Gate, score: Score, case: Case, answer: Answer, *, texts: bool = True) -> str:
    """Return the failed check with question, answer and the match of each slot; only the check if not ``texts``."""
    value = gate.format_missed(score.value) if score.value is not None else f"unscored ({score.reason})"
    lines = [f"check {gate} failed: {gate.metric} is {value}", f"  case      {_excerpt(case.id)}"]
    if not texts:
        return "\n".join(lines)
    lines += [
        f"  question  {_excerpt(case.instance.question)}",
        f"  answer    {_excerpt(answer.text)}",
    ]
    hits = answer_hits(case.instance, answer.text)
    for number, (aliases, hit) in enumerate(zip(case.instance.gold, hits, strict=True), 1):
        expected = " | ".join(_excerpt(alias) for alias in aliases)
        sign, what = ("-", "not found") if hit is None else ("+", f"matched {_excerpt(hit)}")
        lines.append(f"{sign} slot {number}    {expected}: {what}")
    return "\n".join(lines)


def _excerpt(text: str) -> str:
    safe = ascii_safe(text)
    return safe if len(safe) <= MAX_TEXT else f"{safe[:MAX_TEXT]}… ({len(safe):,} characters)"
