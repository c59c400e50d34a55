"""The cases of a run beside those of the baseline that it was compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.analysis.failure_cause import cause_text
from pytest_rageval.analysis.measured import Measured, facets_of_case, mean_share
from pytest_rageval.analysis.pairing import pair_up
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.run.json_text import from_json

__all__ = ["BaselineCases", "CaseKey", "case_key", "paired_of"]

CaseKey = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class BaselineCases:
    """The baseline's cases by the node ids of outcomes.

    Attributes:
        scored: those that both runs scored, and that are still the same.
        known: these, and those that one of the runs did not score.
        causes: of those that both scored, what broke them if their testbed's primary metric is worse.
    """

    scored: Mapping[str, Measured]
    known: Mapping[str, Measured]
    causes: Mapping[str, str]


def paired_of(results: Mapping[str, Any]) -> BaselineCases | None:
    """Return the baseline's cases beside those of results; None where these were compared with none."""
    if "baseline" not in results or "comparison" not in results:
        return None
    before = snapshot_of(results["baseline"]).cases
    found = pair_up(before, tuple(_measured(map(from_json, results["outcomes"]))))
    scored = {node: pair.before for pair in found.pairs for node in pair.after.nodes}
    known = scored | {node: pair.before for pair in found.failed for node in pair.after.nodes}
    of = _of_primary(results)
    causes = {node: cause_text(pair, of[pair.after.testbed]) for pair in found.pairs for node in pair.after.nodes}
    return BaselineCases(scored, known, causes)


def _of_primary(results: Mapping[str, Any]) -> dict[str, str]:
    """Return what the primary metric of each testbed measures, as `MetricInfo.of`."""
    metrics = results["plan"]["metrics"]
    return {
        node: metrics.get(testbed["metrics"][0], {}).get("of", "answer")
        for node, testbed in results["testbeds"].items()
    }


def case_key(outcome: Mapping[str, Any]) -> CaseKey:
    """Return what tells an outcome's case from others, as `Measured.key` does."""
    facets = tuple(sorted(facets_of_case(outcome["facets"]).items()))
    return outcome["testbed"], outcome["case_id"], outcome["system"], facets


def _measured(outcomes: Iterable[Mapping[str, Any]]) -> Iterator[Measured]:
    """Yield the cases of outcomes, with no more of them than pairs and causes are found by."""
    kept = ("nodeid", "data", "status", "evidence", "answer_seen")
    runs: dict[CaseKey, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        if outcome["status"] != "skipped":
            runs.setdefault(case_key(outcome), []).append({name: outcome.get(name) for name in kept})
    for (testbed, case, system, facets), group in runs.items():
        yield Measured(
            testbed,
            case,
            system,
            dict(facets),
            data=next((run["data"] for run in group if run["data"]), ""),
            evidence=mean_share(run["evidence"] for run in group),
            failed=all(run["status"] != "scored" for run in group),
            nodes=tuple(run["nodeid"] for run in group),
            answer_seen=mean_share(run["answer_seen"] for run in group),
        )
