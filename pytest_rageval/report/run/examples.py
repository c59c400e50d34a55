"""Choose example cases of a cause: question, gold, old and new answer, rank of the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.analysis.account.finding import Account, Finding
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.report.run.run import Run

__all__ = ["MAX_EXAMPLES", "Example", "evidence_ids", "examples_of", "rank_text"]

MAX_EXAMPLES = 3
"""Maximum number of examples of an account."""


@dataclass(frozen=True, slots=True)
class Example:
    """A broken or missed case, as text.

    Attributes:
        nodeid: node id of the case.
        case: id of the case.
        question: text of the question.
        wanted: the first gold answer of each slot, joined with " + ".
        was: the answer of the earlier run; None if unknown.
        now: the answer of this run.
        evidence: the old and new rank of its evidence, such as "rank 1 -> missing"; "" if unknown or unchanged.
    """

    nodeid: str
    case: str
    question: str
    wanted: str
    was: str | None
    now: str
    evidence: str = ""


def examples_of(run: Run, account: Account, limit: int = MAX_EXAMPLES) -> dict[str, list[Example]]:
    """Return sentence of a cause -> its examples, at most ``limit`` for all causes together, each question once.

    It takes one example of each cause, then the second one of each cause, and so on. A run whose reports have no texts
    has no examples.
    """
    causes = [each for each in account.causes if each.kind in ("drop", "missed")]
    cases_by_cause = {each.sentence: _examples(run, each) for each in causes if run.texts}
    chosen: dict[str, list[Example]] = {sentence: [] for sentence in cases_by_cause}
    shown_questions: set[str] = set()
    while cases_by_cause and len(shown_questions) < limit:
        for sentence in list(cases_by_cause):
            example = next((each for each in cases_by_cause[sentence] if each.question not in shown_questions), None)
            if example is None:
                del cases_by_cause[sentence]
            elif len(shown_questions) < limit:
                shown_questions.add(example.question)
                chosen[sentence].append(example)
    return chosen


def evidence_ids(outcome: Outcome, instance: Mapping[str, Any]) -> list[str]:
    """Return the ids of passages with evidence.

    These are the passages judged relevant if the answer has a ranking, else those with the role "positive".
    """
    has_ranking = outcome.answer is not None and outcome.answer.ranking is not None
    relevant = [name for name, grade in instance.get("qrels", {}).items() if grade >= 1 and has_ranking]
    roles = ((name, passage.get("role")) for name, passage in (instance.get("passages") or {}).items())
    return relevant or [name for name, role in roles if role == "positive"]


def rank_text(name: str, passages: Sequence[str]) -> str:
    """Return the rank of a passage as text: ``rank 2``, or ``missing``."""
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
            _evidence_ranks(outcome, instance, None if old is None else old.passages),
        )


def _evidence_ranks(outcome: Outcome, instance: Mapping[str, Any], before: Sequence[str] | None) -> str:
    """Return the old and new rank of the first passage with evidence."""
    names, now = evidence_ids(outcome, instance), outcome.seen
    if not names or now is None:
        return ""
    new_rank = rank_text(names[0], now)
    old_rank = new_rank if before is None else rank_text(names[0], before)
    if before is None:
        return "missing" if new_rank == "missing" else ""
    return "" if old_rank == new_rank else f"{old_rank} -> {new_rank}"
