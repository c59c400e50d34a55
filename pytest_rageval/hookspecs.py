"""The plugin's own hooks, which a conftest or another plugin may implement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_rageval.engine.catalog import Catalog

__all__ = ["pytest_rageval_finish", "pytest_rageval_outcome", "pytest_rageval_register"]


@pytest.hookspec(historic=True)
def pytest_rageval_register(registry: Catalog) -> None:
    """Register your own datasets, corpora, metrics, judges, retrievers and systems.

    Called once in every process, before collection; in a conftest that is loaded later, when it is loaded.
    Use the registered names in markers, suites, ini and options::

        def pytest_rageval_register(registry):
            registry.metrics.register("brevity", Metric("brevity", compute))
            registry.judges.register("polite", PromptedJudge("polite", ...))
            registry.systems.register("desk", lambda parts: Desk(parts.retriever).answer)

    Args:
        registry: the session's registries: ``corpora datasets metrics judges retrievers systems``.
    """


@pytest.hookspec
def pytest_rageval_outcome(outcome: Mapping[str, Any]) -> None:
    """Receive the outcome of a case when it ends, in the reporting process.

    With pytest-rerunfailures a case may end more than once; the last outcome counts.

    Args:
        outcome: the outcome, as in results.json.
    """


@pytest.hookspec
def pytest_rageval_finish(results: Mapping[str, Any]) -> None:
    """Receive the results of a session before they are written, in the reporting process.

    Args:
        results: the content of results.json.
    """
