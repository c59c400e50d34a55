"""Labels of people, matched to the answers of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.samples.outcome_samples import failed, outcome

from pytest_rageval.analysis.people.agreement import Rating
from pytest_rageval.analysis.people.labelled_answers import (
    JudgedAnswer,
    MatchedLabels,
    comparable_ratings,
    judged_answers,
    match_labels,
)
from pytest_rageval.datasets.labels import Label
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.outcome import Outcome, Score


def answered_case(name: str, text: str, value: float | str = 1.0, system: str = "one", **facets: Any) -> Outcome:
    base = outcome(name, value, **facets)
    return replace(base, nodeid=f"{base.nodeid}{system}{text}", answer=Answer(text), system=system)


def unmatched_ids(matches: MatchedLabels) -> dict[str, list[str]]:
    return {reason: [label.id for label in labels] for reason, labels in matches.unmatched.items()}


def scored_answers(*pairs: tuple[float, tuple[float, ...]]) -> list[JudgedAnswer]:
    return [JudgedAnswer(outcome(str(at)), judge, people) for at, (judge, people) in enumerate(pairs)]


def test_a_label_matches_the_answer_with_its_case_system_and_text() -> None:
    run = [
        answered_case("a", "x"),
        answered_case("a", "y", system="two"),
        answered_case("b", "z  z"),
        answered_case("c", "x", repeat="1"),
    ]
    run.append(answered_case("c", "y", repeat="2"))
    labels = [
        Label("a", 1.0, system="one"),
        Label("a", 0.0, answer="y "),
        Label("b", 1.0, answer="z z", rater="p"),
        Label("b", 0.0, rater="q"),
        Label("c", 1.0, answer="y"),
        Label("c", 1.0),
        Label("d", 1.0),
        Label("a", 1.0, system="three"),
        Label("b", 1.0, answer="other"),
        Label("b", 1.0, metric="unknown"),
        Label("b", None),
    ]
    matches = match_labels(labels, run)
    assert [(each.outcomes, each.labels) for each in matches.answers] == [
        ((run[0],), (labels[0],)),
        ((run[1],), (labels[1],)),
        ((run[2],), (labels[2], labels[3])),
        ((run[4],), (labels[4],)),
    ]
    assert matches.blank == (labels[10],)
    assert unmatched_ids(matches) == {
        "of one of several answers to the case, without saying which": ["c"],
        "of no case of the run": ["d"],
        "of a system that the run does not have for the case": ["a"],
        "of an answer that is not the run's": ["b"],
        "of a metric that the run did not compute": ["b"],
    }


def test_a_label_without_a_system_is_refused_if_two_systems_answered() -> None:
    run = [answered_case("a", "x"), answered_case("a", "y", system="two")]
    with pytest.raises(DataError, match=r"^l:1: the label names no system, and the run has answers of one, two; name"):
        match_labels([Label("a", 1.0, where="l:1")], run)


def test_a_run_without_texts_is_labelled_by_case_and_system() -> None:
    run = [answered_case("a", ""), answered_case("b", "")]
    matches = match_labels([Label("a", 1.0, answer="what was said"), Label("b", 0.0)], run)
    assert [each.outcomes for each in matches.answers] == [(run[0],), (run[1],)]


def test_an_answer_under_several_testbeds_is_one_answer() -> None:
    unscored, there = answered_case("a", "x", "parse_error: no label"), answered_case("a", "x", 0.5)
    matches = match_labels([Label("a", 1.0)], [unscored, replace(there, testbed="other", nodeid="other")])
    assert len(matches.answers) == 1
    ((comparison,), reasons) = judged_answers("accuracy", matches.answers)
    assert (comparison.judged, comparison.people, comparison.outcome.testbed) == (0.5, (1.0,), "other")
    assert not reasons


def test_unscored_answers_are_counted_by_reason() -> None:
    run = [
        answered_case("a", "x", "parse_error: no label"),
        answered_case("b", "x", "parse_error: prose"),
        replace(answered_case("c", "x"), scores={"other": Score(1.0)}),
        failed("d"),
        answered_case("e", "x"),
    ]
    labels = [Label(name, 1.0) for name in "abcd"] + [Label("e", 1.0, metric="other")]
    comparison, reasons = judged_answers("accuracy", match_labels(labels, run).answers)
    assert comparison == []
    assert reasons == {"parse_error": 2, "not_computed": 1, "error": 1}


def test_scores_in_between_become_yes_or_no_like_the_labels() -> None:
    matches = comparable_ratings(scored_answers((0.5, (1.0,)), (0.49, (0.0, 1.0))))
    assert (matches.levels, matches.threshold, matches.snapped) == ((0, 1), 0.5, False)
    assert matches.ratings == (Rating("0", 1.0, (1.0,)), Rating("1", 0.0, (0.0, 1.0)))
    assert comparable_ratings(scored_answers((1.0, (1.0,)), (0.0, (1.0,)))).threshold is None


def test_scores_between_become_the_nearest_level_of_people() -> None:
    matches = comparable_ratings(scored_answers((0.3, (0.5,)), (1.0, (1.0,))))
    assert (matches.levels, matches.threshold, matches.snapped) == ((0, 0.5, 1), None, True)
    assert matches.ratings[0].judged == 0.5
    assert comparable_ratings(scored_answers((0.5, (1.0,))), declared=(0.0, 0.5, 1.0)).ratings[0].judged == 0.5


def test_a_threshold_is_for_both_sides() -> None:
    matches = comparable_ratings(scored_answers((0.7, (0.5,)), (0.8, (0.8,)), (0.2, (1.0,))), threshold=0.75)
    assert (matches.levels, matches.threshold) == ((0, 1), 0.75)
    assert [(each.judged, each.people) for each in matches.ratings] == [(0, (0,)), (1, (1,)), (0, (1,))]


def test_an_id_matches_in_each_dataset_that_has_it_and_not_inside_another_id() -> None:
    run = [answered_case("jsonl:a.jsonl:q1", "x"), answered_case("labelled:s.csv:q1", "x"), answered_case("10:30", "x")]
    run += [answered_case("q2", "x"), answered_case("labelled:s.csv:q2", "y")]
    labels = [Label("q1", 1.0), Label("30", 1.0), Label("q2", 1.0)]
    matches = match_labels(labels, run)
    assert [each.outcomes for each in matches.answers] == [(run[0], run[1]), (run[3],)]
    assert unmatched_ids(matches) == {"of no case of the run": ["30"]}


def test_answers_to_turns_of_a_dialogue_are_one_unit_under_all_systems() -> None:
    def turn(name: str, dialogue: str, system: str) -> JudgedAnswer:
        words = replace(answered_case(name, "x"), facets={"dialogue": dialogue}, system=system)
        return JudgedAnswer(words, 1.0, (1.0,))

    matches = comparable_ratings(
        [turn("a", "1", "old"), turn("a", "1", "new"), turn("b", "1", "old"), turn("c", "2", "old")]
    )
    units = [each.unit for each in matches.ratings]
    assert units[0] == units[1] == units[2] != units[3]
