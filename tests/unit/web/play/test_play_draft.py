"""The draft of `rageval play`: what an answer changes in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.samples.outcome_samples import outcome

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.playing.orders import PlayOrder
from pytest_rageval.hooks.playing.project import PlayProject
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.web.play.answer_view import facts_of
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.draft import Draft, Quote, change_draft, draft_after
from pytest_rageval.web.play.page_answer import PageAnswer, page_answer_in_run
from pytest_rageval.web.play.state_file import StateFile

FIRST = PageAnswer("1", "steps", "When does the museum open?", answer="At 9:00.")
GOLD = {"answers": "9:00", "evidence": [{"page": "docs/visit.md", "quote": "9:00"}], "with_passages": True}


def gold_of(draft: Draft) -> tuple[object, ...]:
    return draft.answers, draft.evidence, draft.with_passages


@pytest.mark.parametrize(
    "other",
    [replace(FIRST, question="And the castle?"), replace(FIRST, case="t::town[museum]"),
     replace(FIRST, question="And the castle?", edited=True)],
)  # fmt: skip
def test_gold_and_evidence_do_not_stay_for_another_question_or_case(other: PageAnswer) -> None:
    draft = change_draft(draft_after(Draft(), FIRST), GOLD)
    assert gold_of(draft_after(draft, other)) == (None, (), False)


def test_gold_and_evidence_stay_while_the_same_question_is_asked_again() -> None:
    draft = change_draft(draft_after(Draft(), FIRST), GOLD)
    for again in (replace(FIRST, id="2"), replace(FIRST, id="3", edited=True), replace(FIRST, id="4", system="deaf")):
        draft = draft_after(draft, again)
        assert gold_of(draft) == ("9:00", (Quote("docs/visit.md", "9:00"),), True)


def test_a_change_that_cannot_be_stored_does_not_raise_the_version(tmp_path: Path) -> None:
    (tmp_path / ".rageval").touch()
    board = Board(PlayProject(PlayOrder()), StateFile(tmp_path / ".rageval" / "play" / "state.json"))
    with pytest.raises(SettingError, match="cannot be stored"):
        board.change({"version": 0, "question": "When?"})
    (tmp_path / ".rageval").unlink()
    assert board.change({"version": 0, "question": "When?"}).version == 1


def test_an_answer_belongs_only_to_the_draft_with_its_question_and_passages() -> None:
    draft = draft_after(Draft(), FIRST)
    edited = change_draft(draft, {"passages": [{"text": "It is closed."}]})
    assert change_draft(draft, {"answers": "9:00"}).follows(draft, from_draft=True)
    assert not edited.follows(draft, from_draft=True)
    assert edited.follows(edited, from_draft=True)
    assert not edited.follows(edited, from_draft=False)
    assert not change_draft(draft, {"question": "Who?"}).follows(draft, from_draft=False)


@pytest.mark.parametrize(
    ("calls", "fact"), [(None, False), (Calls(), False), (Calls(calls=2, attempts=2), "asked, 2 of 2 calls")]
)
def test_an_answer_without_model_calls_shows_no_number_of_calls(calls: Calls | None, fact: str | bool) -> None:
    case = Case("q1", Instance("q1", "When?"), None, {})
    facts = facts_of(page_answer_in_run(case, outcome("q1", 1.0, calls=calls)))
    assert [each for each in facts if "calls" in each] == ([fact] if fact else [])
    assert ("$0" in facts) == bool(fact)
