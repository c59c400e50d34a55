"""Where a finished run goes besides its own folder: reports, MLflow, the baseline; and what could not be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.config.baseline import next_baseline, why_no_update
from pytest_rageval.hooks.config.settings import Options
from pytest_rageval.report.export.report_files import Writing
from pytest_rageval.report.files.baseline_file import write_baseline
from pytest_rageval.report.files.results_json import versions_of
from pytest_rageval.report.files.run_folder import write_text
from pytest_rageval.report.run.json_text import json_lines, plain

if TYPE_CHECKING:
    from pytest_rageval.report.run.run import Run
    from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["Outlets"]


class Outlets(Writing):
    """Writes what was asked for.

    Attributes:
        sent: MLflow's stores that have the run.
    """

    def __init__(self, options: Options, rootdir: Path) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._options = options
        self._rootdir = rootdir

    def update_baseline(self, run: Run, run_id: str) -> bool:
        """Write the baseline, where that is wanted, and return whether it went well.

        It comes before all that tells how the run ended, as a run whose baseline cannot be written has failed.
        """
        asked = self._options.baseline
        if asked.path is None or not asked.update:
            return True
        why = why_no_update(run, asked)
        if why:
            self.faults.append(f"the baseline {asked.path} is left as it was, which fails the run: {why}")
            self.missing.append(asked.path.name)
            return False
        now = replace(run.snapshot(), run=run_id, versions=versions_of(run))
        return self.report(asked.path, partial(write_baseline, asked.path, next_baseline(run, now, asked)))

    def deliver(self, run: Run, choice: MatrixChoice, results: Mapping[str, Any], folder: Path | None) -> bool:
        """Write the reports, and log to MLflow; return whether the files asked for are there.

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
            self._send(asked.mlflow, results, folder)
        run.exitstatus = run.exitstatus or int(not all(went_well))
        return self.write_markdown(run, choice, asked.markdown) and all(went_well)

    def _draw(self, path: Path, results: Mapping[str, Any], folder: Path | None) -> bool:
        from pytest_rageval.report.html.page import write_html

        return self.report(path, partial(write_html, path, results, None if folder is None else folder.parent))

    def _send(self, uri: str, results: Mapping[str, Any], folder: Path | None) -> None:
        """Log the runs of MLflow; a store that does not take them is a warning, as results.json has it all."""
        from pytest_rageval.report.export.mlflow.store import experiment_of, send, without_password

        page = self._options.reports.html if self._options.reports.html in self.written else None
        runs, run_id = (None, "") if folder is None else (folder.parent, folder.name)
        try:
            send(plain(results), uri, experiment_of(self._rootdir), runs, page)
            self.sent.append(without_password(uri))
        except RagEvalError as error:
            again = f"rageval show {run_id} --mlflow {without_password(uri)}".replace("  ", " ")
            kept = "" if "shard" in results["run"] else f"; the results are kept, send them with: {again}"
            self.faults.append(f"{error}{kept}")
            self.missing.append("the run in MLflow")
