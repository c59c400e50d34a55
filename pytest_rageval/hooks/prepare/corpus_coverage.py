"""Check that the corpus contains the judged documents and pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.rankings.pages import evidence_sets
from pytest_rageval.model.ranking import page_of

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Testbed
    from pytest_rageval.model.case import Case, Passage

__all__ = ["check_judged"]

Kind = Literal["document", "page"]


def check_judged(collected: Collected, testbeds: Collection[Testbed], passages: Sequence[Passage]) -> None:
    """Refuse a testbed if ``passages`` has none of its relevant documents; warn if some are missing.

    Check documents if the testbed's metrics compare ids, and pages if they compare pages.
    """
    kinds = {testbed: _kinds(testbed) for testbed in testbeds}
    judged: dict[tuple[Testbed, Kind], dict[str, None]] = {}
    for entry in collected.entries:
        for kind in kinds.get(entry.testbed, ()):
            relevant = dict.fromkeys(_relevant(entry.case, kind))
            if relevant:
                judged.setdefault((entry.testbed, kind), {}).update(relevant)
    if not judged or not passages:
        return
    pages = {passage.page or page_of(passage.id): passage.id for passage in reversed(passages)}
    ids = {passage.id for passage in passages}
    for (testbed, kind), relevant in judged.items():
        missing = [name for name in relevant if name not in (ids if kind == "document" else pages)]
        if len(missing) == len(relevant):
            raise SettingError(
                f"{testbed.settings.origin}: {_problem(kind, missing[0], passages[0], pages)}", code="RAG206"
            )
        if missing:
            lacks = f"{len(missing)} of the {len(relevant)} {kind}s that are judged relevant"
            collected.notes.append(f"{testbed.nodeid}: rag_corpus lacks {lacks}, the first {short_repr(missing[0])}")


def _kinds(testbed: Testbed) -> set[Kind]:
    """Return which kinds of ids a testbed's metrics compare: documents, pages, both or none.

    Metrics that only cross-check labels compare none. A testbed with a qrels file but no such metric may compute one
    in the test's body: check its pages.
    """
    labelled = any(metric.labels != "none" for metric in testbed.metrics.values())
    cross_checks = ("answer_in_context", "page_Rprec") if labelled else ("answer_in_context",)
    kinds: set[Kind] = {
        "page" if name.startswith("page_") else "document"
        for name, metric in testbed.metrics.items()
        if metric.of == "retrieval" and metric.labels == "none" and name not in cross_checks
    }
    return kinds or ({"page"} if testbed.settings.qrels is not None else set())


def _relevant(case: Case, kind: Kind) -> Iterator[str]:
    """Yield the documents or pages that are judged relevant to a case; none if the case has passages or evidence."""
    if case.supplied is not None or case.instance.evidence:
        return
    if kind == "page":
        for pages in evidence_sets(case):
            yield from sorted(pages)
    elif case.relevance == "ids":
        yield from (name for name, grade in case.qrels.items() if grade > 0)


def _problem(kind: Kind, name: str, first: Passage, pages: dict[str, str]) -> str:
    """Return the message for a corpus without any relevant document or page.

    Args:
        kind: whether documents or pages are judged.
        name: a judged document or page.
        first: the first passage of the corpus.
        pages: page -> id of one of its passages, for the whole corpus.
    """
    problem = f"rag_corpus contains no {kind} that is judged relevant"
    if kind == "document" and name in pages:
        chunk = short_repr(pages[name])
        advice = f"use page_R@k, or judge ids such as {chunk}"
        return f"{problem}: {short_repr(name)} is the page of its {chunk}; {advice}"
    known = first.id if kind == "document" else first.page or page_of(first.id)
    names = f"the qrels judge {kind}s such as {short_repr(name)}, and it has {short_repr(known)}"
    return f"{problem}: {names}; correct the qrels or rag_corpus"
