"""Evidence of cases: which cases have any, where their corpus holds it, and what the summary warns of."""

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
    """Finds the evidence of cases in the corpus that is in force for their test: the ini's, or a fixture's.

    Args:
        collected: what the session has collected.
    """

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._given: tuple[object, LocatedEvidence | None] = (None, None)

    def located(self, case: Case, request: pytest.FixtureRequest) -> Case:
        """Return a case with the places of its evidence; a case without evidence, or with passages, as it is."""
        if not case.instance.evidence or case.supplied is not None:
            return case
        if overridden(CORPUS_FIXTURE, request.node) is None:
            return replace(case, located=self._collected.corpus.located)
        return replace(case, located=self._in_fixture(request))

    def _in_fixture(self, request: pytest.FixtureRequest) -> LocatedEvidence | None:
        """Return what a fixture's passages hold; None where it gives none, or fails, as the system then tells."""
        try:
            value: object = request.getfixturevalue(CORPUS_FIXTURE)
        except (Exception, pytest.fail.Exception):
            return None
        if value is None or self._given[0] is not value:
            passages = [each for each in value if isinstance(each, Passage)] if isinstance(value, Collection) else []
            instances = (entry.case.instance for entry in self._collected.entries)
            self._given = value, located_in(passages, instances) if passages else None
        return self._given[1]


def with_evidence(items: Sequence[pytest.Item]) -> list[Entry]:
    """Return the cases with evidence that retrieve, and whose corpus no fixture gives."""
    known: dict[Testbed, bool] = {}
    entries = []
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None or not entry.case.instance.evidence or entry.case.supplied is not None:
            continue
        if entry.testbed not in known:
            known[entry.testbed] = overridden(CORPUS_FIXTURE, item) is None
        if known[entry.testbed]:
            entries.append(entry)
    return entries


def check_evidence(collected: Collected, entries: Iterable[Entry], locator: EvidenceLocator) -> None:
    """Note for each testbed how many of its cases have no evidence in the corpus, so that rankings are unscored.

    The quote of the first is left out where reports hold no texts.
    """
    cases: dict[Testbed, dict[str, Case]] = {}
    for entry in entries:
        cases.setdefault(entry.testbed, {})[entry.case.instance.id] = entry.case
    for testbed, each in cases.items():
        lost = [case.instance for case in each.values() if not locator.has_whole(case.instance)]
        if lost:
            count = f"{len(lost)} of {counted(len(each), 'case')} with evidence"
            what = f"rag_corpus does not hold the evidence of {count}, and their rankings are unscored"
            problem = f": {next(locator.missing(lost[0]))[1]}" if collected.options.texts else ""
            hint = f"the first at {lost[0].origin}{problem}; run rageval lint --corpus"
            collected.notes.append(f"{testbed.nodeid}: {what} (evidence_not_in_corpus); {hint}")
