"""Apply people's decisions to drafts, and restore drafts to their state before review."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.checks.stage import drop_duplicates
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.decision import ACCEPTED, MEND, Decision
from pytest_rageval.generation.review.decisions_file import Decisions
from pytest_rageval.generation.review.edits import apply_edits
from pytest_rageval.generation.review.presentation import seen_sha
from pytest_rageval.model.case import Gold, Turn

__all__ = ["GRADE", "REVIEW_DROP", "apply_decisions", "decision_that_counts", "valid_decisions", "without_decisions"]

GRADE, REVIEWER, BEFORE = "grade", "reviewer", "before_review"
"""Verdicts of a graded draft; ``before_review`` has the fields that a correction replaced."""

REVIEW_DROP, REVIEW_DIALOGUE, REVIEW_WAITS = "review_drop", "review_dialogue", "review_waits"
"""Reasons: grade 1 or 2; another turn of the conversation is dropped or waits; grade 3 without a correction."""

Corrected = tuple[str, Gold, tuple[str, ...], tuple[Turn, ...]]


def without_decisions(drafts: Iterable[Draft]) -> list[Draft]:
    """Return drafts as they were generated, without people's decisions."""
    return [_restore(draft) for draft in drafts]


def valid_decisions(draft: Draft, decisions: Decisions) -> list[Decision]:
    """Return the last decision of each person about the current text of a draft, in the order of the file."""
    sha = seen_sha(draft)
    return [each for each in decisions.standing.get(draft.id, {}).values() if each.seen == sha]


def decision_that_counts(decisions: Sequence[Decision]) -> Decision | None:
    """Return the decision with the lowest grade, the last one of equal grades; None if there is no decision.

    With grade 3, a decision with a correction counts before one without.
    """
    return min(reversed(decisions), key=lambda each: (each.grade, each.edit is None), default=None)


def apply_decisions(drafts: Sequence[Draft], decisions: Decisions) -> list[Draft]:
    """Apply decisions to generated drafts that are kept; return all drafts in the same order.

    Grades 1 and 2 drop a case, 3 replaces it by its correction, 4 and 5 accept it. A case with grade 3 and no
    correction waits. A conversation is kept or dropped as a whole. A correction that fails a check is dropped.
    """
    decisions_that_count = {}
    for draft in drafts:
        if draft.state == "kept" and draft.id in decisions.standing:
            decision = decision_that_counts(valid_decisions(draft, decisions))
            if decision is not None:
                decisions_that_count[draft.id] = decision
    if not decisions_that_count:
        return list(drafts)
    edits = {name: each.edit for name, each in decisions_that_count.items() if each.edit is not None}
    kept = [draft for draft in drafts if draft.state == "kept"]
    corrected = dict(zip((draft.id for draft in kept), apply_edits(kept, edits), strict=True))
    result = [
        _with_decision(draft, corrected[draft.id], decisions_that_count.get(draft.id))
        if draft.state == "kept"
        else draft
        for draft in drafts
    ]
    return _whole_dialogues(_check_corrections(result))


def _with_decision(before: Draft, draft: Draft, decision: Decision | None) -> Draft:
    """Return a corrected draft with the state and verdicts of its decision."""
    is_corrected = _correctable_fields(before) != _correctable_fields(draft)
    verdicts: dict[str, Any] = {**before.verdicts, **({BEFORE: _fields(before)} if is_corrected else {})}
    if decision is None:
        return replace(draft, verdicts=verdicts)
    draft = replace(draft, verdicts={**verdicts, GRADE: decision.grade, REVIEWER: decision.reviewer})
    if decision.grade < MEND:
        return draft.dropped(REVIEW_DROP, f"grade {decision.grade} of {decision.reviewer}")
    if decision.grade < ACCEPTED and decision.edit is None:
        return _as_waiting(draft, REVIEW_WAITS, f"grade {MEND} of {decision.reviewer}, without a correction")
    return draft


def _check_corrections(drafts: list[Draft]) -> list[Draft]:
    """Check corrected drafts again; drop those that fail a check or duplicate another draft."""
    positions = [at for at, draft in enumerate(drafts) if draft.state == "kept" and BEFORE in draft.verdicts]
    for at in positions:
        failure = first_failure(drafts[at])
        if failure is not None:
            drafts[at] = drafts[at].dropped(*failure)
    positions = [at for at in positions if drafts[at].state == "kept"]
    if positions:
        others = [draft for at, draft in enumerate(drafts) if draft.state == "kept" and at not in set(positions)]
        deduplicated = drop_duplicates([*others, *(drafts[at] for at in positions)])[len(others) :]
        for at, draft in zip(positions, deduplicated, strict=True):
            drafts[at] = draft
    return drafts


def _whole_dialogues(drafts: list[Draft]) -> list[Draft]:
    """Drop conversations with a dropped turn; conversations with a waiting turn wait."""
    reviewed = [each for each in drafts if _was_reviewed(each) and each.facets.get("dialogue")]
    deciding_turns = {each.facets["dialogue"]: each for each in reviewed if each.state == "waiting"}
    deciding_turns |= {each.facets["dialogue"]: each for each in reviewed if each.state == "dropped"}
    result = []
    for draft in drafts:
        deciding_turn = deciding_turns.get(draft.facets.get("dialogue", ""))
        if deciding_turn is None or draft.state == "dropped" or draft is deciding_turn:
            result.append(draft)
            continue
        detail = f"{deciding_turn.reason} in round {deciding_turn.facets.get('round', '?')}"
        waits = deciding_turn.state == "waiting"
        result.append(_as_waiting(draft, REVIEW_DIALOGUE, detail) if waits else draft.dropped(REVIEW_DIALOGUE, detail))
    return result


def _as_waiting(draft: Draft, reason: str, detail: str) -> Draft:
    return replace(draft, state="waiting", reason=reason, verdicts={**draft.verdicts, reason: detail})


def _was_reviewed(draft: Draft) -> bool:
    return bool({GRADE, BEFORE, REVIEW_DIALOGUE} & draft.verdicts.keys())


def _restore(draft: Draft) -> Draft:
    """Return a draft as it was generated."""
    if not _was_reviewed(draft):
        return draft
    verdicts_of_review = {GRADE, REVIEWER, BEFORE, draft.reason}
    verdicts = {name: value for name, value in draft.verdicts.items() if name not in verdicts_of_review}
    before = draft.verdicts.get(BEFORE)
    draft = replace(draft, state="kept", reason="", verdicts=verdicts)
    if before is None:
        return draft
    return replace(
        draft,
        question=before["question"],
        gold=tuple(tuple(slot) for slot in before["gold"]),
        evidence=tuple(before["evidence"]),
        history=tuple(Turn(turn["question"], turn["answer"]) for turn in before["history"]),
    )


def _correctable_fields(draft: Draft) -> Corrected:
    return draft.question, draft.gold, draft.evidence, draft.history


def _fields(draft: Draft) -> dict[str, Any]:
    """Return the fields that a correction may change, as JSON values."""
    return {
        "question": draft.question,
        "gold": draft.gold,
        "evidence": draft.evidence,
        "history": [{"question": turn.question, "answer": turn.answer} for turn in draft.history],
    }
