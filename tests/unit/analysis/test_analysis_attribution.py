from __future__ import annotations

import pytest
from measured_samples import measured

from pytest_rageval.analysis.attribution import Cause, cause_of, causes_of
from pytest_rageval.analysis.pairing import Pair


def pair(then: float | None, now: float | None) -> Pair:
    return Pair(measured("q1", 1.0, evidence=then), measured("q1", 0.0, evidence=now))


@pytest.mark.parametrize(
    ("then", "now", "cause"),
    [
        (1.0, 1.0, "generation"),
        (0.5, 0.5, "generation"),
        (0.5, 0.8, "generation"),
        (0.0, 0.5, "generation"),
        (0.0, 1.0, "generation"),
        (None, 1.0, "generation"),
        (1.0, 0.0, "retrieval"),
        (0.5, 0.0, "retrieval"),
        (1.0, 0.5, "both"),
        (0.0, 0.0, "unknown"),
        (None, None, "unknown"),
        (None, 0.5, "unknown"),
        (None, 0.0, "unknown"),
        (1.0, None, "unknown"),
    ],
)
def test_a_case_broke_by_what_became_of_its_evidence(then: float | None, now: float | None, cause: Cause) -> None:
    assert cause_of(pair(then, now)) == cause


def test_all_causes_are_counted_those_of_none_too() -> None:
    broken = [pair(1.0, 0.0), pair(1.0, 0.0), pair(1.0, 0.5)]
    assert causes_of(broken) == {"retrieval": 2, "generation": 0, "both": 1, "unknown": 0}
    assert causes_of([]) == {"retrieval": 0, "generation": 0, "both": 0, "unknown": 0}
