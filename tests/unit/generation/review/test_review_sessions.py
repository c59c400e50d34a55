"""Review sessions: sample, next case, corrections, two people, and folders that are refused."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
from support.projects.review_project import ReviewProject, grade, of_task

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.generation.review.apply_decisions import decision_that_counts
from pytest_rageval.generation.review.decision import Decision
from pytest_rageval.generation.review.edits import changed_words, edit_of
from pytest_rageval.generation.review.folder import Cell, parse_cell
from pytest_rageval.generation.review.presentation import marked_passages, seen_sha
from pytest_rageval.generation.review.session import ChangedError


def test_the_sample_is_human_test_with_turns_in_order(generated: ReviewProject) -> None:
    sample = generated.session().folder.sample
    assert {draft.id for draft in sample} == generated.records("human_test.jsonl").keys()
    assert [draft.task for draft in sample] == ["conversational_qa"] * 4 + ["extractive_qa"] * 4
    assert sample == generated.session().folder.sample


def test_the_next_case_follows_the_current_one_and_wraps_around(generated: ReviewProject) -> None:
    session = generated.session()
    sample = session.folder.sample
    assert session.following() == sample[0]
    assert session.following(sample[2].id) == sample[3]
    assert session.following(sample[-1].id) == sample[0]
    for draft in sample:
        grade(session, draft, 4)
    assert session.following() is None
    assert (session.progress.done, session.progress.total) == (8, 8)
    assert session.undo() == sample[-1].id
    assert session.following() == sample[-1]


def test_a_second_person_is_asked_a_share_of_the_sample(generated: ReviewProject) -> None:
    ann, bo = generated.session("Ann", second=0.25), generated.session("Bo", second=0.25)
    for draft in ann.folder.sample:
        grade(ann, draft, 4)
    bo.refresh()
    sample = [draft for draft in bo.folder.sample if bo.needs_decision(draft)]
    assert len(sample) == 2  # a quarter of 8
    for draft in sample:
        grade(bo, draft, 5)
    third = generated.session("Cy", second=0.25)
    assert third.progress.done == 8
    assert generated.session("Cy").following() is None


def test_a_correction_that_fails_a_check_of_drafts_is_refused(generated: ReviewProject) -> None:
    session = generated.session()
    draft, other = of_task(session, "extractive_qa")[:2]
    edit = edit_of(draft)
    faults = {
        session.fault(draft, replace(edit, question=f"Is it {draft.gold[0][0]}?")).partition(":")[0],
        session.fault(draft, replace(edit, gold=(("Atlantis",),))).partition(":")[0],
        session.fault(draft, replace(edit, evidence=("Nobody wrote this.",))).partition(":")[0],
        session.fault(draft, replace(edit, question=other.question)).partition(":")[0],
        session.fault(draft, replace(edit, question="馆长在哪里工作？")).partition(":")[0],
        session.fault(draft, edit).partition(":")[0],
    }
    assert faults == {
        "answer_in_question", "answer_unsupported", "evidence_not_verbatim", "duplicate", "language", "no_change",
    }  # fmt: skip
    assert session.fault(draft, replace(edit, question=draft.question.replace("Where", "In what city"))) == ""
    with pytest.raises(DataError, match="the correction fails a check: answer_unsupported"):
        grade(session, draft, 3, replace(edit, gold=(("Atlantis",),)))
    assert not generated.decisions.exists()


def test_a_correction_must_not_repeat_another_correction_or_an_earlier_turn(generated: ReviewProject) -> None:
    session = generated.session()
    one, other = of_task(session, "extractive_qa")[:2]
    question = one.question.replace("Where does", "In what city does")
    grade(session, one, 3, replace(edit_of(one), question=question))
    assert session.fault(other, replace(edit_of(other), question=question)).startswith("duplicate: the question of")
    first, later = of_task(session, "conversational_qa")[:2]
    name = first.sources[0].title
    named_again = replace(edit_of(later), question=f"And since which year does {name}?")
    assert session.fault(later, named_again) == f"follow_up_complete: '{name}' is named again"


def test_a_decision_on_a_case_that_changed_meanwhile_is_not_stored(generated: ReviewProject) -> None:
    session = generated.session()
    draft = of_task(session, "extractive_qa")[0]
    sha = seen_sha(draft)
    data = (generated.folder / "staff.csv").read_text(encoding="utf-8")
    (generated.folder / "staff.csv").write_text(data.replace(draft.gold[0][0], "Alta"), encoding="utf-8")
    generated.generate()
    with pytest.raises(ChangedError, match="changed since it was shown; nothing was stored"):
        session.decide(draft.id, sha, 5)
    assert not generated.decisions.exists()


def test_the_evidence_is_marked_in_the_whole_passage(generated: ReviewProject) -> None:
    draft = of_task(generated.session(), "extractive_qa")[0]
    source = replace(draft.sources[0], text=f"Before. {draft.sources[0].text} After.")
    (passage,) = marked_passages(replace(draft, sources=(source,)))
    assert "".join(text for text, _ in passage.pieces) == source.text
    assert [kind for _, kind in passage.pieces] == ["", "evidence", ""]
    (without_evidence,) = marked_passages(replace(draft, evidence=()))
    assert [text for text, kind in without_evidence.pieces if kind == "answer"] == [draft.gold[0][0]]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Where is it?", "Where was it?", [("Where ", ""), ("is", "removed"), ("was", "added"), (" it?", "")]),
        ("开馆时间", "闭馆时间", [("开", "removed"), ("闭", "added"), ("馆时间", "")]),
        ("same", "same", [("same", "")]),
        ("", "new", [("new", "added")]),
        (
            "a b " * 5000,
            "a b " * 4999 + "a c ",
            [("a b " * 4999 + "a ", ""), ("b", "removed"), ("c", "added"), (" ", "")],
        ),
        ("新" * 9000, "旧" * 9000, [("新" * 9000, "removed"), ("旧" * 9000, "added")]),
    ],
)
def test_removed_and_added_words_are_marked(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    assert changed_words(before, after) == expected


def test_a_grade_of_3_with_a_correction_counts_before_one_without(generated: ReviewProject) -> None:
    draft = of_task(generated.session(), "extractive_qa")[0]
    uncorrected, corrected = Decision("d", "s", 3, "Ann"), Decision("d", "s", 3, "Bo", (), edit_of(draft))
    assert decision_that_counts([corrected, uncorrected]) == decision_that_counts([uncorrected, corrected]) == corrected
    assert decision_that_counts([Decision("d", "s", 5, "Ann"), uncorrected]) == uncorrected
    assert decision_that_counts([]) is None


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (None, Cell()),
        ("topic=Transit/Ferries,task=extractive_qa", Cell("Transit/Ferries", "extractive_qa")),
        ("task=extractive_qa", Cell(task="extractive_qa")),
        ("topic=Sun, sea and sand, task=long_form_qa", Cell("Sun, sea and sand", "long_form_qa")),
    ],
)
def test_cells_of_the_sheet_are_parsed(text: str | None, cell: Cell) -> None:
    assert parse_cell(text) == cell


@pytest.mark.parametrize("text", ["", "topics=a", "task", "task=a,task=b"])
def test_a_malformed_cell_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="wanted topic=NAME,task=NAME"):
        parse_cell(text)


def test_invalid_folders_and_options_are_refused_with_a_message(generated: ReviewProject) -> None:
    sheet = ("--sheet", "new.csv")
    (generated.folder / "empty").mkdir()
    assert "empty holds no drafts.jsonl; name the folder that rageval generate" in generated.refusal("empty", *sheet)
    assert "--cell: no case of the sample is in it; unknown task 'extractiv_qa'; did you mean" in generated.refusal(
        "cases", "--cell", "task=extractiv_qa", *sheet
    )
    assert "unknown topic 'x'; known: staff" in generated.refusal("cases", "--cell", "topic=x", *sheet)
    assert "--second 2: wanted a share" in generated.refusal("cases", "--second", "2", *sheet)
    assert "--reviewer ' ': wanted a name" in generated.refusal("cases", "--reviewer", " ", *sheet)
    assert r"--reviewer 'a\u202eb': wanted a name" in generated.refusal("cases", "--reviewer", "a\u202eb", *sheet)
    manifest = generated.folder / "cases" / "manifest.json"
    values = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**values, "schema": 9}), encoding="utf-8")
    assert "is of another version of pytest-rageval: found schema 9, wanted 1" in generated.refusal("cases", *sheet)
    manifest.write_text(json.dumps({**values, "split": {}}), encoding="utf-8")
    assert "another version of pytest-rageval: it has no split" in generated.refusal("cases", *sheet)
    manifest.unlink()
    assert "manifest.json is missing" in generated.refusal("cases", *sheet)
    generated.decisions.write_text("{}\n{}\n", encoding="utf-8")
    manifest.write_text(json.dumps(values), encoding="utf-8")
    assert generated.refusal("cases", *sheet).startswith("rageval: cases/decisions.jsonl:1: draft: found nothing")
    drafts = generated.folder / "cases" / "drafts.jsonl"
    drafts.write_text('{"id": 1}\n', encoding="utf-8")
    assert "cases/drafts.jsonl:1: is not a draft of rageval generate" in generated.refusal("cases", *sheet)


def test_without_the_ui_extra_the_page_names_it_and_the_sheet_works(
    generated: ReviewProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefixes = ("pytest_rageval.web", "pytest_rageval.commands.reviewing.", "starlette")
    for name in [each for each in sys.modules if each.startswith(prefixes)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert "pip install 'pytest-rageval[ui]'" in generated.refusal("cases")
    assert generated.run("review", "cases", "--sheet", "sheet.csv")[0] == 0
