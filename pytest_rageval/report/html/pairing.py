"""The cases of a run beside those of the baseline that it was compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Pairing", "case_key", "pairing_of", "renamed_in"]

_OF_A_RUN = ("repeat", "knew", "system")
"""Facets that a case of the baseline does not have."""

Key = tuple[str, str, str, frozenset[tuple[str, str]]]


class Pairing:
    """The baseline's cases by what they are, for outcomes to be looked up among them.

    Args:
        cases: as the baseline file has them.
        renamed: id -> the id that the baseline has for it.
        changed: node ids of outcomes that were asked something else than in the baseline.
    """

    def __init__(self, cases: Iterable[Mapping[str, Any]], renamed: Mapping[str, str], changed: Iterable[str]) -> None:
        self._scores: dict[Key, Mapping[str, float | None]] = {
            case_key(case["testbed"], case["case"], case): case["scores"] for case in cases
        }
        self._renamed = renamed
        self._changed = frozenset(changed)

    def scores(self, outcome: Mapping[str, Any]) -> Mapping[str, float | None]:
        """Return what the outcome's case scored in the baseline, by metric; nothing where it is not comparable."""
        if outcome["nodeid"] in self._changed:
            return {}
        name = self._renamed.get(outcome["case_id"], outcome["case_id"])
        return self._scores.get(case_key(outcome["testbed"], name, outcome), {})


def pairing_of(results: Mapping[str, Any]) -> Pairing | None:
    """Return the baseline's cases that results tell of; None where they were compared with none."""
    baseline, comparison = results.get("baseline"), results.get("comparison")
    if not baseline or not comparison:
        return None
    return Pairing(baseline["cases"], renamed_in(results), comparison["cases"]["changed"])


def renamed_in(results: Mapping[str, Any]) -> dict[str, str]:
    """Return the id of each case that was renamed -> the id that the baseline has for it."""
    return {new: old for old, new in results["comparison"]["cases"]["renamed"]}


def case_key(testbed: str, name: str, case: Mapping[str, Any]) -> Key:
    """Return what a case or outcome is the same by in two runs: repeats of a case are one."""
    facets = frozenset(item for item in case["facets"].items() if item[0] not in _OF_A_RUN)
    return testbed, name, case["system"], facets
