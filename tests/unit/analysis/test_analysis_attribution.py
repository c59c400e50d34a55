"""Causes of broken cases: retrieval if the evidence is lost, generation if it is there."""

from __future__ import annotations

import pytest

from pytest_rageval.analysis.baseline.failure_cause import cause_of, cause_text, causes_of, n_by_answer
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.snapshot import Measured


def pair_of(then: float | None, now: float | None, **facets: str) -> Pair:
    before, after = (Measured("t.py::t", "q", "desk", facets, "d", evidence=share) for share in (then, now))
    return Pair(before, after)


@pytest.mark.parametrize(
    ("then", "now", "cause"),
    [
        (1.0, 0.0, "retrieval"),
        (1.0, 1.0, "generation"),
        (0.5, 0.5, "generation"),
        (0.5, 0.8, "generation"),
        (None, 1.0, "generation"),
        (1.0, 0.5, "both"),
        (0.0, 0.0, "unknown"),
        (None, 0.0, "unknown"),
        (1.0, None, "unknown"),
    ],
)
def test_the_cause_follows_from_the_evidence_then_and_now(then: float | None, now: float | None, cause: str) -> None:
    assert cause_of(pair_of(then, now)) == cause


@pytest.mark.parametrize("ability", ["negative_rejection", "counterfactual_robustness"])
def test_retrieval_is_no_cause_if_a_testbed_withholds_the_evidence(ability: str) -> None:
    assert cause_of(pair_of(0.0, 0.0, ability=ability)) == "generation"
    assert cause_of(pair_of(None, None, ability=ability)) == "unknown"


def test_every_cause_is_counted_also_with_zero_cases() -> None:
    result = causes_of([pair_of(1.0, 0.0), pair_of(1.0, 0.0), pair_of(1.0, 1.0)])
    assert result == {"retrieval": 2, "generation": 1, "both": 0, "unknown": 0}


def by_answer(then: float | None, now: float | None) -> Pair:
    before, after = (Measured("t.py::t", "q", "desk", {}, "d", answer_seen=share) for share in (then, now))
    return Pair(before, after)


@pytest.mark.parametrize(
    ("then", "now", "text"),
    [
        (1.0, 0.0, "retrieval by answer"),
        (1.0, 0.5, "both by answer"),
        (1.0, 1.0, "generation by answer"),
        (0.0, 0.0, "generation by answer"),  # the passages contain no less of the answer than before
        (None, 1.0, "generation by answer"),
        (None, 0.0, "unknown"),
        (1.0, None, "unknown"),
    ],
)
def test_without_labels_the_seen_answer_gives_the_cause(then: float | None, now: float | None, text: str) -> None:
    pair = by_answer(then, now)
    assert cause_text(pair) == text
    assert cause_of(pair) == text.partition(" ")[0]
    assert n_by_answer([pair, pair_of(1.0, 0.0), pair_of(None, 1.0)]) == int(text != "unknown")


def test_evidence_labels_decide_before_the_seen_answer() -> None:
    before = Measured("t.py::t", "q", "desk", {}, "d", evidence=1.0, answer_seen=1.0)
    after = Measured("t.py::t", "q", "desk", {}, "d", evidence=0.0, answer_seen=1.0)
    assert cause_text(Pair(before, after)) == "retrieval"


@pytest.mark.parametrize(
    ("evidence", "answer_seen", "text"),
    [
        (1.0, 0.0, "retrieval by answer"),
        (1.0, 0.5, "both by answer"),
        (1.0, 1.0, "generation by answer"),
        (1.0, None, "unknown"),
    ],
)
def test_evidence_that_left_the_corpus_is_replaced_by_the_answer(
    evidence: float, answer_seen: float | None, text: str
) -> None:
    before = Measured("t.py::t", "q", "desk", {}, "d", evidence=evidence)
    after = Measured("t.py::t", "q", "desk", {}, "d", answer_seen=answer_seen)
    assert cause_text(Pair(before, after)) == text


@pytest.mark.parametrize(("then", "now"), [(1.0, 1.0), (1.0, 0.5), (1.0, 0.0), (None, None), (0.0, 0.0)])
def test_retrieval_is_the_only_cause_for_a_retrieval_metric(then: float | None, now: float | None) -> None:
    pairs = [pair_of(then, now), by_answer(then, now)]
    assert [cause_of(pair, "retrieval") for pair in pairs] == ["retrieval"] * 2
    assert [cause_text(pair, "retrieval") for pair in pairs] == ["retrieval"] * 2
    assert causes_of(pairs, "retrieval") == {"retrieval": 2, "generation": 0, "both": 0, "unknown": 0}
    assert n_by_answer(pairs, "retrieval") == 0
    assert cause_of(pair_of(1.0, 1.0), "both") == "generation"
