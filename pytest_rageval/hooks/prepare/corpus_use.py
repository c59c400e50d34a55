"""Read the corpus if a test needs it, check it against the cases, and build the retriever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import RagEvalError, SettingError
from pytest_rageval.hooks.collect.asking_tests import entries_of
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.collect.session_corpus import corpus_of
from pytest_rageval.hooks.collect.workflows import needs_of
from pytest_rageval.hooks.config.fixture_overrides import (
    CORPUS_FIXTURE,
    EMBEDDER,
    ENVIRONMENTS_FIXTURE,
    MODELS,
    PARTS,
    overridden,
    reaches_own,
)
from pytest_rageval.hooks.config.options import Options

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.corpus import Corpus
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry, Testbed
    from pytest_rageval.model.case import Passage

__all__ = ["READERS", "read_if_needed"]


READERS = ("extractive", "llm", "rag_system")
"""Built-in systems that retrieve if a case supplies no passages; ``closed_book`` never retrieves."""


def read_if_needed(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Read the corpus if a test needs it, check that it has the judged documents, and build its retriever.

    Cases with evidence also need the corpus, to locate their evidence. If no test will run, only check that the files
    exist.
    """
    corpus = corpus_of(config)
    collected = config.stash.get(COLLECTED, None)
    can_retrieve = bool(Options.corpus.read(config)) or (collected is not None and not collected.needs_corpus)
    corpus.needed = can_retrieve and _is_needed(config, items)
    evidence_cases = []
    if Options.corpus.read(config):
        from pytest_rageval.hooks.prepare.evidence import with_evidence

        evidence_cases = with_evidence(items)
    if not corpus.needed and not evidence_cases:
        return
    if config.option.collectonly or config.option.rag_dry_run:
        corpus.check_files()
        return
    if evidence_cases:
        from pytest_rageval.corpora.locating import EvidenceLocator

        corpus.locator = EvidenceLocator(entry.case.instance for entry in evidence_cases)
    _prepare(corpus, collected, items, evidence_cases)


def _prepare(
    corpus: Corpus, collected: Collected | None, items: Sequence[pytest.Item], evidence_cases: Sequence[Entry]
) -> None:
    """Read the corpus, check it against the cases, and build the retriever."""
    from pytest_rageval.hooks.prepare.corpus_coverage import check_judged
    from pytest_rageval.hooks.prepare.evidence import check_evidence
    from pytest_rageval.hooks.prepare.stale_labels import digest_labels

    passages, users = corpus.passages, set() if collected is None else _corpus_users(collected, items)
    if collected is not None and corpus.locator is not None:
        check_evidence(collected, evidence_cases, corpus.locator)
    if collected is not None and passages is not None:
        digest_labels(collected, _corpus_cases(collected, items), passages)
    if collected is None:
        return
    if users and passages is not None:
        check_judged(collected, users, passages)
    if users:
        _build_retriever(collected, passages, items)
    _build_chain_retrievers(collected, items, passages)


def _build_retriever(collected: Collected, passages: tuple[Passage, ...] | None, items: Sequence[pytest.Item]) -> None:
    """Build the session's retriever; raise `RagEvalError` for an invalid setting or index."""
    from pytest_rageval.hooks.prepare.retriever import retriever_over

    with _ignoring_foreign_errors():
        retriever = retriever_over(passages, collected)
        if getattr(retriever, "lacks_embedder", False) and collected.models.setting(EMBEDDER).name is None:
            _check_embedder(items)


def _check_embedder(items: Sequence[pytest.Item]) -> None:
    """Raise `SettingError` if no user's fixture embeds the questions."""
    if all(overridden(EMBEDDER, item) is None for item in items):
        problem = 'rag_retriever_params has a query with "{vector}", and no model embeds the questions'
        raise SettingError(f"{problem}; set rag_embedder_model, or override the fixture {EMBEDDER}")


def _build_chain_retrievers(
    collected: Collected, items: Sequence[pytest.Item], passages: tuple[Passage, ...] | None
) -> None:
    """Build the retrievers that chains name; raise `RagEvalError` for an invalid parameter or index."""
    from pytest_rageval.hooks.prepare.retriever import retriever_of_kind

    entries = [each for item in items if overridden(CORPUS_FIXTURE, item) is None for each in entries_of(item)]
    for responder in dict.fromkeys(entry.responder for entry in entries if entry.case.supplied is None):
        needs = needs_of(collected, responder)
        for where, kind, params in () if needs is None else needs.retrievers:
            with _naming_chain(where, kind), _ignoring_foreign_errors():
                retriever_of_kind(kind, params, passages, collected)


@contextmanager
def _naming_chain(where: str, kind: str) -> Iterator[None]:
    """Name the chain in an error about its retriever's parameters, instead of the ini option."""
    try:
        yield
    except SettingError as error:
        problem = str(error).replace("rag_retriever_params has", f"the retriever {kind} has")
        raise SettingError(f"{where}: {problem}", code=error.code) from error


@contextmanager
def _ignoring_foreign_errors() -> Iterator[None]:
    """Ignore an error of foreign code: the first case that needs the retriever reports it with more detail."""
    try:
        yield
    except RagEvalError:
        raise
    except Exception:
        return


def _corpus_users(collected: Collected, items: Sequence[pytest.Item]) -> set[Testbed]:
    """Return the testbeds whose built-in system retrieves from the corpus of the ini."""
    users: set[Testbed] = set()
    known: set[object] = set()
    from pytest_rageval.retrieval import BUILTIN, FAMILIES

    if collected.options.retriever.partition(":")[0] not in {*BUILTIN, *FAMILIES}:
        return users
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None or entry.case.supplied is not None or (entry.testbed, entry.responder) in known:
            continue
        known.add((entry.testbed, entry.responder))
        needs = needs_of(collected, entry.responder)
        searches = entry.responder.kind in READERS or (needs is not None and needs.retrieves)
        is_builtin = searches and overridden(CORPUS_FIXTURE, item) is None
        if is_builtin and CORPUS_FIXTURE in _fixtures_of(collected, entry, item):
            users.add(entry.testbed)
    return users


def _corpus_cases(collected: Collected, items: Sequence[pytest.Item]) -> Iterator[Entry]:
    """Yield the cases whose system uses the corpus of the ini."""
    known: dict[object, bool] = {}
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None:
            continue
        key = (entry.testbed.nodeid, entry.responder, entry.case.supplied is None)
        if key not in known:
            known[key] = reaches_own("rag_corpus", _fixtures_of(collected, entry, item), item)
        if known[key]:
            yield entry


def _is_needed(config: pytest.Config, items: Sequence[pytest.Item]) -> bool:
    """Return whether a test, or the system of its case, uses the corpus of the ini."""
    collected = config.stash.get(COLLECTED, None)
    known: set[object] = set()
    for item in items:
        if CORPUS_FIXTURE in getattr(item, "fixturenames", ()) and reaches_own(CORPUS_FIXTURE, [CORPUS_FIXTURE], item):
            return True
        if collected is None:
            continue
        for entry in entries_of(item):
            key = (entry.testbed.nodeid, entry.responder, entry.case.supplied is None)
            if key not in known and reaches_own(CORPUS_FIXTURE, _fixtures_of(collected, entry, item), item):
                return True
            known.add(key)
    return False


def _fixtures_of(collected: Collected, entry: Entry, item: pytest.Item) -> list[str]:
    """Return the fixtures that are set up to answer a case and may use the corpus."""
    name = entry.responder.kind
    fixtures = (*PARTS, *MODELS, EMBEDDER, ENVIRONMENTS_FIXTURE, "rag_system")
    user_fixtures = [fixture for fixture in fixtures if overridden(fixture, item) is not None]
    models = [fixture for fixture in user_fixtures if fixture in MODELS]
    if entry.testbed.recorded is not None or collected.named.get(name) is not None:
        return models
    if not entry.responder.named and "rag_system" in user_fixtures:
        return ["rag_system", *models]
    parts = [fixture for fixture in user_fixtures if fixture != "rag_system"]
    needs = needs_of(collected, entry.responder)
    if "rag_retriever" in parts and (needs is None or not needs.retrievers):
        return [fixture for fixture in parts if fixture != CORPUS_FIXTURE]
    if needs is not None and not (needs.retrieves or needs.retrievers or needs.tools):
        return parts
    retrieves = entry.case.supplied is None if name in READERS else name != "closed_book"
    return [*parts, CORPUS_FIXTURE] if retrieves else parts
