"""The plugin's own hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_rageval.engine.catalog import Catalog

__all__ = ["pytest_rageval_finish", "pytest_rageval_outcome", "pytest_rageval_register"]


@pytest.hookspec(historic=True)
def pytest_rageval_register(registry: Catalog) -> None:
    """Name datasets, corpora, metrics, judges, retrievers and systems of your own.

    Called once in every process, before anything is collected; a conftest that is loaded later is
    called as soon as it is. What is registered can be used in markers, suites, ini and options::

        def pytest_rageval_register(registry):
            registry.metrics.register("brevity", Metric("brevity", compute))
            registry.judges.register("polite", PromptedJudge("polite", ...))
            registry.systems.register("desk", lambda parts: Desk(parts.retriever).answer)

    Args:
        registry: the session's registries: ``corpora datasets metrics judges retrievers systems``.
    """


@pytest.hookspec
def pytest_rageval_outcome(outcome: Mapping[str, Any]) -> None:
    """See the end of a case, in the reporting process, as it happens.

    With pytest-rerunfailures a case may end more than once; the last end counts.

    Args:
        outcome: the outcome as it stands in results.json.
    """


@pytest.hookspec
def pytest_rageval_finish(results: Mapping[str, Any]) -> None:
    """See the results of a session, in the reporting process, before they are written.

    Args:
        results: the whole of results.json.
    """
