"""Find a metric's judge and the embedding model of a project, for `rageval judge`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.config.local_embedder import local_embedder
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.project import in_project
from pytest_rageval.local_judges.local_judge import LocalJudge, load_judge
from pytest_rageval.model.judging import Judge
from pytest_rageval.retrieval.local_embedder import LocalEmbedder

__all__ = ["JudgedMetric", "judged_metric", "loaded_judge"]


@dataclass(frozen=True, slots=True)
class JudgedMetric:
    """A metric of a project that a judge decides.

    Attributes:
        judge: the judge.
        embedder: the ini's embedding model if it runs on this machine, else None.
        provider: the ini's embedding model if a provider runs it, else "".
    """

    judge: Judge
    embedder: LocalEmbedder | None
    provider: str


def judged_metric(name: str) -> JudgedMetric:
    """Return a metric's judge, built-in or registered by the project.

    Raises:
        RagEvalError: the metric is unknown, no judge decides it, or pytest cannot start here.
    """

    def find(config: pytest.Config) -> JudgedMetric:
        judge = config.stash[CATALOG].metrics.get(name, "--metric").judge_asked
        if judge is None:
            raise SettingError(f"--metric {name}: a rule computes it, not a judge; name a judged metric")
        options = Options(config)
        embedder = local_embedder(options.embedder, options.ini_folder)
        return JudgedMetric(judge, embedder, "" if embedder is not None else options.embedder.name or "")

    return in_project(find)


def loaded_judge(folder: Path) -> LocalJudge:
    """Return the local judge in a folder, with the embedding model of the ini if it needs one.

    Raises:
        RagEvalError: the folder contains no valid judge, the ini names another embedding model than the judge needs, or
            pytest cannot start here.
    """

    def load(config: pytest.Config) -> LocalJudge:
        options = Options(config)
        return load_judge(folder, str(folder), lambda: local_embedder(options.embedder, options.ini_folder))

    return in_project(load)
