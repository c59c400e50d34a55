"""Write a finished run's reports, MLflow run and baseline; collect write failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.config.baseline import next_answers, next_baseline, why_no_update
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.report.export.report_files import ReportWriter
from pytest_rageval.report.files.answers_file import answers_path, read_answers, write_answers
from pytest_rageval.report.files.baseline_file import write_baseline
from pytest_rageval.report.files.results_json import versions_of
from pytest_rageval.report.files.run_folder import write_text
from pytest_rageval.report.run.json_text import decode_results, json_lines

if TYPE_CHECKING:
    from pytest_rageval.analysis.baseline.snapshot import Snapshot
    from pytest_rageval.report.run.run import Run
    from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["RunOutputs"]


class RunOutputs(ReportWriter):
    """Writes the reports and the baseline that options request, and logs to MLflow.

    Attributes:
        mlflow_stores: addresses of the MLflow stores that the run was logged to, without passwords.
    """

    def __init__(self, options: Options, rootdir: Path) -> None:
        super().__init__()
        self.mlflow_stores: list[str] = []
        self._options = options
        self._rootdir = rootdir

    def update_baseline(self, run: Run, run_id: str) -> bool:
        """Write the baseline if requested; return False if it cannot be written, which fails the run.

        Call this before writing reports, because they contain the exit status.
        """
        requested = self._options.baseline
        if requested.path is None or not requested.update:
            return True
        reason = why_no_update(run, requested)
        if reason:
            self.faults.append(f"the baseline {requested.path} is left as it was, which fails the run: {reason}")
            self.missing.append(requested.path.name)
            return False
        snapshot = replace(run.snapshot(), run=run_id, versions=versions_of(run))
        new = next_baseline(run, snapshot, requested)
        written = self.report(requested.path, partial(write_baseline, requested.path, new))
        return written and (not requested.answers or self._write_answers(requested.path, run, new))

    def write_reports(self, run: Run, choice: MatrixChoice, results: Mapping[str, Any], folder: Path | None) -> bool:
        """Write the reports, and log to MLflow; return whether all requested files were written.

        Markdown comes last because it lists what could not be written.

        Args:
            run: the run, with evaluated gates; its exit status becomes 1 if a file could not be written.
            choice: which matrix to show.
            results: the run as `results_of` returns it.
            folder: the run's folder; None without one.
        """
        requested = self._options.reports
        succeeded = []
        if requested.json is not None:
            succeeded.append(self.report(requested.json, partial(write_text, requested.json, json_lines(results))))
        if requested.html is not None:
            succeeded.append(self._write_html(requested.html, results, folder))
        if requested.mlflow is not None:
            self._log_to_mlflow(requested.mlflow, results, folder)
        run.exitstatus = run.exitstatus or int(not all(succeeded))
        return self.write_markdown(run, choice, requested.markdown) and all(succeeded)

    def _write_answers(self, baseline: Path, run: Run, new: Snapshot) -> bool:
        """Write the answers of the new baseline next to it; return whether that succeeded."""
        path, old = answers_path(baseline), []
        if len(new.cases) > len(run.snapshot().cases):  # some of the baseline's cases did not run
            try:
                old = read_answers(path)
            except RagEvalError as error:  # cases without answers can still be compared
                self.faults.append(f"{path} has only the answers of the cases that ran: {error}")
        return self.report(path, partial(write_answers, path, next_answers(run, new, old)))

    def _write_html(self, path: Path, results: Mapping[str, Any], folder: Path | None) -> bool:
        from pytest_rageval.report.html.page import write_html

        runs, cases = None if folder is None else folder.parent, self._options.reports.html_cases
        is_written = self.report(path, partial(write_html, path, results, runs, cases))
        self.page = path if is_written else None
        return is_written

    def _log_to_mlflow(self, uri: str, results: Mapping[str, Any], folder: Path | None) -> None:
        """Log the run to MLflow; a failure is only a warning because results.json is complete."""
        from pytest_rageval.report.export.mlflow.store import experiment_of, send, without_password

        runs, run_id = (None, "") if folder is None else (folder.parent, folder.name)
        try:
            plain_results = decode_results(results)
        except OSError as error:
            self.faults.append(f"the run is not logged to MLflow: {error.strerror or error}")
            self.missing.append("the run in MLflow")
            return
        try:
            send(plain_results, uri, experiment_of(self._rootdir), runs, self.page)
            self.mlflow_stores.append(without_password(uri))
        except RagEvalError as error:
            command = f"rageval export {run_id} --as mlflow --out {without_password(uri)}".replace("  ", " ")
            advice = "" if "shard" in results["run"] else f"; the results are kept, send them with: {command}"
            self.faults.append(f"{error}{advice}")
            self.missing.append("the run in MLflow")
