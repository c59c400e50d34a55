"""Create the tests of a page without a test file: one for each record, or one for typed questions."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from pytest_rageval.hooks.collect.markers import rag_case
from pytest_rageval.hooks.collect.suites import SuiteModule

__all__ = ["StandIn", "stand_in_items"]

NAME = "play.rag.toml"
"""The name of the module in the folder of the tests; there is no such file."""


class StandIn(SuiteModule):
    """A suite without a file, in the folder whose conftests apply.

    Attributes:
        dataset: the dataset whose records become tests; None for a single test for typed questions.
    """

    dataset: str | None = None

    def _getobj(self) -> ModuleType:
        module = ModuleType(self.path.stem)
        if self.dataset is None:
            module.ask = _ask  # type: ignore[attr-defined]
        else:
            copied = FunctionType(_play.__code__, {}, "play")
            module.play = rag_case(dataset=self.dataset)(copied)  # type: ignore[attr-defined]
        return module


def _ask(rag_ask: object) -> None:
    """Use the fixtures that a typed question needs."""


def _play(rag: object) -> None:
    """Use the fixtures that a case needs."""


def stand_in_items(session: pytest.Session, dataset: str | None) -> list[pytest.Item]:
    """Return the tests of a `StandIn` in the folder of the project's tests, whose conftests then apply to them."""
    folder = _folder(session.config)
    module = StandIn.from_parent(_directory(session, folder), path=folder / NAME)
    module.dataset = dataset
    return list(session.genitems(module))


def _folder(config: pytest.Config) -> Path:
    """Return the first folder that pytest would collect."""
    first = (config.invocation_params.dir / (config.args[0] if config.args else "")).resolve()
    folder = first if first.is_dir() else first.parent
    return folder if folder.is_relative_to(config.rootpath) else config.rootpath


def _directory(session: pytest.Session, folder: Path) -> pytest.Collector:
    """Return pytest's node of a folder, below the nodes of its parent folders.

    Each folder is collected without its files, which makes pytest apply the fixtures of its conftest.
    """
    node: pytest.Collector = session
    rootdir = session.config.rootpath
    for path in reversed([folder, *folder.parents]):
        if path.is_relative_to(rootdir):
            inner = pytest.Dir.from_parent(node, path=path)
            session.config.hook.pytest_make_collect_report(collector=inner)
            node = node if path == rootdir else inner
    return node
