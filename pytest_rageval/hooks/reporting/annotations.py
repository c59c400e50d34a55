"""Print the causes of a run as annotations of GitHub Actions, ahead of the summary."""

from __future__ import annotations

import os

import pytest

from pytest_rageval.hooks.reporting.keys import RECORDER

__all__ = ["Annotations"]

OTHER = "pytest_github_actions_annotate_failures"
"""A plugin that annotates each failed test and gate; GitHub shows ten annotations of a step, and its come first."""


class Annotations:
    """Plugin of the main process, on GitHub Actions only."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the annotations, unless another plugin annotates failures."""
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None or self._config.pluginmanager.hasplugin(OTHER):
            return
        from pytest_rageval.report.export.github_annotations import annotations_of

        for line in annotations_of(recorder.run, self._config.rootpath, os.environ.get("GITHUB_WORKSPACE", "")):
            terminalreporter.write_line(line)
