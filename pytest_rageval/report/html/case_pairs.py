"""Pair the cases of a run with those of its baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.analysis.baseline.failure_cause import cause_text
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.snapshot import Measured, facets_of_case, mean_of_known
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.run.json_text import from_json

__all__ = ["BaselineCases", "CaseKey", "baseline_cases_of", "case_key"]

CaseKey = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class BaselineCases:
    """The baseline's cases, by node ids of this run's outcomes.

    Attributes:
        scored: unchanged cases that both runs scored.
        known: the scored cases, and unchanged cases that one of the runs did not score.
        causes: for each scored case, the cause to show if the primary metric of its testbed became worse.
    """

    scored: Mapping[str, Measured]
    known: Mapping[str, Measured]
    causes: Mapping[str, str]


def baseline_cases_of(results: Mapping[str, Any]) -> BaselineCases | None:
    """Pair a run's cases with those of its baseline; return None without a baseline."""
    if "baseline" not in results or "comparison" not in results:
        return None
    before = snapshot_of(results["baseline"]).cases
    pairing = pair_up(before, tuple(_cases_of(map(from_json, results["outcomes"]))))
    scored = {node: pair.before for pair in pairing.pairs for node in pair.after.nodes}
    known = scored | {node: pair.before for pair in pairing.failed for node in pair.after.nodes}
    kinds = _primary_kinds(results)
    causes = {node: cause_text(pair, kinds[pair.after.testbed]) for pair in pairing.pairs for node in pair.after.nodes}
    return BaselineCases(scored, known, causes)


def _primary_kinds(results: Mapping[str, Any]) -> dict[str, str]:
    """Return node id of a testbed -> what its primary metric measures, see `MetricInfo.of`."""
    metrics = results["plan"]["metrics"]
    return {
        node: metrics.get(testbed["metrics"][0], {}).get("of", "answer")
        for node, testbed in results["testbeds"].items()
    }


def case_key(outcome: Mapping[str, Any]) -> CaseKey:
    """Return the key that identifies an outcome's case, like `Measured.key`."""
    facets = tuple(sorted(facets_of_case(outcome["facets"]).items()))
    return outcome["testbed"], outcome["case_id"], outcome["system"], facets


def _cases_of(outcomes: Iterable[Mapping[str, Any]]) -> Iterator[Measured]:
    """Group outcomes to cases, with only the data that pairs and causes need."""
    fields = ("nodeid", "data", "status", "evidence", "answer_seen")
    repeats_by_case: dict[CaseKey, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        if outcome["status"] != "skipped":
            repeats_by_case.setdefault(case_key(outcome), []).append({name: outcome.get(name) for name in fields})
    for (testbed, case, system, facets), repeats in repeats_by_case.items():
        yield Measured(
            testbed,
            case,
            system,
            dict(facets),
            data=next((run["data"] for run in repeats if run["data"]), ""),
            evidence=mean_of_known(run["evidence"] for run in repeats),
            failed=all(run["status"] != "scored" for run in repeats),
            nodes=tuple(run["nodeid"] for run in repeats),
            answer_seen=mean_of_known(run["answer_seen"] for run in repeats),
        )
