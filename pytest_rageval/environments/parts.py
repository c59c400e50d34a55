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
    """Reads corpora: a line in the form of ``rag_corpus``, or "" for the session's corpus."""

    def check(self, line: str, /) -> None:
        """Raise `SettingError` if a line is malformed or a file is missing; read none."""
        ...

    def read(self, line: str, /) -> tuple[Passage, ...]:
        """Return the passages."""
        ...


@dataclass(frozen=True, slots=True)
class EnvironmentParts:
    """The inputs of an environment's factory.

    Attributes:
        name: the environment's name.
        kind: as the user wrote it.
        where: the begin of messages, for instance "rag_environments: wiki".
        options: of its line.
        corpora: reads corpora.
        store: where indexes are stored; None keeps them in memory.
        folder: paths and commands of the ini are relative to it.
        replays: whether recordings answer every call, if the environment is recorded.
    """

    name: str
    kind: str
    where: str
    options: ComponentOptions
    corpora: CorpusReader
    store: IndexStore | None = None
    folder: Path = Path()
    replays: bool = False
