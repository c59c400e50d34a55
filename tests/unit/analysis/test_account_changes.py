"""Places of drops, and how often an unchanged system seems to drop."""

from __future__ import annotations

import random
from typing import Any

from support.samples.measured_samples import TESTBED, measured, snapshot

from pytest_rageval.analysis.account.changes import Change, changes_of
from pytest_rageval.analysis.baseline.comparison import compare
from pytest_rageval.analysis.baseline.snapshot import Measured

PRIMARY_METRICS = {TESTBED: ("accuracy",)}


def drops(before: list[Measured], after: list[Measured], *, worse: bool = True) -> list[Change]:
    return changes_of(compare(snapshot(before), snapshot(after), alpha=0.05), PRIMARY_METRICS, 0.05, worse=worse)


def cases(values: dict[str, list[float]], **facets: Any) -> list[Measured]:
    """Return cases of topics, from topic -> values."""
    return [
        measured(f"{topic}{at}", value, topic=topic, half="odd" if at % 2 else "even", **facets)
        for topic, row in values.items()
        for at, value in enumerate(row)
    ]


def test_a_drop_in_one_topic_is_reported_for_that_topic() -> None:
    good = cases({"A": [1.0] * 10, "B": [1.0] * 30})
    (drop,) = drops(good, cases({"A": [0.0] * 10, "B": [1.0] * 30}))
    assert (drop.slice, len(drop.pairs), len(drop.changed_pairs), drop.test.baseline, drop.test.value) == (
        {"topic": "A"}, 10, 10, 1.0, 0.0,
    )  # fmt: skip
    assert len(drop.all_pairs) == 40


def test_a_drop_in_every_topic_is_reported_for_the_testbed() -> None:
    good = cases({"A": [1.0] * 10, "B": [1.0] * 30})
    (drop,) = drops(good, cases({"A": [0.0] * 10, "B": [0.0] * 8 + [1.0] * 22}))
    assert (drop.slice, len(drop.changed_pairs)) == ({}, 18)


def test_a_drop_within_two_facet_values_is_reported_for_the_smaller_one() -> None:
    def rows(value: float) -> list[Measured]:
        inside = [measured(f"a{at}", value, topic="A", language="zh") for at in range(8)]
        outside = [measured(f"b{at}", 1.0, topic="B", language="zh") for at in range(4)]
        return inside + outside + [measured(f"c{at}", 1.0, topic="B", language="en") for at in range(20)]

    (drop,) = drops(rows(1.0), rows(0.0))
    assert drop.slice == {"topic": "A"}


def test_facets_that_share_all_cases_are_one_hypothesis() -> None:
    good = cases({"A": [1.0] * 8, "B": [1.0] * 8}, dataset="town", ability="qa")
    bad = cases({"A": [0.0] * 8, "B": [1.0] * 8}, dataset="town", ability="qa")
    (drop,) = drops(good, bad)
    assert drop.slice == {"topic": "A"}


def test_few_broken_cases_and_a_rise_are_not_reported_as_drops() -> None:
    good, bad = cases({"A": [1.0] * 20}), cases({"A": [0.0] * 4 + [1.0] * 16})
    assert drops(good, bad) == []
    assert drops(bad, good) == []
    worst = cases({"A": [0.0] * 20})
    assert drops(worst, good) == []
    (rise,) = drops(worst, good, worse=False)
    assert (len(rise.changed_pairs), rise.test.value) == (20, 1.0)


def test_an_unchanged_noisy_system_is_rarely_reported_to_drop() -> None:
    """Two families at 0.05 each alarm in at most a tenth of the runs: with p > 0.999 in at most 31 of 200."""
    rng = random.Random(11)
    alarms = 0
    for _ in range(200):
        topics = {topic: [float(rng.random() < 0.7) for _ in range(12)] for topic in "ABCDEFGH"}
        again = {topic: [float(rng.random() < 0.7) for _ in range(12)] for topic in "ABCDEFGH"}
        alarms += bool(drops(cases(topics), cases(again)))
    assert alarms <= 31
