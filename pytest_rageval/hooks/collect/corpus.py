"""The corpus of the ini: its passages are read at most once per process, before the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.retrieval.retriever_parts import Watch, digest_of, unwatched

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.corpora.locating import EvidenceLocator
    from pytest_rageval.model.case import Instance, Passage
    from pytest_rageval.model.evidence import LocatedEvidence
    from pytest_rageval.model.protocols import Retriever
    from pytest_rageval.registry import Registry

__all__ = ["Corpus"]


class Corpus:
    """The corpus that the ini settings ``rag_corpus`` and ``rag_chunking`` describe.

    Attributes:
        watch: shows a progress line during long work on the passages.
        needed: whether a collected test needs the passages, or the retriever over them.
        digest: sha256 of the passages; empty until they are read.
        locator: finds the evidence of cases while the passages are read; None if no case has evidence.
    """

    def __init__(
        self, entries: Sequence[str], chunking: str, folder: Path, formats: Registry[Reader], watch: Watch = unwatched
    ) -> None:
        self._entries = tuple(entries)
        self._folder = folder
        self._formats = formats
        self._chunking = chunking
        self._retrievers: dict[str, Retriever] = {}
        self.watch = watch
        self.needed = False
        self.digest = b""
        self.locator: EvidenceLocator | None = None
        if entries or chunking.split() not in ([], ["none"]):  # else there is no form to check
            from pytest_rageval.corpora.chunking import parse_chunking
            from pytest_rageval.corpora.places import check_form

            parse_chunking(chunking)
            check_form(self._entries, formats)

    @cached_property
    def passages(self) -> tuple[Passage, ...] | None:
        """The passages, read on first use; None without ``rag_corpus``."""
        return self._read() if self._entries else None

    @cached_property
    def located(self) -> LocatedEvidence | None:
        """The passages that contain the evidence of cases; None without a corpus or without evidence."""
        if self.locator is None or self.passages is None:
            return None
        return self.locator.located(lambda name: name in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        from pytest_rageval.corpora.locating import names_of

        return names_of(self.passages or ())

    def holds(self, corpus: object) -> bool:
        """Return whether ``corpus`` is the tuple of passages that this object has read."""
        return corpus is self.__dict__.get("passages", self)

    def missing_evidence(self, instance: Instance) -> list[str]:
        """Return a sentence for each piece of a record's evidence that the files do not contain; [] if none is missing.

        This reads the files again, without chunking.
        """
        from pytest_rageval.corpora.chunking import parse_chunking
        from pytest_rageval.corpora.locating import EvidenceLocator
        from pytest_rageval.corpora.places import places
        from pytest_rageval.corpora.reading import passages

        locator = EvidenceLocator([instance])
        files = places(self._entries, self._folder, self._formats)
        deque(passages(files, self._formats, parse_chunking("none"), locator), maxlen=0)
        return [problem for _, problem in locator.missing(instance)]

    def check_files(self) -> None:
        """Raise `RagEvalError` if a path or glob matches no file; open no file."""
        from pytest_rageval.corpora.places import places

        for _ in places(self._entries, self._folder, self._formats):
            pass

    def retriever(self, build: Callable[[tuple[Passage, ...], str], Retriever], name: str = "") -> Retriever:
        """Return a retriever over the passages; build it on first use and share it among systems.

        Args:
            build: (passages, sha256 of the passages in hex) -> the retriever.
            name: identifies the retriever; "" for the session's.
        """
        if name not in self._retrievers:
            passages = self.passages or ()
            self._retrievers[name] = build(passages, self.digest.hex())
        return self._retrievers[name]

    def _read(self) -> tuple[Passage, ...]:
        from pytest_rageval.corpora.chunking import parse_chunking
        from pytest_rageval.corpora.places import places
        from pytest_rageval.corpora.reading import passages

        files = places(self._entries, self._folder, self._formats)
        reading = passages(files, self._formats, parse_chunking(self._chunking), self.locator)
        corpus = tuple(self.watch(reading, "reading the corpus"))
        if self.locator is not None:
            self.locator.check()
        self.digest = bytes.fromhex(digest_of(corpus))
        return corpus
