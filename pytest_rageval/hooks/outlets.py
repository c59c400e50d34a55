"""Where a finished run goes besides its own folder: reports, MLflow, the baseline; and what could not be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.baseline import next_baseline, why_no_update
from pytest_rageval.hooks.given import Options
from pytest_rageval.report.baseline_file import write_baseline
from pytest_rageval.report.folder import fault_of, write_text
from pytest_rageval.report.json_text import json_lines, plain
from pytest_rageval.report.markdown import MOST, markdown_of
from pytest_rageval.report.results_json import versions_of
from pytest_rageval.report.step_summary import SUMMARY, add_to_summary

if TYPE_CHECKING:
    from pytest_rageval.report.run import Run
    from pytest_rageval.report.views import MatrixChoice

__all__ = ["Outlets"]


class Outlets:
    """Writes what was asked for.

    Attributes:
        faults: what went wrong, a sentence each, for the summary's warnings.
        written: the files that the summary says the place of.
    """

    def __init__(self, options: Options, rootdir: Path) -> None:
        self.faults: list[str] = []
        self.written: list[Path] = []
        self._options = options
        self._rootdir = rootdir

    def deliver(self, run: Run, choice: MatrixChoice, results: Mapping[str, Any], folder: Path | None) -> bool:
        """Write the reports and the baseline, and log to MLflow; return whether the files asked for are there.

        Markdown is the last of them, as it tells what could not be written.

        Args:
            run: the run, its gates evaluated; its exit status becomes that of a failure where a file is not there.
            choice: which matrix is wanted.
            results: the run as `results_of` has it.
            folder: the run's own, or None.
        """
        asked = self._options.reports
        went_well = []
        if asked.json is not None:
            went_well.append(self.report(asked.json, partial(write_text, asked.json, json_lines(results))))
        if asked.html is not None:
            went_well.append(self._draw(asked.html, results, folder))
        if asked.mlflow is not None:
            self._send(asked.mlflow, results, "" if folder is None else folder.name)
        went_well.append(self._update_baseline(run, "" if folder is None else folder.name))
        run.exitstatus = run.exitstatus or int(not all(went_well))
        return self._tell(run, choice) and all(went_well)

    def report(self, path: Path, write: Callable[[], object]) -> bool:
        """Write what the summary says the place of, and return whether it went well."""
        if not self.write(path, write):
            return False
        self.written.append(path)
        return True

    def write(self, path: Path, write: Callable[[], object]) -> bool:
        """Write a file and return whether it went well."""
        fault = fault_of(path, write)
        self.faults += [] if fault is None else [fault]
        return fault is None

    def _tell(self, run: Run, choice: MatrixChoice) -> bool:
        """Write the Markdown and add it to a step's summary; return whether the file that was asked for is there.

        The summary gets it only where there is something to tell: a job may well run none of the cases.
        """
        path, summary = self._options.reports.markdown, os.environ.get(SUMMARY)
        draw = partial(markdown_of, run, choice, faults=self.faults)
        written = path is None or self.report(path, lambda: write_text(path, [draw()]))
        if summary and (run.plan.cases or any(gate.result.status == "failed" for gate in run.gates)):
            run.exitstatus = run.exitstatus or int(not written)
            self.write(Path(summary), lambda: add_to_summary(Path(summary), map(draw, (MOST, 0))))
        return written

    def _draw(self, path: Path, results: Mapping[str, Any], folder: Path | None) -> bool:
        from pytest_rageval.report.html.page import write_html

        return self.report(path, partial(write_html, path, results, None if folder is None else folder.parent))

    def _send(self, uri: str, results: Mapping[str, Any], run_id: str) -> None:
        """Log the runs of MLflow; a store that does not take them is a warning, as results.json has it all."""
        from pytest_rageval.report.mlflow_store import experiment_of, send, without_password

        pages = [path for path in self.written if path == self._options.reports.html]
        try:
            send(plain(results), uri, experiment_of(self._rootdir), pages)
        except RagEvalError as error:
            again = f"rageval show {run_id} --mlflow {without_password(uri)}".replace("  ", " ")
            self.faults.append(f"{error}; the results are kept, send them with: {again}")

    def _update_baseline(self, run: Run, run_id: str) -> bool:
        """Write the baseline, where that is wanted, and return whether it went well."""
        asked = self._options.baseline
        if asked.path is None or not asked.update:
            return True
        why = why_no_update(run, asked)
        if why:
            self.faults.append(f"the baseline {asked.path} is left as it was, which fails the run: {why}")
            return False
        now = replace(run.snapshot(), run=run_id, versions=versions_of(run))
        return self.report(asked.path, partial(write_baseline, asked.path, next_baseline(run, now, asked)))
