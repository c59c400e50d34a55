"""The desk of `rageval play`: what an answer leaves on it, and what it takes off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rageval.web.play.draft import Draft, Quote, changed_draft, draft_after
from pytest_rageval.web.play.played import Played

FIRST = Played("1", "steps", "When does the museum open?", answer="At 9:00.")
GOLD = {"answers": "9:00", "evidence": [{"page": "docs/visit.md", "quote": "9:00"}], "with_passages": True}


def saved(draft: Draft) -> tuple[object, ...]:
    return draft.answers, draft.evidence, draft.with_passages


@pytest.mark.parametrize(
    "other",
    [replace(FIRST, question="And the castle?"), replace(FIRST, case="t::town[museum]"),
     replace(FIRST, question="And the castle?", edited=True)],
)  # fmt: skip
def test_gold_and_evidence_do_not_stay_for_another_question_or_case(other: Played) -> None:
    draft = changed_draft(draft_after(Draft(), FIRST), GOLD)
    assert saved(draft_after(draft, other)) == (None, (), False)


def test_gold_and_evidence_stay_while_the_same_question_is_asked_again() -> None:
    draft = changed_draft(draft_after(Draft(), FIRST), GOLD)
    for again in (replace(FIRST, id="2"), replace(FIRST, id="3", edited=True), replace(FIRST, id="4", system="deaf")):
        draft = draft_after(draft, again)
        assert saved(draft) == ("9:00", (Quote("docs/visit.md", "9:00"),), True)
