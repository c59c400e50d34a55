"""Apply decisions to drafts, and take drafts back to what they were before."""

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
"""Verdicts of a draft that people graded; ``before_review`` has what a correction replaced."""

REVIEW_DROP, REVIEW_DIALOGUE, REVIEW_WAITS = "review_drop", "review_dialogue", "review_waits"
"""Reasons: a grade of 1 or 2; another turn of the conversation was dropped, or waits; grade 3 without a correction."""

Corrected = tuple[str, Gold, tuple[str, ...], tuple[Turn, ...]]


def without_decisions(drafts: Iterable[Draft]) -> list[Draft]:
    """Return drafts without what people decided, as they were generated."""
    return [_restored(draft) for draft in drafts]


def valid_decisions(draft: Draft, decisions: Decisions) -> list[Decision]:
    """Return the last decision of each person about a draft as it is now, in the order of the file."""
    sha = seen_sha(draft)
    return [each for each in decisions.standing.get(draft.id, {}).values() if each.seen == sha]


def decision_that_counts(decisions: Sequence[Decision]) -> Decision | None:
    """Return the decision that counts: the lowest grade, and of equal ones the last; None if there is none.

    Of two with grade 3, one with a correction counts before one without.
    """
    return min(reversed(decisions), key=lambda each: (each.grade, each.edit is None), default=None)


def apply_decisions(drafts: Sequence[Draft], decisions: Decisions) -> list[Draft]:
    """Return drafts, as they were generated, with what people decided about those that are kept; in the same order.

    Grades 1 and 2 drop a case, 3 replaces it by its correction, 4 and 5 accept it. With grade 3 and no correction it
    waits. A conversation is kept or dropped as a whole. A correction that fails a check now is dropped.
    """
    counting = {}
    for draft in drafts:
        if draft.state == "kept" and draft.id in decisions.standing:
            decision = decision_that_counts(valid_decisions(draft, decisions))
            if decision is not None:
                counting[draft.id] = decision
    if not counting:
        return list(drafts)
    edits = {name: each.edit for name, each in counting.items() if each.edit is not None}
    kept = [draft for draft in drafts if draft.state == "kept"]
    corrected = dict(zip((draft.id for draft in kept), apply_edits(kept, edits), strict=True))
    result = [
        _decided(draft, corrected[draft.id], counting.get(draft.id)) if draft.state == "kept" else draft
        for draft in drafts
    ]
    return _whole_dialogues(_checked_again(result))


def _decided(before: Draft, draft: Draft, decision: Decision | None) -> Draft:
    """Return a corrected draft with its decision."""
    changed = _corrected(before) != _corrected(draft)
    verdicts: dict[str, Any] = {**before.verdicts, **({BEFORE: _fields(before)} if changed else {})}
    if decision is None:
        return replace(draft, verdicts=verdicts)
    draft = replace(draft, verdicts={**verdicts, GRADE: decision.grade, REVIEWER: decision.reviewer})
    if decision.grade < MEND:
        return draft.dropped(REVIEW_DROP, f"grade {decision.grade} of {decision.reviewer}")
    if decision.grade < ACCEPTED and decision.edit is None:
        return _waiting(draft, REVIEW_WAITS, f"grade {MEND} of {decision.reviewer}, without a correction")
    return draft


def _checked_again(drafts: list[Draft]) -> list[Draft]:
    """Return drafts; a corrected one that fails a check, or repeats another, is dropped for that."""
    places = [at for at, draft in enumerate(drafts) if draft.state == "kept" and BEFORE in draft.verdicts]
    for at in places:
        failure = first_failure(drafts[at])
        if failure is not None:
            drafts[at] = drafts[at].dropped(*failure)
    places = [at for at in places if drafts[at].state == "kept"]
    if places:
        others = [draft for at, draft in enumerate(drafts) if draft.state == "kept" and at not in set(places)]
        compared = drop_duplicates([*others, *(drafts[at] for at in places)])[len(others) :]
        for at, draft in zip(places, compared, strict=True):
            drafts[at] = draft
    return drafts


def _whole_dialogues(drafts: list[Draft]) -> list[Draft]:
    """Return drafts; a conversation with a dropped turn is dropped, and one with a waiting turn waits."""
    reviewed = [each for each in drafts if _was_reviewed(each) and each.facets.get("dialogue")]
    ends = {each.facets["dialogue"]: each for each in reviewed if each.state == "waiting"}
    ends |= {each.facets["dialogue"]: each for each in reviewed if each.state == "dropped"}
    result = []
    for draft in drafts:
        end = ends.get(draft.facets.get("dialogue", ""))
        if end is None or draft.state == "dropped" or draft is end:
            result.append(draft)
            continue
        what = f"{end.reason} in round {end.facets.get('round', '?')}"
        waits = end.state == "waiting"
        result.append(_waiting(draft, REVIEW_DIALOGUE, what) if waits else draft.dropped(REVIEW_DIALOGUE, what))
    return result


def _waiting(draft: Draft, reason: str, detail: str) -> Draft:
    return replace(draft, state="waiting", reason=reason, verdicts={**draft.verdicts, reason: detail})


def _was_reviewed(draft: Draft) -> bool:
    return bool({GRADE, BEFORE, REVIEW_DIALOGUE} & draft.verdicts.keys())


def _restored(draft: Draft) -> Draft:
    if not _was_reviewed(draft):
        return draft
    ours = {GRADE, REVIEWER, BEFORE, draft.reason}
    verdicts = {name: value for name, value in draft.verdicts.items() if name not in ours}
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


def _corrected(draft: Draft) -> Corrected:
    return draft.question, draft.gold, draft.evidence, draft.history


def _fields(draft: Draft) -> dict[str, Any]:
    """Return what a correction may change, as JSON."""
    return {
        "question": draft.question,
        "gold": draft.gold,
        "evidence": draft.evidence,
        "history": [{"question": turn.question, "answer": turn.answer} for turn in draft.history],
    }
