"""Resolve the arguments of ``rageval lint`` to datasets with their settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.testbeds.settings import RETRIEVED, parse_settings
from pytest_rageval.testbeds.suite_file import SUFFIX, read_suite

__all__ = ["Target", "targets_of"]


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset to check.

    Attributes:
        dataset: ``format:path``, relative to the current folder.
        settings: the settings, as in `Subject`.
    """

    dataset: str
    settings: Mapping[str, object] = field(default_factory=dict)


def targets_of(names: Sequence[str], settings: Mapping[str, object]) -> list[Target]:
    """Return the datasets of each argument: ``format:path``, a JSON Lines file, or a suite with its testbeds.

    Args:
        names: the arguments.
        settings: settings of the command line, which replace settings of a suite; None means not set.

    Raises:
        RagEvalError: a suite or its settings are invalid.
    """
    targets: list[Target] = []
    for name in names:
        if name.endswith(SUFFIX) and ":" not in name:
            targets += _testbeds(Path(name), settings)
        else:
            is_file = name.endswith(".jsonl") and ":" not in name
            targets.append(Target(f"jsonl:{os.path.normpath(name)}" if is_file else name, settings))
    return [target for at, target in enumerate(targets) if target not in targets[:at]]


def _testbeds(suite: Path, settings: Mapping[str, object]) -> Iterator[Target]:
    shown = shown_path(suite)
    for entry in read_suite(suite, shown):
        where = f"{shown}:{entry.line}"
        parsed_settings = parse_settings(entry.settings, where)
        values = {"ability": "", **entry.settings}
        if values.get("passages") == RETRIEVED:
            values["passages"] = None
        merged = {name: values.get(name) if value is None else value for name, value in settings.items()}
        yield Target(_resolved(suite, parsed_settings.dataset, where), merged)


def _resolved(suite: Path, dataset: str, where: str) -> str:
    """Return a dataset with its path relative to the current folder; look in the suite's folder first, like pytest."""
    name, colon, text = dataset.partition(":")
    if not colon or not text.strip():
        return dataset  # the linter reports it
    places = (suite.parent / text, Path(text))
    path = next(filter(os.path.exists, places), None)  # unlike Path.exists, it never raises
    if path is None:
        problem = (
            f"dataset {short_repr(dataset)}: no such file, neither in the folder of the suite nor in the current folder"
        )
        raise DataError(where, problem, code="RAG105")
    return f"{name}:{os.path.normpath(path)}"
