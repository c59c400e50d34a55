"""Encode comparisons with an earlier run, for results.json and `rageval compare --json`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.regression import Regression
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.report.files.baseline_file import snapshot_to_plain
from pytest_rageval.report.run.cell_json import encode_interval, encode_units
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["comparison_to_plain", "encode_comparison", "encode_regression"]


def encode_comparison(run: Run, choice: MatrixChoice) -> list[tuple[str, Any]]:
    """Return the keys ``baseline`` and ``comparison`` of results.json with their values; empty without a baseline."""
    baseline = run.narrowed_baseline()
    if baseline is None:
        return []
    baseline = replace(baseline, passages=None)  # pytest compares the digests when it collects
    comparison = run.comparison(choice)
    encoded = [] if comparison is None else [("comparison", comparison_to_plain(comparison))]
    return [("baseline", snapshot_to_plain(baseline) | {"path": baseline.path}), *encoded]


def comparison_to_plain(comparison: Comparison) -> dict[str, Any]:
    """Encode a comparison; the schema of results.json describes its shape."""
    pairing = comparison.pairing
    return {
        "baseline": _run_head(comparison.before) | {"same_fingerprint": comparison.same_fingerprint},
        "cases": {
            "compared": len(pairing.pairs),
            "new": [case.name for case in pairing.new],
            "gone": [case.name for case in pairing.removed],
            "changed": [pair.after.name for pair in pairing.changed],
            "renamed": [[pair.before.name, pair.after.name] for pair in pairing.renamed],
            "errors": [pair.after.name for pair in pairing.failed],
            "answers_changed": comparison.answers_changed,
            **({"unscored": unscored} if (unscored := comparison.unscored) else {}),
        },
        "comparisons": [_encode_compared(each) for each in comparison.results],
    }


def encode_regression(regression: Regression | None) -> dict[str, Any]:
    """Encode how a gate or one of its cells compares with the baseline; nulls for a gate without a baseline."""
    if regression is None:
        return {"baseline": None, "p_value": None, "verdict": None}
    paired = regression.test
    return {
        "baseline": paired.baseline,
        "p_value": regression.p_value,
        "verdict": regression.verdict,
        "delta": paired.delta,
        "delta_ci95": encode_interval(paired.ci95),
        "n_pairs": paired.n_pairs,
        "least_drop": paired.least_drop,
    }


def _run_head(snapshot: Snapshot) -> dict[str, Any]:
    return {"path": snapshot.path, "run": snapshot.run, "started": snapshot.started}


def _encode_compared(each: MetricComparison) -> dict[str, Any]:
    paired = each.test
    return {
        "testbed": each.testbed,
        "metric": each.metric,
        "system": each.system,
        "slice": dict(each.slice),
        "n": each.n,
        "n_pairs": paired.n_pairs,
        **encode_units(paired.n_units if paired.facet else None, paired.facet),
        "baseline": paired.baseline,
        "value": paired.value,
        "delta": paired.delta,
        "ci95": encode_interval(paired.ci95),
        "p_value": paired.p_value,
        "p_holm": each.p_holm,
        "least_drop": paired.least_drop,
        "broken": [pair.after.name for pair in each.broken],
        "fixed": [pair.after.name for pair in each.fixed],
        "causes": dict(each.causes),
        "by_answer": each.by_answer,
    }
