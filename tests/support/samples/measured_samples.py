"""Measured cases and runs, for the tests that compare runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo

TESTBED = "test_a.py::test_a"
METRICS = {
    "accuracy": MetricInfo(binary=True),
    "f1": MetricInfo(),
    "lies": MetricInfo(higher_is_better=False),
    "RR": MetricInfo(of="retrieval", downstream=False),
}


def measured(
    case: str,
    accuracy: float | None = None,
    *,
    testbed: str = TESTBED,
    system: str = "mine",
    data: str | None = None,
    said: Sequence[str] = (),
    evidence: float | None = None,
    scores: Mapping[str, float] | None = None,
    failed: bool = False,
    **facets: str,
) -> Measured:
    """Return a case with an accuracy or other scores; its content follows from its id unless ``data`` is set."""
    values = dict(scores or {}) | ({} if accuracy is None else {"accuracy": accuracy})
    content = f"data of {case}" if data is None else data
    return Measured(testbed, case, system, facets, content, tuple(said), evidence, values, failed)


def snapshot(cases: Sequence[Measured], *, run: str = "r1", fingerprint: str = "sha256:0", path: str = "") -> Snapshot:
    """Return a run of these cases; every testbed has the metrics of its cases, sorted."""
    metrics: dict[str, set[str]] = {}
    for case in cases:
        metrics.setdefault(case.testbed, set()).update(case.scores)
    return Snapshot(
        run=run,
        started="2026-01-02T03:04:05+00:00",
        fingerprint=fingerprint,
        versions={"python": "3.11"},
        metrics=METRICS,
        testbeds={
            nodeid: MeasuredTestbed(nodeid.rpartition("::")[2], tuple(sorted(names)) or ("accuracy",))
            for nodeid, names in metrics.items()
        },
        cases=tuple(sorted(cases, key=lambda case: case.key)),
        path=path,
    )
