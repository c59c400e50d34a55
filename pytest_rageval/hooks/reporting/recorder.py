"""Record the run in the main process: store outcomes, evaluate gates, write reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.collect.keys import RESUMED
from pytest_rageval.hooks.collect.resumed_run import ResumedRun
from pytest_rageval.hooks.collect.saved_reports import ReportSaver, reports_of
from pytest_rageval.hooks.config.baseline import load_baseline
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.prepare.resume import resume_command
from pytest_rageval.hooks.prepare.run_folder import run_folder
from pytest_rageval.hooks.prepare.run_settings import settings_of
from pytest_rageval.hooks.reporting.old_answers import add_old_answers
from pytest_rageval.hooks.reporting.outputs import RunOutputs
from pytest_rageval.hooks.reporting.seen_calls import process_seen_calls, warn_if_unseen, worker_seen_calls
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.report.files.interrupted_run import Head, InterruptedRun
from pytest_rageval.report.files.paid_calls import unclaimed_calls
from pytest_rageval.report.files.pruning import FolderLock, prune
from pytest_rageval.report.files.results_json import encode_run, results_of
from pytest_rageval.report.files.run_folder import ENDED, HEAD, OUTCOMES, RunFolder
from pytest_rageval.report.run.json_text import JsonText, decode_results, from_json, to_json
from pytest_rageval.report.run.never_failing_gates import never_failing_gates
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.seen_calls import SeenCalls
from pytest_rageval.report.run.stored_texts import StoredTexts
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.unseen_calls import note_unseen, unseen_at_start
from pytest_rageval.report.text.lines import counted

__all__ = ["Recorder"]

T = TypeVar("T")


class Recorder:
    """Collects the run in the main process, and writes it to the run folder."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.options = Options(config)
        self.choice = MatrixChoice(self.options.matrix, self.options.rows, self.options.cols)
        self.run = Run(datetime.now(timezone.utc), texts=self.options.texts, settings=settings_of(self.options))
        self.outputs = RunOutputs(self.options, config.rootpath)
        self._has_plan = False
        self._resumed = config.stash.get(RESUMED, ResumedRun(InterruptedRun("")))
        self._report_saver = ReportSaver(config, texts=self.options.texts)
        self._recordings: set[str] = set()
        self._unflushed: dict[str, tuple[int, int] | None] = {}  # case id -> place of its instance on disk
        self.counted: set[str] = set()  # processes that have counted their calls for unreported cases
        self.dropped_steps = 0  # number of trace steps from threads without a case
        self.seen_calls = SeenCalls()
        self.calls_unseen = False  # whether the session fails because no call of a user's system was seen
        self.pruned: list[str] = []  # the runs that rag_keep_runs removed
        self._folder: RunFolder | None = None
        self._folder_lock: FolderLock | None = None
        try:
            folder = run_folder(config, self.run.started)
            self._folder = RunFolder(config.rootpath, self.run.started, folder)
            self._folder_lock = FolderLock(self._folder.path)
            if hasattr(os, "pread"):
                self.run.records = self._stored_texts(self._folder.path / OUTCOMES)
                self.run.instances = self._stored_texts(self._folder.path / ENDED)
        except OSError as error:
            self.outputs.faults.append(
                f"nothing is stored in {config.rootpath / '.rageval'}: {error.strerror or error}"
            )

    def _stored_texts(self, path: Path) -> StoredTexts:
        """Return the texts of a file of the run folder; pytest closes them at the end."""
        texts = StoredTexts(path)
        self._config.add_cleanup(texts.close)
        return texts

    @property
    def folder(self) -> Path | None:
        """The run's folder; None if it cannot be written."""
        return None if self._folder is None else self._folder.path

    def take_plan(self, plan: Plan) -> None:
        """Store the first plan, and warn of gates that cannot fail and of calls that cannot be seen."""
        if not self._has_plan:
            self._has_plan = True
            self.run.plan = plan
            self.run.baseline = self._comparison_baseline()
            self.run.resumed_note = self._resumed.summary(plan)
            self.run.changed_code = self._resumed.changed_files(plan)
            self.run.resumed = self._resumed.results_entry(plan)
            self.outputs.faults += self._resumed.warnings(plan)
            self._write(partial(RunFolder.write_head, head=self._head(ended=False).dumps()))
            self._warn(never_failing_gates(plan) if self.run.baseline is not None else [])
            self._warn(unseen_at_start(plan, budget=self.options.budget_usd is not None))

    @property
    def taken_over(self) -> list[str]:
        """Node ids of the cases taken over from the resumed run."""
        return self._resumed.ended_cases(self.run.plan)

    def reports_of(self, nodeid: str) -> Iterator[pytest.TestReport]:
        """Yield the reports of a case taken over from the resumed run."""
        payload = self._resumed.payload(nodeid, self.run.plan)
        return reports_of(self._config, self._resumed.stopped.ended[nodeid], payload)

    def take_outcome(self, payload: dict[str, Any]) -> None:
        """Store an outcome in memory and on disk, and pass it to the hooks."""
        text, instance = payload.get("text"), payload["instance"]
        encoded = payload["outcome"] if text is None or "outcome" in payload else from_json(JsonText(text))
        nodeid, n_instances = encoded["nodeid"], len(self.run.instances)
        outcome = self.run.take(encoded, JsonText(instance) if isinstance(instance, str) else instance, text)
        self._recordings.update(payload["recordings"])
        self.run.take_retrievers(payload["retrievers"])
        self.run.versions.update(payload["versions"])
        if len(self.run.instances) > n_instances:
            case_id, stored = encoded["case_id"], to_json(self.run.instances[encoded["case_id"]])
            self._unflushed[case_id] = self._write(lambda folder: folder.append_instance(case_id, stored))
        if self._folder is not None:
            self._report_saver.take_payload(encoded, payload, self._folder.outcomes)
        record = to_json(self.run.records[nodeid])
        _move_to_disk(self.run.records, nodeid, self._write(lambda folder: folder.append(record)))
        self._config.hook.pytest_rageval_outcome(outcome=outcome)

    def take_report(self, report: pytest.TestReport) -> None:
        """Store a report of a case's test; after the last report, another session may take the case over."""
        if report.nodeid in self.run.plan.cases:
            line = self._report_saver.take_report(report)
            if line is not None and self._write(lambda folder: folder.append_ended(line)):
                for case_id, place in self._unflushed.items():
                    _move_to_disk(self.run.instances, case_id, place)
                self._unflushed.clear()

    def take_unclaimed(self, calls: Mapping[str, Any], recordings: Iterable[str]) -> None:
        """Count calls without an outcome: made ahead of tests that never ran, or outside of cases."""
        self.run.unclaimed += Calls(**calls)
        self._recordings.update(recordings)

    def take_counted(self, process: str, output: Mapping[str, Any]) -> None:
        """Store that a worker counted its calls for unreported cases, and what it saw of the calls of its systems."""
        self.counted.add(process)
        self.seen_calls += worker_seen_calls(output)

    def take_fault(self, fault: str) -> None:
        """Add a write failure of a process to the summary's warnings, once."""
        if fault not in self.outputs.faults:
            self.outputs.faults.append(fault)

    def evaluate(self, crashed: Mapping[str, str], failed: Iterable[str], *, interrupted: bool) -> None:
        """Turn crashes into errors and evaluate the gates.

        Args:
            crashed: node id -> message of each item whose worker died; an item that ended before has its outcome.
            failed: node ids of the tests that failed.
            interrupted: whether the user ended the session.
        """
        for nodeid, message in crashed.items():
            error = None if nodeid in self.run.outcomes else self.run.plan.crash_outcome(nodeid, message)
            if error is not None:
                empty: dict[str, Any] = {"instance": None, "recordings": (), "retrievers": (), "versions": {}}
                self.take_outcome({"outcome": encode_outcome(error), **empty})
        self.run.interrupted, self.run.failed = interrupted, tuple(sorted(failed))
        note_unseen(self.run.plan, self.run.ordered(), budget=self.options.budget_usd is not None)
        seen_calls = self.seen_calls + process_seen_calls(self._config)
        self.calls_unseen = warn_if_unseen(self.run, seen_calls, self.options, self._config)
        self.run.weigh_judges()
        self.run.compare_variants()
        runs = None if self.folder is None else self.folder.parent
        self.outputs.faults += add_old_answers(self.run, self.options.baseline, runs)
        self.run.evaluate_gates()

    def description(self) -> dict[str, Any]:
        """Return the run's description, as in results.json."""
        return encode_run(self.run, self._id, datetime.now(timezone.utc))

    def finish(self, exitstatus: int) -> bool:
        """Write results.json to the run folder, then the requested reports.

        Return whether the requested reports were written, and enough calls of systems were seen. Failures in the run
        folder do not count.
        """
        self._count_unreported()
        updated = self.outputs.update_baseline(self.run, self._id)
        self.run.exitstatus = exitstatus or int(not updated or self.calls_unseen)
        results = results_of(self.run, self._id, datetime.now(timezone.utc), self.choice)
        if self._config.hook.pytest_rageval_finish.get_hookimpls():
            self._call_finish(results)
        if self._folder is not None and self._recordings:
            plan = self.run.plan
            scored = all(outcome.status == "scored" for outcome in self.run.outcomes.values())
            complete = scored and self.run.ran_all() and not (plan.narrowed or plan.shard)
            note = partial(self._folder.note_recordings, self._recordings, complete=complete)
            self.outputs.write(self._folder.path / "used-recordings.txt", note)
        folder = self._folder
        if folder is not None and self.outputs.report(folder.path / "results.json", partial(folder.finish, results)):
            self._end(folder)
            self._prune(folder)
        are_written = self.outputs.write_reports(self.run, self.choice, results, self.folder)
        return are_written and updated and not self.calls_unseen

    def _call_finish(self, results: Mapping[str, Any]) -> None:
        """Pass the results to the hook; warn instead if their stored texts cannot be read."""
        try:
            plain_results = decode_results(results)
        except OSError as error:
            self.outputs.faults.append(f"pytest_rageval_finish is not called: {error.strerror or error}")
            return
        self._config.hook.pytest_rageval_finish(results=plain_results)

    def _count_unreported(self) -> None:
        """Count calls for unreported cases, from the journals of processes that did not count them."""
        if self.folder is not None:
            outcomes = self.run.outcomes.values()
            reported = {o.nodeid for o in outcomes if o.calls is not None or o.answer is not None}
            self.run.unclaimed += unclaimed_calls(self.folder, reported, self.counted)

    def _warn(self, sentences: Iterable[str]) -> None:
        """Print warnings at once: before the tests or, with xdist, at a worker's first report."""
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        for sentence in sentences if terminal is not None else ():
            terminal.ensure_newline()
            terminal.write_line(f"warning: {sentence}", yellow=True)

    def _comparison_baseline(self) -> Snapshot | None:
        """Return what the run is compared with; None if there is none or it is invalid, which collection reports."""
        with suppress(RagEvalError, OSError):
            return load_baseline(self.options.baseline)
        return None

    def _prune(self, folder: RunFolder) -> None:
        """Remove old runs, up to ``rag_keep_runs``."""
        if self._folder_lock is not None:
            self._folder_lock.end()
        with suppress(OSError):
            self.pruned = prune(folder.path.parent, self.options.keep_runs, spared=[folder.id])

    def _head(self, *, ended: bool) -> Head:
        """Return the run's head; a partial run also lists the other cases of the run that it resumes."""
        plan, resumed = self.run.plan, self._resumed.stopped
        is_partial = plan.narrowed or plan.part or plan.shard
        other_cases = sorted(resumed.cases - plan.cases.keys()) if is_partial else []
        n_open = len(set(other_cases) - resumed.ended.keys()) + self.run.unfinished().total()
        n_open += sum(o.status == "skipped" and o.error_type != "skipped" for o in self.run.outcomes.values())
        shard = "" if plan.shard is None else f"{plan.shard.number}/{plan.shard.of}"
        n_errors = sum(outcome.status == "error" for outcome in self.run.outcomes.values())
        return Head(plan.identity, (*plan.cases, *other_cases), resumed.run, n_open if ended else None, shard, n_errors)

    def _end(self, folder: RunFolder) -> None:
        """Mark the run as ended; if all cases ended, remove the files that only a resumed run needs."""
        head = self._head(ended=True)
        is_written = self.outputs.write(folder.path / HEAD, partial(folder.write_head, head.dumps()))
        if is_written and head.left == 0:
            folder.forget_journals()
        if is_written and head.left == 0 and all(outcome.status == "scored" for outcome in self.run.outcomes.values()):
            self.outputs.write(folder.path / ENDED, folder.forget_ended)

    @property
    def rerun_advice(self) -> str:
        """A sentence with the command that reruns only the errors; "" without errors, or without scored cases."""
        statuses = Counter(outcome.status for outcome in self.run.outcomes.values())
        if self._folder is None or not (statuses["error"] and statuses["scored"]):
            return ""
        them = "it" if statuses["error"] == 1 else "them"
        command = resume_command(self._config, self._folder.id)
        return f"{counted(statuses['error'], 'error')}: ask {them} again, and nothing else, with {command}"

    @property
    def _id(self) -> str:
        return self._folder.id if self._folder else ""

    def _write(self, write: Callable[[RunFolder], T]) -> T | None:
        """Return the result of ``write``; None without a run folder. After a failure, use the folder no longer."""
        folder = self._folder
        if folder is None:
            return None
        try:
            return write(folder)
        except OSError as error:
            folder.close()
            self._folder = None
            self.outputs.faults.append(f"outcomes are no longer stored in {folder.path}: {error.strerror or error}")
            return None


def _move_to_disk(texts: object, key: str, place: tuple[int, int] | None) -> None:
    """Remove a text from memory if the run folder has it on disk."""
    if place is not None and isinstance(texts, StoredTexts):
        texts.move(key, *place)
