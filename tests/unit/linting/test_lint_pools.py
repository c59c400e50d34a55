"""Lint checks of passage pools: size, roles and groups."""

from __future__ import annotations

from typing import Any

import pytest
from support.samples.lint_samples import found_by, of, record

from pytest_rageval.model.case import Instance, Passage

POOL = (*of("positive", *"abc"), *of("negative", *"de"))
WITH_COUNTERFACTUALS = (*of("positive", *"abc"), *of("counterfactual", *"ABC"), *of("negative", *"de"))
GROUPS = (*of("positive", "a", "b", group=0), *of("positive", "c", group=1), *of("negative", "d"))


@pytest.mark.parametrize(
    ("passages", "settings", "problem"),
    [
        (POOL, {"passages": 3}, ""),
        (POOL, {"passages": 5, "noise_rate": 0.4}, ""),
        (POOL, {}, "passages=5 noise_rate=0 supplies 3 positive; the record has 3 positive, 2 negative"),
        (
            POOL,
            {"noise_rate": 0.8},
            "passages=5 noise_rate=0.8 supplies 1 positive, 2 negative; the record has 3 positive, 2 negative",
        ),
        (
            POOL,
            {"noise_rate": 0.8, "assembly": "rgb-compat"},  # RGB fills a short pool from the other one
            "passages=5 noise_rate=0.8 supplies 3 positive, 2 negative; the record has 3 positive, 2 negative",
        ),
        (POOL, {"ability": "negative_rejection", "passages": 2}, ""),
        (
            POOL,
            {"ability": "negative_rejection", "passages": 3},
            "passages=3 noise_rate=1 supplies 2 negative; the record has 3 positive, 2 negative",
        ),
        (WITH_COUNTERFACTUALS, {"passages": 3, "correct_rate": 0.5}, ""),
        (
            WITH_COUNTERFACTUALS,
            {"passages": 4},
            "passages=4 noise_rate=0 correct_rate=0 supplies 3 counterfactual; "
            "the record has 3 positive, 2 negative, 3 counterfactual",
        ),
        (GROUPS, {"passages": 3}, ""),
        (
            GROUPS,
            {"passages": 3, "noise_rate": 0.5},
            "passages=3 noise_rate=0.5 supplies 2 positive, 1 negative; the record has 3 positive, 1 negative",
        ),
        (of("positive", "a"), {}, ""),  # only positive passages: the record's sources, not a pool
        (of("", "a"), {}, ""),
        (None, {}, ""),
        ((), {}, ""),
    ],
)
def test_pools_too_small_for_the_settings_are_found(
    passages: tuple[Passage, ...] | None, settings: dict[str, Any], problem: str
) -> None:
    findings = found_by("short_pool", record(passages=passages), **settings)
    assert [(each.severity, each.problem) for each in findings] == ([("warning", problem)] if problem else [])


def test_each_combination_of_list_settings_is_checked() -> None:
    findings = found_by("short_pool", record(passages=POOL), passages=[2, 4], noise_rate=[0.0, 1.0])
    assert [each.problem.partition(" supplies")[0] for each in findings] == [
        "passages=4 noise_rate=0",
        "passages=4 noise_rate=1",
    ]


def test_a_record_that_an_ability_cannot_use_is_an_error() -> None:
    [finding] = found_by("short_pool", record(passages=POOL), ability="counterfactual_robustness")
    assert finding.severity == "error"
    assert finding.problem == (
        "passages: found none with the role counterfactual, which counterfactual_robustness needs"
    )


def test_correct_rate_applies_only_to_records_with_counterfactual_passages() -> None:
    assert (
        found_by(
            "short_pool",
            record(passages=POOL),
            record("q2", passages=WITH_COUNTERFACTUALS),
            passages=2,
            correct_rate=0.5,
        )
        == []
    )


def test_an_empty_pool_is_found_if_most_records_fill_it() -> None:
    only = record("q3", passages=of("positive", "a"), line=3)
    full = [record(f"q{n}", passages=POOL, line=n) for n in (1, 2)]
    others: list[Instance] = [record("q4", passages=None), record("q5", passages=(), answerable=False)]
    [finding] = found_by("empty_pool", *full, only)
    assert (finding.id, finding.origin) == ("q3", "cases.jsonl:3")
    assert finding.problem == "the record has no negative passage, unlike most records"
    assert found_by("empty_pool", *full, *others[:1]) == []
    assert found_by("empty_pool", *full, others[1]) == []
    assert found_by("empty_pool", full[0], only) == []  # one of two records is not most of them
    [finding] = found_by("empty_pool", *full, record("q6", passages=()))
    assert finding.problem == "the record has no positive and no negative passage, unlike most records"


def test_the_same_text_in_two_roles_is_found() -> None:
    repeated = (*of("positive", "a", "b", "b"), *of("counterfactual", "A", "b"), *of("negative", "a"))
    [finding] = found_by("double_role", record(passages=repeated), record("q2", passages=WITH_COUNTERFACTUALS))
    assert (finding.id, finding.severity) == ("q1", "error")
    assert finding.problem == "p1 (positive) and c1 (counterfactual) have the same text; 1 more pairs, too"


def test_a_different_number_of_groups_and_slots_is_found() -> None:
    one, two = record(passages=GROUPS), record("q2", passages=GROUPS, gold=(("a",), ("c",)))
    [finding] = found_by("groups_and_slots", one, two)
    assert (finding.id, finding.severity) == ("q1", "note")
    assert finding.problem == "2 groups of positive passages, but 1 parts of the gold"
