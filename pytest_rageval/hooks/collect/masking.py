"""Mask secrets in pytest's reports: tracebacks, reasons and captured output of rag cases."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.config.options import Options

__all__ = ["Masking"]

CREDENTIALS = ("auth_env", "headers_env")
"""Parameters of retrievers that name a variable with credentials."""


class Masking:
    """Plugin: mask secrets in the reports of rag cases.

    Args:
        config: pytest's; its ini settings ``rag_secrets`` and ``rag_retriever_params`` name environment variables to
            mask.
    """

    def __init__(self, config: pytest.Config) -> None:
        patterns = (*Options.secrets.read(config), *_credentials(config))
        if patterns:
            from pytest_rageval.llm.secrets import name_secrets

            config.add_cleanup(lambda: name_secrets(()))
            name_secrets(patterns)

    @pytest.hookimpl(wrapper=True, trylast=True)  # innermost wrapper: runs first after the yield
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mask the secrets in the report of a rag case."""
        report = yield
        if (report.sections or report.longrepr is not None) and ENTRY in item.stash:
            _mask_report(report)
        return report


def _credentials(config: pytest.Config) -> list[str]:
    """Return the variables that the retriever reads credentials from, even if a later check refuses the settings."""
    lines = [line.partition("=") for line in config.getini(Options.retriever_params.ini)]
    return [value.strip(' "') for name, _, value in lines if name.strip() in CREDENTIALS]


def _mask_report(report: pytest.TestReport) -> None:
    """Mask the secrets in a report; a traceback becomes plain text if a secret spans several of its lines."""
    from pytest_rageval.llm.secrets import redact

    report.sections = [(name, redact(content)) for name, content in report.sections]
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        report.longrepr = (*longrepr[:2], redact(str(longrepr[2])))
    elif longrepr is not None and redact(report.longreprtext) != report.longreprtext:
        if not isinstance(longrepr, str):
            _change_texts(longrepr, redact)
        text = redact(report.longreprtext)
        if text != report.longreprtext:
            report.longrepr = text


def _change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with ``change`` applied to every text in it; change parts of a traceback in place."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_change_texts(item, change) for item in value)
    for name, part in vars(value).items() if hasattr(value, "__dict__") else ():
        setattr(value, name, _change_texts(part, change))
    return value
