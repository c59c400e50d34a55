"""Old answers: the answers of the baseline run, paired with the outcomes of this run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.model.answer import Answer, OldAnswer
from pytest_rageval.model.digests import text_digest
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.report.run.old_answers import HOW_TO_STORE, AnswerSource, OldAnswers, StoredAnswer, answers_of
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run

TESTBED = "test_a.py::test_a"


def outcome(case: str, text: str, *passages: str, data: str = "", score: float = 1.0, repeat: str = "") -> Outcome:
    facets = {"topic": "Funds"} | ({"repeat": repeat} if repeat else {})
    ranking = Ranking(tuple(map(ScoredPassage, passages)))
    return Outcome(
        f"{TESTBED}[{case}{repeat and '-'}{repeat}]", case, TESTBED, facets, "mine", "scored", Answer(text, ranking),
        {"f1": Score(score)}, data=data or text_digest(case), said=text_digest(text),
    )  # fmt: skip


def run_of(*outcomes: Outcome, texts: bool = True) -> Run:
    plan = Plan({TESTBED: TestbedPlan(TESTBED, "test_a", ("f1",))})
    run = Run(datetime(2026, 1, 2, tzinfo=timezone.utc), plan, {each.nodeid: each for each in outcomes}, texts=texts)
    run.records = {}
    return run


def old_answers_of(before: Run, now: Run, answers: list[StoredAnswer] | None = None) -> OldAnswers:
    now.baseline = before.snapshot()
    now.source = AnswerSource("old.json", answers_of(before.outcomes.values()) if answers is None else answers)
    old = now.old_answers
    assert old is not None
    return old


def test_each_case_has_its_old_answer() -> None:
    one, two = outcome("q1", "the new hall", "d2"), outcome("q2", "same", "d1")
    old = old_answers_of(
        run_of(outcome("q1", "the old hall", "d1", "d2"), outcome("q2", "same", "d1")), run_of(one, two)
    )
    assert old.of(one) == OldAnswer("the old hall", None, ("d1", "d2"))
    assert old.of(two) == OldAnswer("same", None, ("d1",))
    assert (old.unknown, old.foreign, old.how) == (0, 0, "")


def test_a_renamed_case_keeps_its_old_answer_and_a_changed_or_new_one_has_none() -> None:
    digest = text_digest("content")
    renamed, changed, new = (
        outcome("q7", "now", data=digest), outcome("q2", "now", data="e" * 16), outcome("q3", "now"),
    )  # fmt: skip
    before = run_of(outcome("q1", "then", data=digest), outcome("q2", "then"))
    old = old_answers_of(before, run_of(renamed, changed, new))
    assert old.of(renamed) == OldAnswer("then", None, ())
    assert old.of(changed) is None
    assert old.of(new) is None
    assert old.how == ""


def test_a_repeat_is_paired_with_the_same_repeat_or_else_with_the_first() -> None:
    now = [outcome("q1", f"now {n}", repeat=f"{n}") for n in (1, 2, 3)]
    old = old_answers_of(run_of(*(outcome("q1", f"then {n}", repeat=f"{n}") for n in (1, 2))), run_of(*now))
    assert [was.text for each in now if (was := old.of(each))] == ["then 1", "then 2", "then 1"]


def test_an_answer_that_the_baseline_did_not_score_is_not_shown() -> None:
    one = outcome("q1", "now")
    foreign = answers_of([outcome("q1", "of another run")])
    old = old_answers_of(run_of(outcome("q1", "then")), run_of(one), foreign)
    assert old.of(one) is None
    assert (old.unknown, old.foreign, old.how) == (1, 1, HOW_TO_STORE)


def test_without_a_source_only_unchanged_answers_are_known() -> None:
    one, two = outcome("q1", "now"), outcome("q2", "same", "d1")
    old = old_answers_of(run_of(outcome("q1", "then"), outcome("q2", "same", "d1")), run_of(one, two), [])
    assert old.of(one) is None
    assert old.of(two) == OldAnswer("same", None, None)
    assert old.how == HOW_TO_STORE


def test_results_contain_an_old_answer_only_if_the_case_changed() -> None:
    outcomes = outcome("q1", "now", "d1"), outcome("q2", "same", "d2"), outcome("q3", "same", "d3")
    before = run_of(outcome("q1", "then", "d1"), outcome("q2", "same", "d1"), outcome("q3", "same", "d3"))
    run = run_of(*outcomes)
    expected = old_answers_of(before, run)
    run.add_old_answers()
    records = [from_json(run.records.get(each.nodeid, "{}")) for each in outcomes]
    assert [record["was"] if record != "{}" else None for record in records] == [
        {"text": "then", "abstained": None, "passages": ["d1"]},
        {"text": "same", "abstained": None, "passages": ["d1"]},
        None,
    ]
    run.source = AnswerSource()
    second_reading = run.once("read", lambda run: run.old_answers)
    assert second_reading is not None
    assert dict(second_reading.answers) == dict(expected.answers)


@pytest.mark.parametrize("missing", ["baseline", "texts"])
def test_there_are_no_old_answers_without_a_baseline_or_texts(missing: str) -> None:
    run = run_of(outcome("q1", "now"), texts=missing != "texts")
    before = run_of(outcome("q1", "then")).snapshot()
    run.baseline = None if missing == "baseline" else before
    run.source = AnswerSource("old.json", answers_of([outcome("q1", "then")]))
    assert isinstance(before, Snapshot)
    assert run.old_answers is None
    run.add_old_answers()
    assert all(each.was is None for each in run.outcomes.values())


def test_the_answers_of_a_run_are_sorted_and_leave_out_errors() -> None:
    error = replace(outcome("q0", ""), answer=None, said="", status="error")
    answers = answers_of([outcome("q2", "b"), error, *(outcome("q1", "a", repeat=f"{n}") for n in (10, 2))])
    assert [(each.case, each.repeat) for each in answers] == [("q1", "2"), ("q1", "10"), ("q2", "")]
