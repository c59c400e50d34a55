"""The pytest plugin: its hooks and fixtures. Other modules are imported on first use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.hooks.config.options import add_options
from pytest_rageval.hooks.prepare.hooks import (
    pytest_collection_modifyitems,
    pytest_generate_tests,
    pytest_itemcollected,
    pytest_make_collect_report,
    pytest_pycollect_makeitem,
    pytest_report_collectionfinish,
)
from pytest_rageval.hooks.reporting.case_reports import (
    pytest_collection_finish,
    pytest_enter_pdb,
    pytest_report_teststatus,
    pytest_runtest_makereport,
)
from pytest_rageval.hooks.reporting.hooks import pytest_sessionfinish
from pytest_rageval.hooks.run.current_test import pytest_runtest_teardown
from pytest_rageval.hooks.run.fixtures import (
    pytest_fixture_setup,
    rag,
    rag_ask,
    rag_corpus,
    rag_embedder,
    rag_environments,
    rag_generator,
    rag_judge,
    rag_llm,
    rag_proxy,
    rag_retriever,
    rag_system,
)

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.suites import SuiteModule

__all__ = [
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_enter_pdb",
    "pytest_fixture_setup",
    "pytest_generate_tests",
    "pytest_itemcollected",
    "pytest_make_collect_report",
    "pytest_pycollect_makeitem",
    "pytest_report_collectionfinish",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
    "rag",
    "rag_ask",
    "rag_corpus",
    "rag_embedder",
    "rag_environments",
    "rag_generator",
    "rag_judge",
    "rag_llm",
    "rag_proxy",
    "rag_retriever",
    "rag_system",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini settings."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the plugin's own hooks."""
    from pytest_rageval import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run a dry run in one process, even with ``-n``."""
    if config.option.rag_dry_run:
        from pytest_rageval.hooks.run.dry_run import stay_in_one_process

        stay_in_one_process(config)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, the names that users registered, and this process's reporting plugins."""
    from pytest_rageval.hooks.setup import configure

    configure(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteModule | None:
    """Collect ``*.rag.toml`` suites."""
    if not file_path.name.endswith(".rag.toml"):
        return None
    from pytest_rageval.hooks.collect.suites import SuiteModule

    return SuiteModule.from_parent(parent, path=file_path)
