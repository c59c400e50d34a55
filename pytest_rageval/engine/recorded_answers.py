"""Answer cases from a file of recorded answers instead of a system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.outages import check_outage
from pytest_rageval.errors import CaseError, SettingError, short_repr
from pytest_rageval.llm.client.usage_meter import charge
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.facets import MODEL, WORKFLOW, in_slice, matches
from pytest_rageval.trace.completing import complete_answer, usage_of_trace
from pytest_rageval.trace.steps import model_calls

if TYPE_CHECKING:
    from pytest_rageval.datasets.recorded import Recorded

__all__ = ["RecordedAnswerer", "RecordedAnswers", "labels_of", "system_of"]

UNNAMED = "recorded"
"""Name of the system in rows that do not name one."""


class RecordedAnswers:
    """Recorded answers by system and case id.

    Args:
        rows: the answers.
        labels: system -> its distinct labels (see `labels_of`) in all files; None if ``rows`` are all answers.
    """

    def __init__(
        self, rows: Sequence[Recorded], labels: Mapping[str, Sequence[Mapping[str, str]]] | None = None
    ) -> None:
        self._facets: frozenset[str] | None = None
        self._rows: dict[tuple[str, str], list[Recorded]] = {}
        for row in rows:
            self._rows.setdefault((system_of(row), row.id), []).append(row)
        self._labels: dict[str, list[dict[str, str]]] = {
            system: [dict(each) for each in known] for system, known in (labels or {}).items()
        }
        for (system, _), same in self._rows.items() if labels is None else ():
            known = self._labels.setdefault(system, [])
            known += [each for each in map(labels_of, same) if each not in known]

    @property
    def systems(self) -> tuple[str, ...]:
        """The recorded systems, in the order of the files."""
        return tuple(self._labels)

    def find(self, system: str, case: Case, name: str) -> Answer | None:
        """Return the recorded answer to a case; None if there is none.

        First look for the case's name with its setting (``q1-noise_rate=0.4``), then for its id alone. If several rows
        match, return the one that names the most facets. A row answers a variant only if it names a facet of variants.
        """
        for key in (name, case.instance.id) if name != case.instance.id else (name,):
            rows = [row for row in self._rows.get((system, key), ()) if in_slice(case.facets, self._known_facets(row))]
            if rows:
                return rows[0].answer if len(rows) == 1 else max(rows, key=lambda row: len(row.where)).answer
        return None

    def labels(self, system: str, case: Case, name: str) -> dict[str, str]:
        """Return the facets ``workflow`` and ``model`` of a case's answer; without a workflow, it is the system's name.

        Raises:
            SettingError: the rows of the case name several workflows or models.
        """
        known = self._labels[system]
        if len(known) > 1:
            known = self._labels_of_case(system, case, name)
        if len(known) > 1:
            texts = " and ".join(", ".join(f"{key} {value}" for key, value in each.items()) or "none" for each in known)
            raise SettingError(
                f"recorded answers of system {short_repr(system)} to case {short_repr(case.instance.id)} name several "
                f"workflows or models ({texts}); give each its own system"
            )
        return {WORKFLOW: system, **(known[0] if known else {})}

    def _labels_of_case(self, system: str, case: Case, name: str) -> list[dict[str, str]]:
        """Return the distinct labels (see `labels_of`) of the rows that may answer a case."""
        known: list[dict[str, str]] = []
        for key in (name, case.instance.id):
            for row in self._rows.get((system, key), ()):
                where = {k: v for k, v in row.where.items() if k in case.facets}
                if matches(case.facets, where) and labels_of(row) not in known:
                    known.append(labels_of(row))
            if known:
                break
        return known

    def limit_facets(self, facets: Collection[str]) -> set[str]:
        """Ignore the keys of rows that are not among these facets of cases; return the ignored keys."""
        self._facets = frozenset(facets)
        return {key for rows in self._rows.values() for row in rows for key in row.where} - self._facets

    def _known_facets(self, row: Recorded) -> Mapping[str, str]:
        if self._facets is None or not row.where:
            return row.where
        return {key: value for key, value in row.where.items() if key in self._facets}

    def unused(self, names: set[str]) -> list[str]:
        """Return the ids of rows that are not in ``names``, the ids of the session's cases."""
        return sorted({case_id for _, case_id in self._rows} - names)


def labels_of(row: Recorded) -> dict[str, str]:
    """Return the labels of a row: the facets ``workflow`` and ``model`` that it names."""
    return {key: row.where[key] for key in (WORKFLOW, MODEL) if key in row.where}


def system_of(row: Recorded) -> str:
    """Return the name of a row's system; without one, its workflow and model form the name."""
    return row.system or "@".join(labels_of(row).values()) or UNNAMED


class RecordedAnswerer:
    """Answers one case from the recorded answers; raises `CaseError` for a case without an answer."""

    def __init__(self, answers: RecordedAnswers, system: str, name: str, axes: Sequence[str] = ()) -> None:
        """Set the system and the case.

        Args:
            answers: all recorded answers.
            system: the name of the system.
            name: the case's parameter id.
            axes: the facets that distinguish the settings of one record, such as ``noise_rate``; for messages.
        """
        self._answers = answers
        self._system = system
        self._name = name
        self._axes = axes

    overlaps = False
    light = True

    async def ahead(self, case: Case, /) -> Answer:
        """Return the recorded answer to ``case``."""
        return self(case)

    def __call__(self, case: Case, /) -> Answer:
        """Return the recorded answer to ``case``."""
        answer = self._answers.find(self._system, case, self._name)
        if answer is None:
            setting = ", ".join(f"{axis}={case.facets[axis]}" for axis in self._axes)
            label = f"{short_repr(case.instance.id, 200)}{f' with {setting}' if setting else ''}"
            message = f"no answer of system {self._system!r} is recorded for case {label}; add one or deselect it"
            raise CaseError("no_recorded_answer", message)
        answer = complete_answer(answer)
        if answer.usage is None and model_calls(answer.trace):
            answer = replace(answer, usage=usage_of_trace(answer.trace))
        charge(answer.usage, replayed=True)
        return check_outage(case, answer)
