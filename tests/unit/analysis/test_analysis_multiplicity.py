"""Holm's correction of p-values."""

from __future__ import annotations

import pytest

from pytest_rageval.analysis.baseline.multiplicity import holm


def test_holm_multiplies_the_smallest_p_value_by_their_number_and_keeps_the_order() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.4, 1.0]) == [1.0, 1.0, 1.0]


def test_missing_p_values_do_not_count() -> None:
    assert holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert holm([None]) == [None]
    assert holm([]) == []
