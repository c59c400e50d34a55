"""Check leakage (``--leakage``): questions in prompts or training data, gold in questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.wording import gold_in_question
from pytest_rageval.generation.leakage.overlap import Overlap, QuestionIndex
from pytest_rageval.generation.leakage.texts import texts_of
from pytest_rageval.linting.finding import Finding, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.yes_no import yes_or_no

__all__ = ["answer_in_question", "prompt_leak", "train_overlap"]


def prompt_leak(subject: Subject) -> Iterator[Finding]:
    """Find questions that occur in a prompt (see `QuestionIndex`)."""
    yield from _overlaps(subject, "prompt_leak", subject.leakage.prompts if subject.leakage else ())


def train_overlap(subject: Subject) -> Iterator[Finding]:
    """Find questions that occur in training data (see `QuestionIndex`)."""
    yield from _overlaps(subject, "train_overlap", subject.leakage.against if subject.leakage else ())


def answer_in_question(subject: Subject) -> Iterator[Finding]:
    """Find records whose question contains an alias of the gold answer; yes and no are ignored."""
    for instance in subject.instances if subject.leakage else ():
        gold = tuple(tuple(alias for alias in slot if yes_or_no(alias) is None) for slot in instance.gold)
        alias = gold_in_question(instance.question, gold, instance.facets.get("task", ""))
        if alias is not None:
            yield record_finding(
                instance, "answer_in_question", "warning", f"the gold {short_repr(alias)} is in the question"
            )


def _overlaps(subject: Subject, check: str, files: Sequence[Path]) -> Iterator[Finding]:
    if not files:
        return
    index = QuestionIndex({str(at): instance.question for at, instance in enumerate(subject.instances)})
    overlaps = index.find(texts_of(files))
    for at, instance in enumerate(subject.instances):
        if str(at) in overlaps:
            yield record_finding(instance, check, "error", _problem(overlaps[str(at)]))


def _problem(overlap: Overlap) -> str:
    what = "the question" if overlap.whole else "a part of the question"
    return f"{what} is in {overlap.where}: {short_repr(overlap.shared)}"
