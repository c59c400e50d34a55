"""The corpus of the ini: read once a process, before anything runs, and only where a collected test needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.locating import EvidenceLocator, names_of
from pytest_rageval.corpora.places import check_form, places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.evidence import check_evidence, with_evidence
from pytest_rageval.hooks.given import ini_folder, ini_value
from pytest_rageval.hooks.judged import check_judged
from pytest_rageval.hooks.keys import CATALOG, COLLECTED, CORPUS, ENTRY
from pytest_rageval.hooks.overrides import CORPUS_FIXTURE, EMBEDDER, MODELS, PARTS, overridden, reaches_own
from pytest_rageval.hooks.progress import in_terminal
from pytest_rageval.hooks.stale_labels import digest_labels
from pytest_rageval.retrieval import BUILTIN, FAMILIES
from pytest_rageval.retrieval.build_context import Watch, digest_of, unwatched
from pytest_rageval.text.dictionary import use_dictionaries

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.hooks.collected import Collected
    from pytest_rageval.hooks.testbed import Entry, Testbed
    from pytest_rageval.model.case import Passage
    from pytest_rageval.model.evidence import LocatedEvidence
    from pytest_rageval.model.protocols import Retriever
    from pytest_rageval.registry import Registry

__all__ = ["Corpus", "corpus_of", "read_where_needed"]

READERS = ("extractive", "llm", "rag_system")
"""The systems of the plugin that retrieve where a case supplies no passages; `closed_book` never does."""


class Corpus:
    """What the ini's ``rag_corpus`` and ``rag_chunking`` stand for.

    Attributes:
        watch: what shows how far long work on the passages has come.
        needed: whether a collected test needs the passages, or what is searched in their place.
        digest: sha256 of the passages; empty as long as they are not read.
        locator: finds the evidence of cases while the passages are read; None where no case has any.
    """

    def __init__(
        self, entries: Sequence[str], chunking: str, folder: Path, formats: Registry[Reader], watch: Watch = unwatched
    ) -> None:
        self._entries = tuple(entries)
        self._folder = folder
        self._formats = formats
        self._chunking = parse_chunking(chunking)
        self._retriever: Retriever | None = None
        self.watch = watch
        self.needed = False
        self.digest = b""
        self.locator: EvidenceLocator | None = None
        check_form(self._entries, formats)

    @cached_property
    def passages(self) -> tuple[Passage, ...] | None:
        """The passages, read when they are first asked for; None without ``rag_corpus``."""
        return self._read() if self._entries else None

    @cached_property
    def located(self) -> LocatedEvidence | None:
        """Where the passages hold the evidence of cases; None where no case has any, or no corpus is read for it."""
        if self.locator is None or self.passages is None:
            return None
        return self.locator.located(lambda name: name in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        return names_of(self.passages or ())

    def holds(self, corpus: object) -> bool:
        """Return whether ``corpus`` is what was read here."""
        return corpus is self.__dict__.get("passages", self)

    def look(self) -> None:
        """Raise what keeps the files from being found; none is opened."""
        for _ in places(self._entries, self._folder, self._formats):
            pass

    def indexed(self, build: Callable[[tuple[Passage, ...], str], Retriever]) -> Retriever:
        """Return the retriever over the passages, one for all systems, built of them and the digest."""
        if self._retriever is None:
            passages = self.passages or ()
            self._retriever = build(passages, self.digest.hex())
        return self._retriever

    def _read(self) -> tuple[Passage, ...]:
        files = places(self._entries, self._folder, self._formats)
        reading = passages(files, self._formats, self._chunking, self.locator)
        read = tuple(self.watch(reading, "reading the corpus"))
        if self.locator is not None:
            self.locator.check()
        self.digest = bytes.fromhex(digest_of(read))
        return read


def corpus_of(config: pytest.Config, watch: Watch | None = None) -> Corpus:
    """Return the corpus of the ini, its settings checked for form; ``watch`` is the terminal's where none is given.

    From the first time on Chinese is cut with the words of ``rag_user_dict``, until the session ends.
    """
    if CORPUS not in config.stash:
        lines: list[str] = ini_value(config, "rag_user_dict")
        if lines:
            config.add_cleanup(partial(use_dictionaries, ()))
            use_dictionaries([ini_folder(config) / Path(line).expanduser() for line in lines])
        entries, chunking = (ini_value(config, name) for name in ("rag_corpus", "rag_chunking"))
        formats, watch = config.stash[CATALOG].corpora, watch or in_terminal(config)
        config.stash[CORPUS] = Corpus(entries, str(chunking), ini_folder(config), formats, watch)
    return config.stash[CORPUS]


def read_where_needed(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Read the corpus if one of the tests needs it, check that it has what is judged, and make its retriever.

    Cases with evidence need it, too, because it holds the places of their evidence. What keeps that from going well is
    told before anything runs. Where nothing will run, only look for the files.
    """
    corpus = corpus_of(config)
    collected = config.stash.get(COLLECTED, None)
    searched = bool(config.getini("rag_corpus")) or (collected is not None and not collected.needs_corpus)
    corpus.needed = searched and _is_needed(config, items)
    located = with_evidence(items) if config.getini("rag_corpus") else []
    if not corpus.needed and not located:
        return
    if config.option.collectonly or config.option.rag_dry_run:
        corpus.look()
        return
    if located:
        corpus.locator = EvidenceLocator(entry.case.instance for entry in located)
    read, asking = corpus.passages, set() if collected is None else _asking(collected, items)
    if collected is not None and corpus.locator is not None:
        check_evidence(collected, located, corpus.locator)
    if collected is not None and read is not None:
        digest_labels(collected, _answered_from_it(collected, items), read)
    if collected is None or not asking:
        return
    if read is not None:
        check_judged(collected, asking, read)
    _make_retriever(collected, read)


def _make_retriever(collected: Collected, read: tuple[Passage, ...] | None) -> None:
    """Make the retriever that the session keeps; what is wrong with its settings or its index is a `RagEvalError`."""
    from pytest_rageval.hooks.fixtures import retriever_over

    try:
        retriever_over(read, collected)
    except RagEvalError:
        raise
    except Exception:  # the first case that needs it tells more
        return


def _asking(collected: Collected, items: Sequence[pytest.Item]) -> set[Testbed]:
    """Return the testbeds that the plugin's own readers and retrievers answer from the corpus of the ini."""
    asking: set[Testbed] = set()
    known: set[object] = set()
    if collected.options.retriever.partition(":")[0] not in {*BUILTIN, *FAMILIES}:
        return asking
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None or entry.case.supplied is not None or (entry.testbed, entry.responder) in known:
            continue
        known.add((entry.testbed, entry.responder))
        ours = entry.responder.name in READERS and overridden(CORPUS_FIXTURE, item) is None
        if ours and CORPUS_FIXTURE in _asked_by(collected, entry, item):
            asking.add(entry.testbed)
    return asking


def _answered_from_it(collected: Collected, items: Sequence[pytest.Item]) -> Iterator[Entry]:
    """Yield the cases whose system is given the corpus of the ini."""
    known: dict[object, bool] = {}
    for item in items:
        entry = item.stash.get(ENTRY, None)
        if entry is None:
            continue
        place = (entry.testbed.nodeid, entry.responder, entry.case.supplied is None)
        if place not in known:
            known[place] = reaches_own("rag_corpus", _asked_by(collected, entry, item), item)
        if known[place]:
            yield entry


def _is_needed(config: pytest.Config, items: Sequence[pytest.Item]) -> bool:
    collected = config.stash.get(COLLECTED, None)
    known: set[object] = set()
    for item in items:
        if CORPUS_FIXTURE in getattr(item, "fixturenames", ()) and reaches_own(CORPUS_FIXTURE, [CORPUS_FIXTURE], item):
            return True
        entry = item.stash.get(ENTRY, None)
        if entry is None or collected is None:
            continue
        place = (entry.testbed.nodeid, entry.responder, entry.case.supplied is None)
        if place not in known and reaches_own(CORPUS_FIXTURE, _asked_by(collected, entry, item), item):
            return True
        known.add(place)
    return False


def _asked_by(collected: Collected, entry: Entry, item: pytest.Item) -> list[str]:
    """Return the fixtures that answering a case sets up, as far as they may lead to the corpus."""
    name, named = entry.responder.name, entry.responder.named
    theirs = [fixture for fixture in (*PARTS, *MODELS, EMBEDDER, "rag_system") if overridden(fixture, item) is not None]
    models = [fixture for fixture in theirs if fixture in MODELS]
    if entry.testbed.recorded is not None or collected.named.get(name) is not None:
        return models
    if not named and "rag_system" in theirs:
        return ["rag_system", *models]
    parts = [fixture for fixture in theirs if fixture != "rag_system"]
    if "rag_retriever" in parts:
        return [fixture for fixture in parts if fixture != CORPUS_FIXTURE]
    retrieves = entry.case.supplied is None if name in READERS else name != "closed_book"
    return [*parts, CORPUS_FIXTURE] if retrieves else parts
