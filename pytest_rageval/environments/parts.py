"""The inputs of an environment's factory: its name, its options and the corpora."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_rageval.component_options import ComponentOptions

if TYPE_CHECKING:
    from pytest_rageval.model.case import Passage
    from pytest_rageval.retrieval.index_store import IndexStore

__all__ = ["CorpusReader", "EnvironmentParts"]


class CorpusReader(Protocol):
    """Reads corpora. A corpus is a line as in ``rag_corpus``, or "" for the session's corpus."""

    def check(self, line: str, /) -> None:
        """Raise `SettingError` if a line is malformed or a file is missing; do not read the files."""
        ...

    def read(self, line: str, /) -> tuple[Passage, ...]:
        """Return the passages of a corpus."""
        ...


@dataclass(frozen=True, slots=True)
class EnvironmentParts:
    """The inputs of an environment's factory.

    Attributes:
        name: the environment's name.
        kind: the kind, as the user wrote it.
        where: the start of messages, for example "rag_environments: wiki".
        options: the options in its line.
        corpora: the reader of corpora.
        store: where indexes are stored; None keeps them in memory.
        folder: the folder that paths and commands in the ini are relative to.
        replays: whether every call of a recorded environment is answered from recordings.
    """

    name: str
    kind: str
    where: str
    options: ComponentOptions
    corpora: CorpusReader
    store: IndexStore | None = None
    folder: Path = Path()
    replays: bool = False
