"""Register markers, the names of users and the plugins when pytest is configured."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import MissingDependencyError, RagEvalError, SettingError, message_with_code
from pytest_rageval.hooks.collect import markers
from pytest_rageval.hooks.collect.keys import CATALOG, RUN_FOLDER
from pytest_rageval.hooks.collect.usage_errors import Refusals, located_message
from pytest_rageval.hooks.config.process import is_worker, runs_tests
from pytest_rageval.hooks.reporting.account_printer import AccountPrinter
from pytest_rageval.hooks.reporting.hooks import Reporting

__all__ = ["build_catalog", "configure"]


def configure(config: pytest.Config) -> None:
    """Register the markers, the names that users register, and the reporting plugins of this process."""
    markers.register(config)
    config.stash[CATALOG] = build_catalog(config)
    if any("[gate: " in argument for argument in config.args):
        from pytest_rageval.hooks.collect.gate_ids import rewrite_arguments

        rewrite_arguments(config)
    if is_worker(config):
        from pytest_rageval.hooks.reporting.worker import WorkerReporting

        config.pluginmanager.register(WorkerReporting(), "rageval-worker")
        return
    if config.option.rag_mlflow and find_spec("mlflow") is None:
        raise pytest.UsageError(message_with_code(MissingDependencyError("--rag-mlflow", "mlflow")))
    if config.option.rag_budget_partial and config.option.rag_budget_usd is None:
        problem = SettingError("--rag-budget-partial has no budget to bound; give --rag-budget-usd too", code="RAG103")
        raise pytest.UsageError(message_with_code(problem))
    config.stash[RUN_FOLDER] = lambda: _run_folder(config)
    config.pluginmanager.register(Refusals(), "rageval-refusals")
    config.pluginmanager.register(Reporting(config), "rageval-reporting")
    config.pluginmanager.register(AccountPrinter(), "rageval-account")
    _register_optional_plugins(config)
    if config.option.rag_gate:
        _check_gates(config.option.rag_gate)
    if config.option.rag_resume is not None:
        _find_resumed_run(config)


def _register_optional_plugins(config: pytest.Config) -> None:
    """Register the plugins that an option or the environment requests."""
    if getattr(config.option, "dist", "no") not in ("no", "each"):
        from pytest_rageval.hooks.reporting.crashes import Crashes

        config.pluginmanager.register(Crashes(config), "rageval-crashes")
    if getattr(config.option, "xmlpath", None):
        from pytest_rageval.hooks.reporting.junit import JUnit

        config.pluginmanager.register(JUnit(config), "rageval-junit")
    if os.environ.get("GITHUB_ACTIONS") == "true" and not is_worker(config):
        from pytest_rageval.hooks.reporting.annotations import Annotations

        config.pluginmanager.register(Annotations(config), "rageval-annotations")
    if config.option.rag_dry_run:
        from pytest_rageval.hooks.run.dry_run import DryRun

        config.pluginmanager.register(DryRun(), "rageval-dry-run")
    if config.option.rag_shrink is not None and runs_tests(config) and not config.option.collectonly:
        from pytest_rageval.hooks.reporting.shrinking import Shrinking, refuse_workers

        refuse_workers(config)
        config.pluginmanager.register(Shrinking(config.option.rag_shrink), "rageval-shrinking")


def _run_folder(config: pytest.Config) -> Path | None:
    from pytest_rageval.hooks.reporting.keys import recorder_of

    return recorder_of(config).folder


def build_catalog(config: pytest.Config) -> Catalog:
    """Return the catalog of all build_catalog names, built-in and the user's.

    Raises:
        pytest.UsageError: a user's hook ``pytest_rageval_register`` fails.
    """
    catalog = Catalog()
    try:
        config.hook.pytest_rageval_register.call_historic(kwargs={"registry": catalog})
    except RagEvalError as error:
        raise pytest.UsageError(located_message(error, config.rootpath)) from None
    except Exception as error:
        problem = f"{located_message(error, config.rootpath)} ({type(error).__name__}, in pytest_rageval_register)"
        raise pytest.UsageError(message_with_code(SettingError(problem, code="RAG115"))) from None
    return catalog


def _check_gates(gates: list[str]) -> None:
    """Reject a malformed ``--rag-gate`` at once, even if no case is collected."""
    from pytest_rageval.analysis.gates import parse_gate

    try:
        for gate in gates:
            parse_gate(gate, "--rag-gate")
    except RagEvalError as error:
        raise pytest.UsageError(message_with_code(error)) from None


def _find_resumed_run(config: pytest.Config) -> None:
    from pytest_rageval.hooks.prepare.resume import find_run

    try:
        find_run(config)
    except RagEvalError as error:
        raise pytest.UsageError(message_with_code(error)) from None
