"""Read the cases of stored runs, with their recorded questions and answers, for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.case import Case
from pytest_rageval.model.codec import decode_instance
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.read_results import StoredRun, read_run
from pytest_rageval.report.files.run_names import find_run, stored_runs
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.web.play.page_answer import PageAnswer, page_answer_in_run

__all__ = ["RunCase", "StoredCases"]

RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class RunCase:
    """A case in the list of a run.

    Attributes:
        nodeid: the node id of its test.
        question: its question; "" if the run holds no texts.
        state: ``missed``, ``error`` or ``scored``.
    """

    nodeid: str
    question: str
    state: str


class StoredCases:
    """The stored runs of a project; caches the run that was read last until its file changes.

    Args:
        project: the folder of the project.
    """

    def __init__(self, project: Path) -> None:
        self._runs = project / ".rageval" / "runs"
        self._cache: tuple[tuple[Path, int], StoredRun] | None = None

    def names(self) -> list[str]:
        """Return the names of the runs, newest first."""
        return [folder.name for folder in stored_runs(self._runs) if (folder / RESULTS).is_file()]

    def head(self, name: str) -> str:
        """Return the name of a run and when it started."""
        return self._run(name).head

    def missed(self, name: str) -> frozenset[str]:
        """Return the node ids of the missed cases and of the errors of a run."""
        return frozenset(each.nodeid for each in self._cases(self._run(name)) if each.state != "scored")

    def find_cases(self, name: str, words: str, *, only_missed: bool, limit: int) -> tuple[list[RunCase], int]:
        """Return up to ``limit`` cases that contain all words, missed ones first, and the number of matches."""
        terms = words.casefold().split()
        cases = [
            each
            for each in self._cases(self._run(name))
            if (not only_missed or each.state != "scored")
            and all(term in f"{each.question}\n{each.nodeid}".casefold() for term in terms)
        ]
        cases.sort(key=lambda each: each.state == "scored")
        return cases[:limit], len(cases)

    def case(self, name: str, case: str) -> PageAnswer:
        """Return a case of a run with its recorded answer, by its node id or its case id.

        Raises:
            SettingError: the run is unknown or cannot be read, or it contains no texts.
            UnknownNameError: the run has no such case.
        """
        stored = self._run(name)
        outcomes = list(stored.run.outcomes.values())
        outcome = next((each for each in outcomes if case in (each.nodeid, each.case_id)), None)
        if outcome is None:
            raise UnknownNameError("case", case, [key for each in outcomes for key in (each.case_id, each.nodeid)])
        return page_answer_in_run(_case(stored, outcome), outcome)

    def _cases(self, stored: StoredRun) -> Sequence[RunCase]:
        missed_nodes = {each["nodeid"] for each in stored.results["outcomes"] if each.get("missed")}
        return [
            RunCase(
                each.nodeid,
                each.question or str(_instance(stored, each).get("question", "")),
                "missed" if each.nodeid in missed_nodes else each.status,
            )
            for each in stored.run.outcomes.values()
        ]

    def _run(self, name: str) -> StoredRun:
        path = find_run(self._runs, name) if name else next(iter(stored_runs(self._runs)), None)
        if path is None:
            raise SettingError(f"no run under {self._runs} yet; run pytest first", code="RAG212")
        path = path if path.is_file() else path / RESULTS
        try:
            version = path, path.stat().st_mtime_ns
        except OSError as error:
            problem = f"{path} cannot be read: {error.strerror or error}; name another run"
            raise SettingError(problem, code="RAG212") from error
        if self._cache is None or self._cache[0] != version:
            self._cache = version, read_run(path, gates=False)
        return self._cache[1]


def _instance(stored: StoredRun, outcome: Outcome) -> dict[str, Any]:
    plain: dict[str, Any] = from_json(stored.run.instances.get(outcome.case_id, {}))
    return plain


def _case(stored: StoredRun, outcome: Outcome) -> Case:
    plain = _instance(stored, outcome)
    if "question" not in plain:
        problem = "the run contains no texts (rag_report_texts = false), so its cases cannot be shown"
        raise SettingError(f"{problem}; find the case on the page Ask")
    return Case(outcome.case_id, decode_instance(outcome.case_id, plain, outcome.facets), None, outcome.facets)
