"""The judges of a run's metrics, as the project knows them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.commands.runs import StoredRun
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.judging import Judge

__all__ = ["own_judges"]


def own_judges(stored: StoredRun, metrics: Sequence[str]) -> dict[str, Judge]:
    """Return metric -> its judge, of the metrics of a run that bear the name of a judge that asks a model.

    They are built in or registered by a conftest; what the project does not know is left out. Where only one metric is
    looked at, its judge is also that of "", of labels that name no metric.

    Args:
        stored: the run.
        metrics: which of its metrics are looked at; none are all.

    Raises:
        RagEvalError: a judge is not built in, and pytest cannot start here.
    """
    named = [name for name, info in stored.run.plan.metrics.items() if info.judge == name]
    known = Catalog().metrics
    if not all(name in known for name in named):
        from pytest_rageval.hooks.project import project_catalog

        known = project_catalog().metrics
    found = {name: known.get(name).judge for name in named if name in known}
    judges = {name: judge for name, judge in found.items() if judge is not None}
    if len(metrics) == 1 and metrics[0] in judges:
        judges[""] = judges[metrics[0]]
    return judges
