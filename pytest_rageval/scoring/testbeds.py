"""Read the testbeds to score from a suite, or from a file of cases and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.datasets import BUILTIN
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.scoring.job import ScoredTestbed
from pytest_rageval.testbeds.ability import ability_named
from pytest_rageval.testbeds.settings import Settings, parse_settings
from pytest_rageval.testbeds.suite_file import read_suite

__all__ = ["SUITE", "cases_testbed", "suite_testbeds"]

SUITE = ".rag.toml"
"""Suffix of suite files."""

WHERE = "rageval score"

UNSUPPORTED = ("limit", "sample", "qrels", "relations")
"""Settings that `rageval score` does not support."""


def cases_testbed(
    dataset: str, metrics: Sequence[str], gates: Sequence[str], cluster: str | None = None
) -> tuple[tuple[ScoredTestbed, ...], tuple[Path, ...]]:
    """Return the testbed of one file of cases, ``format:path``, and the path.

    Raises:
        SettingError: the format is unknown, or a setting is invalid.
    """
    values: Mapping[str, object] = {"dataset": dataset, "gates": list(gates), "cluster": cluster}
    settings = parse_settings({**values, **({"metrics": list(metrics)} if metrics else {})}, WHERE)
    path = _path(settings, ())
    return (_testbed(path.name, _stem(path), settings, path, 0),), (path,)


def suite_testbeds(suite: Path) -> tuple[tuple[ScoredTestbed, ...], tuple[Path, ...]]:
    """Return the testbeds of a suite, and the files of their cases.

    Raises:
        DataError, SettingError: the suite is invalid, or has a setting that needs a session.
    """
    shown = shown_path(suite)
    files: dict[tuple[str, Path], int] = {}
    testbeds = []
    for entry in read_suite(suite, shown):
        settings = parse_settings(entry.settings, f"{shown}:{entry.line}")
        _refuse(settings)
        path = _path(settings, (suite.parent,))
        number = files.setdefault((settings.dataset.partition(":")[0], path), len(files))
        testbeds.append(_testbed(f"{shown}::{entry.name}", entry.name, settings, path, number))
    return tuple(testbeds), tuple(path for _, path in files)


def _refuse(settings: Settings) -> None:
    """Raise for settings that need a model, the order of the data, or all cases at once."""
    unsupported = [name for name in UNSUPPORTED if name in settings.explicit and getattr(settings, name)]
    if settings.history == "own":
        unsupported.append("history")
    if unsupported:
        problem = f"rageval score does not support {', '.join(unsupported)}"
        raise SettingError(f"{settings.origin}: {problem}; leave it out, or run pytest --rag-answers")


def _path(settings: Settings, folders: Sequence[Path]) -> Path:
    """Return the path of a dataset: in one of the folders if it exists there, else in the current folder."""
    form, _, text = settings.dataset.partition(":")
    if form not in BUILTIN:
        raise UnknownNameError("dataset format", form, BUILTIN, settings.origin)
    return next((path for folder in folders if (path := folder / text).exists()), Path(text))


def _testbed(nodeid: str, name: str, settings: Settings, path: Path, file: int) -> ScoredTestbed:
    """Return a testbed, which also computes the metrics of its gates."""
    loader = Catalog().datasets.get(settings.dataset.partition(":")[0], settings.origin)
    defaults = getattr(loader, "metrics", ()) if settings.ability is None else ()
    metrics = settings.metrics or defaults or ability_named(settings.ability).metrics
    gate_metrics = (parse_gate(text, settings.origin).metric for text in settings.gates)
    names = tuple(dict.fromkeys([*metrics, *(name for name in gate_metrics if name not in PSEUDO_METRICS)]))
    testbed = ScoredTestbed(nodeid, name, settings, names, _stem(path), file, settings.cluster or DIALOGUE)
    _ = testbed.computed  # raises for a metric that cannot be used
    return testbed


def _stem(path: Path) -> str:
    return path.stem.removesuffix(".rag")
