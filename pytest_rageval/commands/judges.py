"""Find the judges of a run's metrics in the project."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.judging import Judge
from pytest_rageval.report.files.read_results import StoredRun

__all__ = ["judges_of_run"]


def judges_of_run(stored: StoredRun, metrics: Sequence[str]) -> dict[str, Judge]:
    """Return metric -> judge, for the metrics of a run that are values of a judge of the same name.

    Judges are built in or registered in a conftest; unknown ones are left out. If one metric is selected, its judge
    also has the key "", for labels that name no metric.

    Args:
        stored: the run.
        metrics: the selected metrics; empty for all.

    Raises:
        RagEvalError: a judge is not built in, and pytest cannot start in this folder to load the conftest.
    """
    names = [name for name, info in stored.run.plan.metrics.items() if info.judge == name]
    registry = Catalog().metrics
    if not all(name in registry for name in names):
        from pytest_rageval.hooks.project import project_catalog

        registry = project_catalog().metrics
    candidates = {name: registry.get(name).judge for name in names if name in registry}
    judges = {name: judge for name, judge in candidates.items() if judge is not None}
    if len(metrics) == 1 and metrics[0] in judges:
        judges[""] = judges[metrics[0]]
    return judges
