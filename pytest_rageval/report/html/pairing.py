"""The cases of a run beside those of the baseline that it was compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pytest_rageval.analysis.attribution import Cause, cause_of
from pytest_rageval.analysis.measured import DIGITS, Measured, facets_of_case
from pytest_rageval.analysis.pairing import pair_up
from pytest_rageval.report.baseline_file import snapshot_of
from pytest_rageval.report.json_text import from_json

__all__ = ["BaselineCases", "CaseKey", "case_key", "paired_of"]

CaseKey = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class BaselineCases:
    """The baseline's cases by the node ids of outcomes.

    Attributes:
        scored: those that both runs scored, and that are still the same.
        known: these, and those that one of the runs did not score.
        causes: of those that both scored, what broke them if they broke.
    """

    scored: Mapping[str, Measured]
    known: Mapping[str, Measured]
    causes: Mapping[str, Cause]


def paired_of(results: Mapping[str, Any]) -> BaselineCases | None:
    """Return the baseline's cases beside those of results; None where these were compared with none."""
    if "baseline" not in results or "comparison" not in results:
        return None
    before = snapshot_of(results["baseline"]).cases
    found = pair_up(before, tuple(_measured(map(from_json, results["outcomes"]))))
    scored = {node: pair.before for pair in found.pairs for node in pair.after.nodes}
    known = scored | {node: pair.before for pair in found.failed for node in pair.after.nodes}
    causes = {node: cause_of(pair) for pair in found.pairs for node in pair.after.nodes}
    return BaselineCases(scored, known, causes)


def case_key(outcome: Mapping[str, Any]) -> CaseKey:
    """Return what tells an outcome's case from others, as `Measured.key` does."""
    facets = tuple(sorted(facets_of_case(outcome["facets"]).items()))
    return outcome["testbed"], outcome["case_id"], outcome["system"], facets


def _measured(outcomes: Iterable[Mapping[str, Any]]) -> Iterator[Measured]:
    """Yield the cases of outcomes, with no more of them than pairs and causes are found by."""
    runs: dict[CaseKey, list[tuple[str, str, bool, float | None]]] = {}
    for outcome in outcomes:
        if outcome["status"] != "skipped":
            told = outcome["nodeid"], outcome.get("data", ""), outcome["status"] == "scored", outcome.get("evidence")
            runs.setdefault(case_key(outcome), []).append(told)
    for (testbed, case, system, facets), group in runs.items():
        data = next((data for _, data, *_ in group if data), "")
        failed = not any(scored for *_, scored, _ in group)
        shares = [share for *_, share in group if share is not None]
        evidence = round(fmean(shares), DIGITS) if shares else None
        nodes = tuple(node for node, *_ in group)
        yield Measured(testbed, case, system, dict(facets), data, evidence=evidence, failed=failed, nodes=nodes)
