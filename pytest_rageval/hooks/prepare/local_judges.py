"""Load the local judges of a session, and refuse those that cannot judge its cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.hooks.config.judge_panels import JUDGES
from pytest_rageval.judges.panel import LOCAL, Panel, is_local
from pytest_rageval.local_judges.judge_file import metric_digest
from pytest_rageval.local_judges.local_judge import LocalJudge, load_judge
from pytest_rageval.metrics.shared.proportion import wilson_interval

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.model.judging import Judge

__all__ = ["load_local_judges"]


def load_local_judges(collected: Collected, entries: Iterable[Entry]) -> None:
    """Load each local judge that judges a case, and choose the confidence of ``escalate=auto``.

    Args:
        collected: the session; receives the judges.
        entries: the selected cases.

    Raises:
        RagEvalError: a folder has no valid judge; a judge was trained for another metric or embedding model; or it was
            not trained on the language of a case.
    """
    for judge, languages in _judges(collected.panels, entries):
        panel = collected.panels[judge.name]
        for name in filter(is_local, panel.models):
            where = f"{JUDGES}: {judge.name}: {name}"
            folder = collected.options.ini_folder / name.removeprefix(LOCAL)
            local = load_judge(folder, where, lambda: collected.models.local_embedder)
            _check(local, judge, languages, where)
            collected.local_judges[name] = local
            collected.versions[name] = local.digest
            if panel.escalate == "auto":
                confidence = _min_confidence(local, collected.options.min_accuracy, where)
                collected.panels[judge.name] = replace(panel, escalate=confidence)


def _judges(panels: Mapping[str, Panel], entries: Iterable[Entry]) -> Iterator[tuple[Judge, dict[str, str]]]:
    """Yield each judge whose panel has a local judge, and language -> id of its first case in that language."""
    judges: dict[str, tuple[Judge, dict[str, str]]] = {}
    for entry in entries:
        for metric in entry.testbed.metrics.values():
            if metric.judge is not None and _has_local(panels.get(metric.judge.name)):
                _, languages = judges.setdefault(metric.judge.name, (metric.judge, {}))
                languages.setdefault(entry.case.instance.language, entry.case.id)
    yield from judges.values()


def _has_local(panel: Panel | None) -> bool:
    """Return whether a panel has a local judge."""
    return panel is not None and panel.remote_models != panel.models


def _check(local: LocalJudge, judge: Judge, languages: dict[str, str], where: str) -> None:
    """Raise `SettingError` if a local judge was trained for another metric, other labels or other languages."""
    trained = local.trained
    if trained.metric != judge.name:
        raise SettingError(f"{where}: the judge was trained for {trained.metric}; name one of {judge.name}")
    if trained.metric_digest != metric_digest(judge):
        raise SettingError(f"{where}: the labels of {judge.name} changed since the judge was trained; train it again")
    for language, case in languages.items():
        if language not in trained.languages:
            trained_on = ", ".join(trained.languages)
            problem = f"the case {case!r} is in {language}, and the judge was trained on {trained_on}"
            raise SettingError(f"{where}: {ascii_safe(problem)}; train it on {language}, too, or name a model")


def _min_confidence(local: LocalJudge, min_accuracy: float, where: str) -> float:
    """Return the smallest confidence at which cross-validation shows the minimum accuracy."""
    for each in local.trained.certainty:
        if each.n and wilson_interval(each.right, each.n)[0] >= min_accuracy:
            return each.confidence
    best = max((wilson_interval(each.right, each.n)[0] for each in local.trained.certainty if each.n), default=0.0)
    problem = f"escalate=auto wants an accuracy of {min_accuracy:g}, which no confidence shows (at most {best:.2f})"
    raise SettingError(f"{where}: {problem}; lower rag_judge_min_accuracy, write escalate=T, or label more answers")
