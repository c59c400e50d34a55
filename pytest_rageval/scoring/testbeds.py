"""The testbeds to score: of a file of cases with options, or of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.datasets import BUILTIN
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.scoring.job import ScoredTestbed
from pytest_rageval.testbeds.ability import ability_named
from pytest_rageval.testbeds.settings import Settings, parse_settings

__all__ = ["of_cases", "path_of"]

WHERE = "rageval score"


def of_cases(
    dataset: str, metrics: Sequence[str], gates: Sequence[str], cluster: str | None = None
) -> tuple[ScoredTestbed, Path]:
    """Return the testbed of one file of cases, ``format:path``, and the path.

    Raises:
        SettingError: the format is unknown or cannot be read as a stream, or a setting is invalid.
    """
    values: Mapping[str, object] = {"dataset": dataset, "gates": list(gates), "cluster": cluster}
    settings = parse_settings({**values, **({"metrics": list(metrics)} if metrics else {})}, WHERE)
    path = path_of(settings.dataset, WHERE)
    return _testbed(shown_path(path), _stem(path), settings, 0), path


def path_of(dataset: str, where: str) -> Path:
    """Return the path of a dataset ``format:path``."""
    form, _, path = dataset.partition(":")
    if form not in BUILTIN:
        raise UnknownNameError("dataset format", form, BUILTIN, where)
    if form != "jsonl":
        problem = f"rageval score reads jsonl, and {short_repr(dataset)} is {form}"
        raise SettingError(f"{where}: {problem}; run pytest --rag-answers, or convert it with rageval import")
    return Path(path)


def _testbed(nodeid: str, name: str, settings: Settings, file: int) -> ScoredTestbed:
    """Return a testbed, which also computes the metrics of its gates."""
    own = settings.metrics or ability_named(settings.ability).metrics
    bounded = (parse_gate(text, settings.origin).metric for text in settings.gates)
    names = tuple(dict.fromkeys([*own, *(metric for metric in bounded if metric not in PSEUDO_METRICS)]))
    testbed = ScoredTestbed(nodeid, name, settings, names, _stem(path_of(settings.dataset, settings.origin)), file,
                            settings.cluster or DIALOGUE)  # fmt: skip
    _ = testbed.computed  # raises for a metric that cannot be used
    return testbed


def _stem(path: Path) -> str:
    return path.stem.removesuffix(".rag")
