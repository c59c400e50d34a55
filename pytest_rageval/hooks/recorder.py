"""The reporting process: takes plan and outcomes from reports, writes them down, ends the run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.measured import Snapshot
from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.baseline import joined, why_no_update
from pytest_rageval.hooks.given import read_options
from pytest_rageval.hooks.keys import RECORDER
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.report.baseline_file import read_baseline, write_baseline
from pytest_rageval.report.folder import RunFolder, write_text
from pytest_rageval.report.json_text import JsonText, json_lines, plain, to_json
from pytest_rageval.report.markdown import markdown_of
from pytest_rageval.report.plan import Plan
from pytest_rageval.report.pruning import Going, prune
from pytest_rageval.report.results_json import results_of, versions_of
from pytest_rageval.report.run import Run
from pytest_rageval.report.step_summary import SUMMARY, add_to_summary
from pytest_rageval.report.views import MatrixChoice

__all__ = ["Recorder", "recorder_of"]


def recorder_of(config: pytest.Config) -> Recorder:
    """Return the session's recorder, made with its run folder when there is something to record."""
    if RECORDER not in config.stash:
        config.stash[RECORDER] = Recorder(config)
    return config.stash[RECORDER]


class Recorder:
    """What the reporting process knows of the run, and where it writes it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.options = read_options(config)
        self.choice = MatrixChoice(self.options.matrix, self.options.rows, self.options.cols)
        self.run = Run(datetime.now(timezone.utc), texts=self.options.texts)
        self.faults: list[str] = []
        self.written: list[Path] = []
        self._planned = False
        self._recordings: set[str] = set()
        self.pruned: list[str] = []
        self._folder: RunFolder | None = None
        self._going: Going | None = None
        try:
            self._folder = RunFolder(config.rootpath, self.run.started)
            self._going = Going(self._folder.path)
        except OSError as error:
            self.faults.append(f"nothing is kept in {config.rootpath / '.rageval'}: {error.strerror or error}")

    def take_plan(self, plan: Plan) -> None:
        """Keep the plan; every worker sends the same one, the first counts."""
        if not self._planned:
            self._planned = True
            self.run.plan = plan
            self.run.baseline, self.run.updates = self._baseline_held(), self.options.baseline.update

    def take_outcome(self, payload: dict[str, Any]) -> None:
        """Keep an outcome, in memory and on disk, and show it to the hooks."""
        outcome = self.run.take(payload["outcome"], payload["instance"])
        self._recordings.update(payload["recordings"])
        self.run.take_retrievers(payload["retrievers"])
        self.run.versions.update(payload["versions"])
        self._append(to_json(self.run.records[outcome["nodeid"]]))
        self._config.hook.pytest_rageval_outcome(outcome=outcome)

    def take_unclaimed(self, calls: Mapping[str, Any], recordings: Iterable[str]) -> None:
        """Count calls that belong to no outcome: made ahead of tests that never ran, or by no case."""
        self.run.unclaimed += Calls(**calls)
        self._recordings.update(recordings)

    def take_fault(self, fault: str | None) -> None:
        """Have the summary tell once what a process could not write."""
        if fault is not None and fault not in self.faults:
            self.faults.append(fault)

    def settle(self, crashed: Mapping[str, str], failed: Iterable[str], *, interrupted: bool) -> None:
        """Turn crashes into errors and evaluate the gates.

        Args:
            crashed: node id -> message of each item whose worker died; one that ended before that has its outcome.
            failed: node ids of the tests that failed.
            interrupted: whether the user ended the session.
        """
        for nodeid, message in crashed.items():
            lost = None if nodeid in self.run.outcomes else self.run.plan.lost(nodeid, message)
            if lost is not None:
                nothing: dict[str, Any] = {"instance": None, "recordings": (), "retrievers": (), "versions": {}}
                self.take_outcome({"outcome": encode_outcome(lost), **nothing})
        self.run.interrupted, self.run.failed = interrupted, tuple(sorted(failed))
        self.run.weigh_judges()
        self.run.evaluate_gates()

    def finish(self, exitstatus: int) -> bool:
        """Write results.json, to the folder and to ``--rag-json``, the other reports and the baseline.

        Returns whether what was asked for went well; what goes into the folder was not.
        """
        self.run.exitstatus = exitstatus
        run_id = self._folder.id if self._folder else ""
        finished = datetime.now(timezone.utc)
        results = results_of(self.run, run_id, finished, self.choice)
        if self._config.hook.pytest_rageval_finish.get_hookimpls():
            self._config.hook.pytest_rageval_finish(results=plain(results))
        if self._folder is not None and self._recordings:
            plan = self.run.plan
            whole = not (plan.narrowed or plan.part or plan.shard or self.run.interrupted)
            scored = all(outcome.status == "scored" for outcome in self.run.outcomes.values())
            complete = whole and scored and not self.run.unfinished()
            note = partial(self._folder.note_recordings, self._recordings, complete=complete)
            self._written(self._folder.path / "used-recordings.txt", note)
        if self._folder is not None:
            self._reported(self._folder.path / "results.json", partial(self._folder.finish, results))
            self._prune(self._folder)
        went_well = self._write_reports(results)
        return self._update_baseline(run_id) and went_well

    def _write_reports(self, results: Mapping[str, Any]) -> bool:
        """Write the reports that were asked for and return whether that went well; nobody asks for a step's summary."""
        summary = os.environ.get(SUMMARY)
        markdown = markdown_of(self.run, self.choice) if self.options.markdown or summary else ""
        wanted = [(self.options.json, json_lines(results)), (self.options.markdown, [markdown])]
        went_well = [self._reported(path, partial(write_text, path, text)) for path, text in wanted if path is not None]
        if summary:
            self._written(Path(summary), partial(add_to_summary, Path(summary), markdown))
        return all(went_well)

    def _baseline_held(self) -> Snapshot | None:
        """Return what the run is compared with; what cannot be read is told where it is collected."""
        path = self.options.baseline.path
        if path is None or not path.exists():
            return None
        try:
            return read_baseline(path)
        except RagEvalError:
            return None

    def _update_baseline(self, run_id: str) -> bool:
        """Write the baseline, where that is wanted, and return whether it went well."""
        asked = self.options.baseline
        if asked.path is None or not asked.update:
            return True
        why = why_no_update(self.run, asked)
        if why:
            self.faults.append(f"the baseline {asked.path} is left as it was: {why}")
            return False
        now = replace(self.run.snapshot(), run=run_id, versions=versions_of(self.run))
        return self._reported(asked.path, partial(write_baseline, asked.path, joined(self.run, now, asked)))

    def _prune(self, folder: RunFolder) -> None:
        """Remove the runs that are too old to be kept."""
        if self._going is not None:
            self._going.end()
        if self.options.keep_runs is not None:
            with suppress(OSError):
                self.pruned = prune(folder.path.parent, self.options.keep_runs, spared=[folder.id])

    def _append(self, record: JsonText) -> None:
        folder = self._folder
        if folder is None:
            return
        try:
            folder.append(record)
        except OSError as error:
            folder.close()
            self._folder = None
            self.faults.append(f"outcomes are no longer kept in {folder.path}: {error.strerror or error}")

    def _reported(self, path: Path, write: Callable[[], object]) -> bool:
        """Write what the summary says the place of, and return whether it went well."""
        if not self._written(path, write):
            return False
        self.written.append(path)
        return True

    def _written(self, path: Path, write: Callable[[], object]) -> bool:
        try:
            write()
        except OSError as error:
            self.faults.append(f"{path} could not be written: {error.strerror or error}")
            return False
        return True
