"""``rageval merge``: join the results of all shards and print pytest's summary of them."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

from pytest_rageval.activity import doing, progress
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import RESULTS, results_path, rootdir, stored_run
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.export.report_files import ReportWriter
from pytest_rageval.report.files.merge_shards import NO_TESTS, NamedRun, merge_shards
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_folder import RunFolder, write_text
from pytest_rageval.report.run.json_text import json_lines, to_json
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.gates import gate_failure
from pytest_rageval.report.terminal.account_block import SessionFacts, account_lines
from pytest_rageval.report.terminal.summary import section_lines, written_lines
from pytest_rageval.report.text.colours import paint

__all__ = ["merge"]


def merge(shards: Sequence[str], out: Path | None, markdown: Path | None = None) -> Generator[str, None, int]:
    """Join shards to a new run, yield the lines of its summary, and return an exit status like pytest's.

    The status is 0 if all tests and gates passed, 1 if something failed, 2 if a shard was interrupted.

    Args:
        shards: names of runs, or paths of results.json files or their folders.
        out: also write the joined results.json to this path.
        markdown: also write the report as Markdown to this path; on GitHub it is also added to the step summary.

    Raises:
        SettingError: results cannot be read, or are not all shards of one run.
    """
    root = rootdir(Path.cwd())
    stored = [stored_run(root, shard) for shard in progress("reading shard", shards)]
    paths = [results_path(root, shard) for shard in shards]
    parts = [NamedRun(str(path), each.results, each.run) for path, each in zip(paths, stored, strict=True)]
    with doing("joining the shards"):
        run, choice = merge_shards(parts), stored[0].choice
        finished = max(part.run.started + timedelta(seconds=part.results["run"]["duration_s"]) for part in parts)
        output = _Output(root)
        with output.removed_on_interrupt():
            results = results_of(run, output.name, finished, choice)
            output.store(run, results)
    is_written = out is None or output.report(out, partial(write_text, out, json_lines(results)))
    run.exitstatus = run.exitstatus or int(not is_written)
    is_reported = output.write_markdown(run, choice, markdown)
    yield f"run {output.name or '-'} of {len(parts)} shards, started {results['run']['started']}"
    yield from _summary(run, choice, parts, output)
    return run.exitstatus or int(not is_reported)


def _summary(run: Run, choice: MatrixChoice, parts: Sequence[NamedRun], output: _Output) -> Iterator[str]:
    """Yield what pytest would print for the whole run: failed gates, sections, failed tests, then the account."""
    width = shutil.get_terminal_size().columns
    with doing("summarizing the run"):
        lines = [*section_lines(run, choice, width, 0), *written_lines(output.paths, Path.cwd(), width)]
        account = list(account_lines(run, SessionFacts(), width, 0))
    failed = [gate for gate in run.gates if gate.result.status == "failed"]
    for gate in failed:
        yield ""
        yield ascii_safe(gate.nodeid)
        yield gate_failure(gate.result)
    yield from ("",) if failed else ()
    yield from (paint(line, terminal_colours(), None) for line in lines)
    yield from (f"warning: {fault}" for fault in output.faults)
    names = (*run.failed, *(gate.nodeid for gate in failed))
    yield from (ascii_safe(f"FAILED {nodeid}") for nodeid in names)
    for part in parts:
        if part.run.exitstatus not in (0, NO_TESTS) and not part.run.failed:
            yield f"{part.name} ended with exit status {part.run.exitstatus}, but no test failed"
    yield ""
    yield from (paint(line, terminal_colours(), None) for line in account)


class _Output(ReportWriter):
    """The files of a joined run. Its folder is named by the current time, so the run becomes the newest one."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._folder: RunFolder | None = None
        try:
            self._folder = RunFolder(root, datetime.now(timezone.utc))
        except OSError as error:
            self.faults.append(f"nothing is stored in {root / '.rageval'}: {error.strerror or error}")

    @property
    def name(self) -> str:
        return "" if self._folder is None else self._folder.id

    @contextmanager
    def removed_on_interrupt(self) -> Iterator[None]:
        """Remove the folder if its results.json is not finished; else the newest run would have no results."""
        try:
            yield
        except BaseException:
            if self._folder is not None:
                self._folder.close()
                shutil.rmtree(self._folder.path, ignore_errors=True)
            raise

    def store(self, run: Run, results: Mapping[str, Any]) -> None:
        if self._folder is not None:
            self.report(self._folder.path / RESULTS, partial(_write_run, self._folder, run, results))


def _write_run(folder: RunFolder, run: Run, results: Mapping[str, Any]) -> None:
    """Write the files of a run, as a session without shards does."""
    for outcome in run.ordered():
        folder.append(to_json(run.records[outcome.nodeid]))
    folder.finish(results)
    folder.forget_ended()
