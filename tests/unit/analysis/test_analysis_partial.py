"""Gates with a fixed bound if only a part of their cases is selected."""

from __future__ import annotations

import pytest

from pytest_rageval.analysis.decisions.selected_part import PartPolicy, SelectedPart, is_not_decided, not_decided
from pytest_rageval.analysis.gates import parse_gate

GATE = parse_gate("accuracy >= 0.9")
PART = SelectedPart(1, 60)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (PART, "not decided: 1 of 60 cases selected"),
        (SelectedPart(1, 1, 1), "not decided: 1 of 1 case selected, 1 file not collected"),
        (SelectedPart(3, 60, 2), "not decided: 3 of 60 cases selected, 2 files not collected"),
    ],
)
def test_the_reason_counts_the_selected_cases(part: SelectedPart, text: str) -> None:
    result = not_decided(GATE, "test_a", part, "skip")
    assert result is not None
    assert (result.status, result.reason, result.bare_reason) == ("skipped", text, text)
    assert is_not_decided(result.status, result.reason)


@pytest.mark.parametrize(("policy", "status"), [("skip", "skipped"), ("fail", "failed"), ("decide", None)])
def test_the_policy_sets_the_status(policy: PartPolicy, status: str | None) -> None:
    result = not_decided(GATE, "test_a", PART, policy)
    assert (None if result is None else result.status) == status
    assert is_not_decided("failed", "not decided: 1 of 60 cases selected") is False


def test_a_gate_over_all_cases_or_against_the_baseline_is_decided() -> None:
    assert not_decided(GATE, "test_a", None, "fail") is None
    assert not_decided(parse_gate("accuracy >= baseline"), "test_a", PART, "fail") is None
