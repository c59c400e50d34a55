"""Load the local judges of a session, and refuse those that its cases cannot be judged by."""

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
    """Load each local judge that decides a case, and choose the confidence of ``escalate=auto``.

    Args:
        collected: the session; receives the judges.
        entries: the selected cases.

    Raises:
        RagEvalError: a folder holds no valid judge, or one of another metric or embedding model, or a case has a
            language that the judge was not trained on.
    """
    for judge, languages in _judges(collected.panels, entries):
        panel = collected.panels[judge.name]
        for name in filter(is_local, panel.models):
            where = f"{JUDGES}: {judge.name}: {name}"
            folder = collected.options.beside / name.removeprefix(LOCAL)
            local = load_judge(folder, where, lambda: collected.models.local_embedder)
            _check(local, judge, languages, where)
            collected.local_judges[name] = local
            collected.versions[name] = local.digest
            if panel.escalate == "auto":
                confidence = _least_confidence(local, collected.options.min_accuracy, where)
                collected.panels[judge.name] = replace(panel, escalate=confidence)


def _judges(panels: Mapping[str, Panel], entries: Iterable[Entry]) -> Iterator[tuple[Judge, dict[str, str]]]:
    """Yield each judge with a local one, and language -> the first case in it that the judge decides."""
    found: dict[str, tuple[Judge, dict[str, str]]] = {}
    for entry in entries:
        for metric in entry.testbed.metrics.values():
            if metric.judge is not None and _is_local(panels.get(metric.judge.name)):
                _, languages = found.setdefault(metric.judge.name, (metric.judge, {}))
                languages.setdefault(entry.case.instance.language, entry.case.id)
    yield from found.values()


def _is_local(panel: Panel | None) -> bool:
    return panel is not None and panel.remote_models != panel.models


def _check(local: LocalJudge, judge: Judge, languages: dict[str, str], where: str) -> None:
    trained = local.trained
    if trained.metric != judge.name:
        raise SettingError(f"{where}: the judge was trained for {trained.metric}; name one of {judge.name}")
    if trained.metric_digest != metric_digest(judge):
        raise SettingError(f"{where}: the labels of {judge.name} changed since the judge was trained; train it again")
    for language, case in languages.items():
        if language not in trained.languages:
            spoken = ", ".join(trained.languages)
            problem = f"the case {case!r} is in {language}, and the judge was trained on {spoken}"
            raise SettingError(f"{where}: {ascii_safe(problem)}; train it on {language}, too, or name a model")


def _least_confidence(local: LocalJudge, wanted: float, where: str) -> float:
    """Return the smallest confidence from which cross-validation shows the wanted accuracy."""
    for each in local.trained.certainty:
        if each.n and wilson_interval(each.right, each.n)[0] >= wanted:
            return each.confidence
    best = max((wilson_interval(each.right, each.n)[0] for each in local.trained.certainty if each.n), default=0.0)
    problem = f"escalate=auto wants an accuracy of {wanted:g}, which no confidence shows (at most {best:.2f})"
    raise SettingError(f"{where}: {problem}; lower rag_judge_min_accuracy, write escalate=T, or label more answers")
