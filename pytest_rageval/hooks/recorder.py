"""The reporting process: takes plan and outcomes from reports, writes them down, ends the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.hooks.given import read_options
from pytest_rageval.hooks.keys import RECORDER
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.report.folder import RunFolder, write_atomically
from pytest_rageval.report.json_text import JsonText, plain
from pytest_rageval.report.plan import Plan
from pytest_rageval.report.results_json import results_of
from pytest_rageval.report.run import Run
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
        self._planned = False
        self._recordings: set[str] = set()
        self._folder: RunFolder | None = None
        try:
            self._folder = RunFolder(config.rootpath, self.run.started)
        except OSError as error:
            self.faults.append(f"nothing is kept in {config.rootpath / '.rageval'}: {error.strerror or error}")

    def take_plan(self, plan: Plan) -> None:
        """Keep the plan; every worker sends the same one, the first counts."""
        if not self._planned:
            self._planned = True
            self.run.plan = plan

    def take_outcome(self, payload: dict[str, Any]) -> None:
        """Keep an outcome, in memory and on disk, and show it to the hooks."""
        outcome = self.run.take(payload["outcome"], payload["instance"])
        self._recordings.update(payload["recordings"])
        self.run.take_retrievers(payload["retrievers"])
        self.run.versions.update(payload["versions"])
        self._append(self.run.records[outcome["nodeid"]])
        self._config.hook.pytest_rageval_outcome(outcome=outcome)

    def take_unclaimed(self, calls: Mapping[str, Any], recordings: Iterable[str]) -> None:
        """Count calls that belong to no outcome: made ahead of tests that never ran, or by no case."""
        self.run.unclaimed += Calls(**calls)
        self._recordings.update(recordings)

    def settle(self, crashed: Mapping[str, str], *, interrupted: bool) -> None:
        """Turn crashes into errors and evaluate the gates.

        Args:
            crashed: node id -> message of each item whose worker died; one that ended before that has its outcome.
            interrupted: whether the user ended the session.
        """
        for nodeid, message in crashed.items():
            lost = None if nodeid in self.run.outcomes else self.run.plan.lost(nodeid, message)
            if lost is not None:
                nothing: dict[str, Any] = {"instance": None, "recordings": (), "retrievers": (), "versions": {}}
                self.take_outcome({"outcome": encode_outcome(lost), **nothing})
        self.run.interrupted = interrupted
        self.run.weigh_judges()
        self.run.evaluate_gates()

    def finish(self) -> bool:
        """Write results.json and the reports that options name, and return whether all of the latter went well."""
        run_id = self._folder.id if self._folder else ""
        finished = datetime.now(timezone.utc)
        results = results_of(self.run, run_id, finished, self.choice)
        if self._config.hook.pytest_rageval_finish.get_hookimpls():
            self._config.hook.pytest_rageval_finish(results=plain(results))
        if self._folder is not None and self._recordings:
            whole = not (self.options.narrowed or self.run.interrupted or self.run.plan.unselected)
            scored = all(outcome.status == "scored" for outcome in self.run.outcomes.values())
            complete = whole and scored and not self.run.unfinished()
            note = partial(self._folder.note_recordings, self._recordings, complete=complete)
            self._written(self._folder.path / "used-recordings.txt", note)
        if self._folder is not None:
            self._written(self._folder.path / "results.json", partial(self._folder.finish, results))
        path = self.options.json
        done = path is None or self._written(path, partial(write_atomically, path, results))
        return self._drawn(results) and done

    def _drawn(self, results: Mapping[str, Any]) -> bool:
        path = self.options.html
        if path is None:
            return True
        from pytest_rageval.report.html.page import write_html

        runs = self._folder.path.parent if self._folder else None
        return self._written(path, partial(write_html, path, results, runs))

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

    def _written(self, path: Path, write: Callable[[], object]) -> bool:
        try:
            write()
        except OSError as error:
            self.faults.append(f"{path} could not be written: {error.strerror or error}")
            return False
        return True
