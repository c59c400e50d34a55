"""Locate the evidence of cases in their corpus, and warn of missing evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.corpora.locating import EvidenceLocator, located_in
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.config.fixture_overrides import CORPUS_FIXTURE, overridden
from pytest_rageval.model.case import Case, Passage
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry, Testbed
    from pytest_rageval.model.evidence import LocatedEvidence

__all__ = ["EvidenceCorpora", "check_evidence", "with_evidence"]


class EvidenceCorpora:
    """Locate the evidence of cases in the corpus of their test: the ini's, or a fixture's.

    Args:
        collected: the session.
    """

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._last: tuple[object, LocatedEvidence | None] = (None, None)  # a fixture's corpus and its evidence

    def located(self, case: Case, request: pytest.FixtureRequest) -> Case:
        """Return a case with its located evidence; a case without evidence, or with passages, is unchanged."""
        if not case.instance.evidence or case.supplied is not None:
            return case
        if overridden(CORPUS_FIXTURE, request.node) is None:
            return replace(case, located=self._collected.corpus.located)
        return replace(case, located=self._in_fixture(request))

    def _in_fixture(self, request: pytest.FixtureRequest) -> LocatedEvidence | None:
        """Return the evidence in the passages of the fixture ``rag_corpus``.

        Return None without passages, or if the fixture fails: the system under test reports that error.
        """
        try:
            value: object = request.getfixturevalue(CORPUS_FIXTURE)
        except (Exception, pytest.fail.Exception):
            return None
        if value is None or self._last[0] is not value:
            passages = [each for each in value if isinstance(each, Passage)] if isinstance(value, Collection) else []
            instances = (entry.case.instance for entry in self._collected.entries)
            self._last = value, located_in(passages, instances) if passages else None
        return self._last[1]


def with_evidence(items: Sequence[pytest.Item]) -> list[Entry]:
    """Return the cases that have evidence, supply no passages, and use the corpus of the ini."""
    uses_ini_corpus: dict[Testbed, bool] = {}
    entries = []
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None or not entry.case.instance.evidence or entry.case.supplied is not None:
            continue
        if entry.testbed not in uses_ini_corpus:
            uses_ini_corpus[entry.testbed] = overridden(CORPUS_FIXTURE, item) is None
        if uses_ini_corpus[entry.testbed]:
            entries.append(entry)
    return entries


def check_evidence(collected: Collected, entries: Iterable[Entry], locator: EvidenceLocator) -> None:
    """Warn of each testbed with cases whose evidence is not in the corpus: their rankings are unscored.

    The warning quotes the first missing evidence if reports contain texts.
    """
    cases: dict[Testbed, dict[str, Case]] = {}
    for entry in entries:
        cases.setdefault(entry.testbed, {})[entry.case.instance.id] = entry.case
    for testbed, by_id in cases.items():
        missing = [case.instance for case in by_id.values() if not locator.has_whole(case.instance)]
        if missing:
            count = f"{len(missing)} of {counted(len(by_id), 'case')} with evidence"
            what = f"rag_corpus does not hold the evidence of {count}, and their rankings are unscored"
            problem = f": {next(locator.missing(missing[0]))[1]}" if collected.options.texts else ""
            hint = f"the first at {missing[0].origin}{problem}; run rageval lint --corpus"
            collected.notes.append(f"{testbed.nodeid}: {what} (evidence_not_in_corpus); {hint}")
