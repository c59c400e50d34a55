"""Write the report files of a run, and collect those that could not be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from pytest_rageval.report.files.run_folder import try_to_write, write_text
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["STEP_SUMMARY_BYTES", "ReportWriter"]

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Environment variable of GitHub Actions with the path of the current step's file."""

STEP_SUMMARY_BYTES = 1024 * 1024
"""GitHub does not show a larger file."""


class ReportWriter:
    """Writes report files, and continues if one cannot be written.

    Attributes:
        faults: a sentence for each file that could not be written, for the summary's warnings.
        missing: file names of requested reports that could not be written, for readers of a pull request; no paths.
        paths: the written files that the summary lists.
        page: path of the HTML page, if it was written.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.missing: list[str] = []
        self.paths: list[Path] = []
        self.page: Path | None = None

    def report(self, path: Path, write: Callable[[], object]) -> bool:
        """Write a file that the summary lists; return whether it succeeded."""
        if not self.write(path, write):
            self.missing.append(path.name)
            return False
        self.paths.append(path)
        return True

    def write_markdown(self, run: Run, choice: MatrixChoice, path: Path | None) -> bool:
        """Write a run as Markdown and add it to the step summary; return whether the requested file was written.

        It lists the reports that could not be written, so write it last. The step summary stays empty if the run had
        no cases and no failed gate: many jobs run none of the cases.
        """
        summary = os.environ.get(STEP_SUMMARY)
        if path is None and not summary:
            return True
        from pytest_rageval.report.export.ci_links import links_of
        from pytest_rageval.report.export.markdown import MAX_CHARACTERS, markdown_of

        draw = partial(markdown_of, run, choice, missing=self.missing, links=links_of(os.environ, self.page))
        written = path is None or self.report(path, lambda: write_text(path, [draw()]))
        if summary and (run.plan.cases or any(gate.result.status == "failed" for gate in run.gates)):
            run.exitstatus = run.exitstatus or int(not written)
            self.write(Path(summary), lambda: _add_to_summary(Path(summary), map(draw, (MAX_CHARACTERS, 0))))
        return written

    def write(self, path: Path, write: Callable[[], object]) -> bool:
        """Write a file and return whether it succeeded."""
        fault = try_to_write(path, write)
        self.faults += [] if fault is None else [fault]
        return fault is None


def _add_to_summary(path: Path, texts: Iterable[str]) -> None:
    """Append the first text that fits to the step's file.

    Raises:
        OSError: the file cannot be written, or no text fits.
    """
    with path.open("ab") as stream:
        for text in texts:
            added = f"\n\n{text}".encode()  # the file may end within a line
            if stream.tell() + len(added) <= STEP_SUMMARY_BYTES:
                stream.write(added)
                return
    raise OSError(f"it would get longer than the {STEP_SUMMARY_BYTES:,} bytes that GitHub shows")
