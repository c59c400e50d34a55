"""Compute the page's leaderboards: systems by metric, with links to the cases won and lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.systems.contrasts import Best, Contrast
from pytest_rageval.analysis.systems.matching import ALL
from pytest_rageval.analysis.systems.ranks import ordinal
from pytest_rageval.report.html.links import view_query
from pytest_rageval.report.sections.best_system import BEST_SYSTEM
from pytest_rageval.report.sections.systems import SYSTEMS, SystemRow
from pytest_rageval.report.text.lines import interval

__all__ = ["leaderboards_of"]


def leaderboards_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a leaderboard for each primary metric of several systems, the one with the most cases first."""
    bests = {row.metric: row.best for row in BEST_SYSTEM.read_rows(results) if row.best.scope == ALL}
    by_metric: dict[str, list[SystemRow]] = {}
    for row in SYSTEMS.read_rows(results):
        by_metric.setdefault(row.metric, []).append(row)
    metrics = results["plan"]["metrics"]
    boards = [
        {
            "metric": metric,
            "best": best.system,
            "lower": not metrics.get(metric, {}).get("higher_is_better", True),
            "rows": list(_rows(rows, best)),
            "n": sum(row.n for row in rows),
        }
        for metric, rows in by_metric.items()
        if (best := bests.get(metric)) is not None
    ]
    return sorted(boards, key=lambda board: -board["n"])


def _rows(rows: Sequence[SystemRow], best: Best) -> Iterator[dict[str, Any]]:
    others = {each.other: each for each in best.others}
    for row in rows:
        yield {
            "system": row.system,
            "rank": ordinal(row.rank),
            "mean": "" if row.mean is None else f"{row.mean:.2f}",
            "interval": interval(row.ci95),
            "n": row.n,
            "to": f"cases&{_query(row, {'state': 'asked'})}",
            **_compare_with_best(row, others.get(row.system), best.system),
        }


def _compare_with_best(row: SystemRow, contrast: Contrast | None, best: str) -> dict[str, Any]:
    """Return the difference from the best system, and how often the system won, tied and lost against it."""
    if contrast is None or contrast.difference is None:
        return {"difference": "", "between": "", "sure": False, "duels": []}
    between = None if contrast.ci95 is None else (-contrast.ci95[1], -contrast.ci95[0])
    tied = contrast.n - contrast.won - contrast.lost
    counts = (("won", "better", contrast.lost), ("tied", "alike", tied), ("lost", "worse", contrast.won))
    compared = {"minus": f"system:{best}", "sort": "change"}
    return {
        "difference": f"{-contrast.difference:+.2f}".replace("-", "−") if abs(contrast.difference) >= 0.005 else "0.00",
        "between": interval(between).replace("-", "−"),
        "sure": contrast.separable,
        "duels": [(word, n, f"cases&{_query(row, {**compared, 'state': state})}") for word, state, n in counts],
    }


def _query(row: SystemRow, view: Mapping[str, str]) -> str:
    return view_query({"of": "primary", "metric": row.metric, "system": row.system, **view})
