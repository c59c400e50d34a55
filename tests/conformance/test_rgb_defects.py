"""Find the known defects of RGB's published files, by RGB's matching and by ours."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.linting.finding import Finding
from pytest_rageval.linting.linter import lint

DefectFinder = Callable[..., dict[str, list[int]]]

COUNT = re.compile(r" (\d+) (?:passages?|of \d+ positive passages) \(")
"""The number of passages in a finding's text."""


@pytest.fixture(scope="module")
def findings(rageval_data: Path) -> Callable[..., list[Finding]]:
    """Return a function from a file's stem and settings to its defects."""
    return cache(lambda stem, **questions: lint(f"rgb:{rageval_data / 'rgb' / stem}.json", **questions))


@pytest.fixture
def defects(findings: Callable[..., list[Finding]]) -> DefectFinder:
    """Return a function from a file's stem and settings to the numbers of the records, by check."""

    def of(stem: str, **questions: Any) -> dict[str, list[int]]:
        ids: dict[str, list[int]] = {}
        for finding in findings(stem, **questions):
            ids.setdefault(finding.check, []).append(int(finding.id.rpartition("-")[2]))
        return ids

    return of


def rows(data: Path, stem: str) -> list[dict[str, Any]]:
    with (data / "rgb" / f"{stem}.json").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def slots(row: dict[str, Any]) -> list[list[str]]:
    outer = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    return [slot if isinstance(slot, list) else [slot] for slot in outer]


def slot_matches(row: dict[str, Any], text: str) -> list[bool]:
    """Return for each slot whether one of its aliases is a plain substring."""
    return [any(alias.lower() in text.lower() for alias in slot) for slot in slots(row)]


def test_false_answers_scored_as_right_are_reported(defects: DefectFinder) -> None:
    assert defects("zh_fact", assembly="rgb-compat")["gold_in_fake"] == [0, 7, 82]
    assert defects("zh_fact")["gold_in_fake"] == [82]  # 70 is not in 170, nor 2.3% in 12.3%
    assert "gold_in_fake" not in defects("en_fact", assembly="rgb-compat")


def test_counterfactual_passages_with_true_statements_are_reported(
    defects: DefectFinder, findings: Callable[..., list[Finding]]
) -> None:
    assert defects("en_fact", assembly="rgb-compat")["gold_in_counterfactual"] == [43, 73]
    assert defects("zh_fact", assembly="rgb-compat")["gold_in_counterfactual"] == [0, 7, 82, 91]
    assert defects("en_fact")["gold_in_counterfactual"] == [43, 73]
    assert defects("zh_fact")["gold_in_counterfactual"] == [82, 91]
    passages = Counter[str]()
    for stem in ("en_fact", "zh_fact"):
        for finding in findings(stem, assembly="rgb-compat"):
            if finding.check == "gold_in_counterfactual":
                count = COUNT.search(finding.problem)
                assert count
                passages[stem] += int(count[1])
    assert passages == {"en_fact": 2, "zh_fact": 13}
    assert defects("en_fact")["double_role"] == [43, 73]


@pytest.mark.parametrize(
    ("assembly", "answering"),
    [
        ("rgb-compat", {"en_fact": [], "zh_fact": [1, 32], "zh_refine": [184, 238, 265]}),
        ("balanced", {"en_fact": [43], "zh_fact": [1, 32], "zh_refine": [184, 227, 238, 265]}),
    ],
)
def test_noise_that_answers_is_reported(
    defects: DefectFinder, rageval_data: Path, assembly: str, answering: dict[str, list[int]]
) -> None:
    """Both matchings drop the spaces between Chinese characters, without which more of the noise answers.

    Ours also reads numbers: $1.65 billion is 1.65 billion dollars (en_fact 43), and 3% is 3.0% (zh_refine 227).
    """
    plain = {
        stem: [
            row["id"]
            for row in rows(rageval_data, stem)
            if any(all(slot_matches(row, text)) for text in row["negative"])
        ]
        for stem in ("en_fact", "zh_fact", "zh_refine")
    }
    assert plain == {"en_fact": [], "zh_fact": [], "zh_refine": [238]}
    by_check = {stem: defects(stem, assembly=assembly).get("gold_in_negative", []) for stem in plain}
    assert by_check == answering


def test_evidence_that_does_not_answer_is_reported(defects: DefectFinder, rageval_data: Path) -> None:
    plain = [
        row["id"]
        for row in rows(rageval_data, "zh_refine")
        for text in row["positive"]
        if not any(slot_matches(row, text))
    ]
    assert len(plain) == 4
    published = defects("zh_refine", assembly="rgb-compat")["positive_without_gold"]
    assert set(published) < set(plain)
    assert len(published) == 3  # one matches if spaces are dropped
    assert set(defects("zh_refine")["positive_without_gold"]) < set(plain)  # record 48 has 60.4 in another notation
    assert len(defects("zh_refine")["positive_without_gold"]) == 3


def test_empty_or_short_pools_are_reported(defects: DefectFinder, rageval_data: Path) -> None:
    assert defects("zh_fact")["empty_pool"] == [16, 44, 93]
    sizes = {row["id"]: len(row["positive_wrong"]) for row in rows(rageval_data, "en_fact")}
    assert sum(size >= 5 for size in sizes.values()) == 38
    assert defects("en_fact")["short_pool"] == [name for name, size in sizes.items() if size < 5]
    assert "short_pool" not in defects("zh_refine")
    noisy = [row["id"] for row in rows(rageval_data, "zh_fact") if len(row["negative"]) < 4]
    assert defects("zh_fact", noise_rate=0.8)["short_pool"] == noisy


def test_two_names_in_one_alias_are_reported(defects: DefectFinder) -> None:
    assert defects("zh_fact")["joined_names"] == [84]
    assert not any("joined_names" in defects(stem) for stem in ("en_fact", "en_base", "zh_refine"))


def test_the_only_duplicate_question_is_reported(defects: DefectFinder) -> None:
    stems = ("en_fact", "zh_fact", "zh_refine", "en_base")
    assert {stem: defects(stem).get("duplicate_question", []) for stem in stems} == {
        "en_fact": [46],
        "zh_fact": [],
        "zh_refine": [],
        "en_base": [],
    }  # except for case and mark
