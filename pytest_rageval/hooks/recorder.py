"""The reporting process: takes plan and outcomes from reports, writes them down, ends the run."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from pytest_rageval.hooks.given import read_options
from pytest_rageval.hooks.keys import RECORDER
from pytest_rageval.model.codec import encode_outcome, without_texts
from pytest_rageval.report.folder import RunFolder, write_atomically
from pytest_rageval.report.plan import Plan
from pytest_rageval.report.results_json import results_of
from pytest_rageval.report.run import MatrixChoice, Run

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
        self.run = Run(datetime.now(timezone.utc))
        self.faults: list[str] = []
        self._planned = False
        self._crashed: dict[str, str] = {}
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
        outcome = payload["outcome"]
        self.run.take(outcome, payload["instance"])
        self._append(outcome)
        self._config.hook.pytest_rageval_outcome(outcome=outcome)

    def take_crash(self, nodeid: str, message: str) -> None:
        """Remember an item whose worker died; it becomes an error once the plan says it was a case."""
        self._crashed[nodeid] = message

    def settle(self, *, interrupted: bool) -> None:
        """Turn crashes into errors and evaluate the gates."""
        for nodeid, message in self._crashed.items():
            lost = self.run.plan.lost(nodeid, message)
            if lost is not None:
                self.take_outcome({"outcome": encode_outcome(lost), "instance": None})
        self._crashed.clear()
        self.run.interrupted = interrupted
        self.run.evaluate_gates()

    def finish(self) -> None:
        """Write results.json, in the run's folder and where ``--rag-json`` says."""
        run_id = self._folder.id if self._folder else ""
        finished = datetime.now(timezone.utc)
        results = results_of(self.run, run_id, finished, self.choice, texts=self.options.texts)
        self._config.hook.pytest_rageval_finish(results=results)
        if self._folder is not None:
            self._guarded(self._folder.path / "results.json", lambda folder=self._folder: folder.finish(results))
        if self.options.json is not None:
            path = self.options.json
            self._guarded(path, lambda: write_atomically(path, results))

    def _append(self, outcome: dict[str, Any]) -> None:
        folder = self._folder
        if folder is None:
            return
        record = outcome if self.options.texts else without_texts(outcome)
        try:
            folder.append(record)
        except OSError as error:
            self._folder = None
            self.faults.append(f"outcomes are no longer kept in {folder.path}: {error.strerror or error}")

    def _guarded(self, path: object, write: Any) -> None:
        try:
            write()
        except OSError as error:
            self.faults.append(f"{path} could not be written: {error.strerror or error}")
