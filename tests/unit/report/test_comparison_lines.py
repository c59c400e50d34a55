"""The comparison section: it fits the width and lists each broken case once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rageval.analysis.baseline.comparison import compare
from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.report.sections.comparison import comparison_lines
from pytest_rageval.report.text.lines import wrap

SETTINGS = ("0.2", "0.4", "0.6")


def snapshot_of(value: float, fingerprint: str = "sha256:1", evidence: float = 1.0) -> Snapshot:
    """Return a run of twelve cases at three noise rates; two metrics have the same value everywhere."""
    cases = [
        Measured("t.py::test_q", f"question-number-{number}", "desk", {"noise_rate": rate}, f"{number} {rate}")
        for number in range(12)
        for rate in SETTINGS
    ]
    return Snapshot(
        run="a",
        started="2026-11-21T16:20:48+00:00",
        fingerprint=fingerprint,
        versions={},
        metrics={"accuracy": MetricInfo(binary=True), "slot_recall": MetricInfo()},
        testbeds={"t.py::test_q": MeasuredTestbed("test_q", ("accuracy", "slot_recall"))},
        cases=tuple(
            replace(case, scores={"accuracy": value, "slot_recall": value}, evidence=evidence) for case in cases
        ),
        path="rag-baseline.json",
    )


def text_of(after: Snapshot, *, whole: bool = True, width: int = 80) -> str:
    comparison = compare(snapshot_of(1.0), after, alpha=0.05, whole=whole)
    return "\n".join(part.text for line in comparison_lines(comparison, width, 0.05) for part in wrap(line, width))


def test_an_unchanged_run_takes_a_few_lines() -> None:
    text = text_of(snapshot_of(1.0)).strip()
    assert text.startswith("against rag-baseline.json, of 2026-11-21 16:20: 36 cases compared\nno score changed\n")
    assert len(text.splitlines()) <= 4


def test_cases_that_lost_their_score_are_reported() -> None:
    after = snapshot_of(1.0)
    first, second, *rest = after.cases
    cases = (*(replace(case, scores={"accuracy": 1.0}) for case in (first, second)), *rest)
    text = text_of(replace(after, cases=cases), width=200)
    assert "no score changed where both runs have one; no longer scored: slot_recall in 1 case\n" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, text_of(snapshot_of(0.0), width=width).splitlines())) <= width


def test_a_broken_case_is_listed_once_and_for_the_primary_metric_only() -> None:
    text = text_of(snapshot_of(0.0))
    assert text.count("question-number-3,") == 1
    assert "test_q slot_recall: broke" not in text
    assert "test_q slot_recall" in text


@pytest.mark.parametrize(("evidence", "cause"), [(0.0, "retrieval"), (1.0, "generation"), (0.5, "both")])
def test_the_cause_of_broken_cases_is_shown(evidence: float, cause: str) -> None:
    assert f"({cause} 36)" in text_of(snapshot_of(0.0, evidence=evidence))


def test_different_data_or_settings_are_reported_for_a_whole_run_only() -> None:
    other_data = snapshot_of(1.0, fingerprint="sha256:2")
    assert "data or settings differ" in text_of(other_data, width=200)
    assert "its data or settings" not in text_of(other_data, whole=False, width=200)
    fewer = replace(other_data, testbeds={"u.py::u": MeasuredTestbed("u", ("accuracy",))}, cases=())
    assert "its data or settings" not in text_of(fewer, width=200)
