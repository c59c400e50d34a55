"""The labels and the kappa that each judge of a session must reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, found
from pytest_rageval.hooks.config.judge_labels import KAPPA, TrustHeld

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.model.judging import Judge

__all__ = ["trust_held"]


def trust_held(collected: Collected) -> TrustHeld:
    """Return what the session's judges are held to; a metric that the ini or a label names stands for its judge.

    Raises:
        RagEvalError: the file cannot be read, a label does not say which of several judges it is about, or what the
            ini names is no metric, or not one that a judge scores.
    """
    asked = collected.options.trust
    if asked.labels is None:
        return TrustHeld()
    from pytest_rageval.datasets.labels import read_labels

    judges = _judges(collected)
    of_metric = {name: judge for name, judge in judges.items() if judge is not None}
    by_name = {judge.name: judge for judge in of_metric.values()}
    least: dict[str, float] = {}
    for name, kappa in asked.least.items():
        judge = name if name in ("", *by_name) else _judge_of(name, collected)
        if judge in least:
            raise SettingError(f"{KAPPA} has two lines for the judge {found(judge)}; write one")
        least[judge] = kappa
    if not by_name:
        return TrustHeld(least=least)
    alone = {"": next(iter(by_name.values()))} if len(by_name) == 1 else {}
    judges_named = _judges_named(asked.labels, collected)
    labels = read_labels(asked.labels, judges={**judges_named, **of_metric, **by_name, **alone})
    unnamed = next((label for label in labels if not label.metric), None)
    if unnamed is not None and len(by_name) > 1:
        problem = f"the label names no metric, and {', '.join(sorted(by_name))} are judged; add the key metric"
        raise SettingError(f"{unnamed.where}: {problem}")
    known = {*of_metric, *by_name, ""}
    for label in labels:
        if label.metric not in known:
            collected.catalog.metrics.get(label.metric, f"{label.where}: metric")
    named = {name: judge.name for name, judge in of_metric.items()}
    return TrustHeld(tuple(replace(label, metric=named.get(label.metric, label.metric)) for label in labels), least)


def _judges(collected: Collected) -> dict[str, Judge | None]:
    """Return the judge whose model each metric of the session asks, or None."""
    metrics = {name: metric for testbed in collected.testbeds.values() for name, metric in testbed.metrics.items()}
    return {name: metric.judge_asked for name, metric in metrics.items()}


def _judges_named(labels: Path, collected: Collected) -> dict[str, Judge]:
    """Return the judge of each metric that a file of labels names, as a session may run only some of them."""
    from pytest_rageval.datasets.sheets import read_sheet

    metrics = collected.catalog.metrics
    names = {str(record.get("metric") or "").strip() for _, record in read_sheet(labels)}
    judges = {name: metrics.get(name).judge_asked for name in names if name in metrics}
    return {name: judge for name, judge in judges.items() if judge is not None}


def _judge_of(name: str, collected: Collected) -> str:
    judge = collected.catalog.metrics.get(name, KAPPA).judge_asked
    if judge is None:
        raise SettingError(f"{KAPPA} names {found(name)}, which no judge scores; name a judged metric")
    return judge.name
