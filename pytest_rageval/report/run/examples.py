"""Choose cases that show a cause: question, wanted, old and new answer, and where the evidence went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.analysis.account.finding import Account, Finding
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.report.run.run import Run

__all__ = ["MOST", "Example", "evidence_ids", "examples_of", "rank_text"]

MOST = 3
"""Examples of a whole account."""


@dataclass(frozen=True, slots=True)
class Example:
    """A broken or missed case.

    Attributes:
        nodeid: its node id.
        case: its id.
        question: its question.
        wanted: its first gold answer; slots are joined with " + ".
        was: the old answer; None if unknown.
        now: the answer.
        evidence: where its evidence went, such as "rank 1 -> missing"; "" if unknown or unchanged.
    """

    nodeid: str
    case: str
    question: str
    wanted: str
    was: str | None
    now: str
    evidence: str = ""


def examples_of(run: Run, account: Account, most: int = MOST) -> dict[str, list[Example]]:
    """Return sentence of a cause -> its examples, at most ``most`` in all, each question once.

    The causes take turns. A run whose reports have no texts has no examples.
    """
    causes = [each for each in account.causes if each.kind in ("drop", "missed")]
    rows = {each.sentence: _examples(run, each) for each in causes if run.texts}
    chosen: dict[str, list[Example]] = {sentence: [] for sentence in rows}
    shown: set[str] = set()
    while rows and len(shown) < most:
        for sentence in list(rows):
            example = next((each for each in rows[sentence] if each.question not in shown), None)
            if example is None:
                del rows[sentence]
            elif len(shown) < most:
                shown.add(example.question)
                chosen[sentence].append(example)
    return chosen


def evidence_ids(outcome: Outcome, instance: Mapping[str, Any]) -> list[str]:
    """Return the ids of the passages with evidence: judged relevant for a ranking, else positive."""
    has_ranking = outcome.answer is not None and outcome.answer.ranking is not None
    relevant = [name for name, grade in instance.get("qrels", {}).items() if grade >= 1 and has_ranking]
    roles = ((name, passage.get("role")) for name, passage in (instance.get("passages") or {}).items())
    return relevant or [name for name, role in roles if role == "positive"]


def rank_text(name: str, passages: Sequence[str]) -> str:
    """Return ``rank 2``, or ``missing``."""
    return f"rank {passages.index(name) + 1}" if name in passages else "missing"


def _examples(run: Run, finding: Finding) -> Iterator[Example]:
    """Yield the cases of a finding with an answer, worst first."""
    for nodeid in finding.cases:
        outcome = run.outcomes.get(nodeid)
        if outcome is None or outcome.answer is None or outcome.case_id not in run.instances:
            continue
        instance: Mapping[str, Any] = from_json(run.instances[outcome.case_id])
        old = None if run.old_answers is None else run.old_answers.of(outcome)
        yield Example(
            nodeid,
            outcome.case_id,
            outcome.question or instance.get("question", ""),
            " + ".join(slot[0] for slot in instance.get("gold", ()) if slot),
            None if old is None else old.text,
            outcome.answer.text,
            _evidence(outcome, instance, None if old is None else old.passages),
        )


def _evidence(outcome: Outcome, instance: Mapping[str, Any], before: Sequence[str] | None) -> str:
    """Return where the first piece of evidence went."""
    names, now = evidence_ids(outcome, instance), outcome.seen
    if not names or now is None:
        return ""
    there = rank_text(names[0], now)
    then = there if before is None else rank_text(names[0], before)
    if before is None:
        return "missing" if there == "missing" else ""
    return "" if then == there else f"{then} -> {there}"
