"""The inputs of an environment's factory: its name, its options and the corpora."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_rageval.environments.environment import TIMEOUT_S
from pytest_rageval.errors import SettingError, did_you_mean, short_repr

if TYPE_CHECKING:
    from pytest_rageval.model.case import Passage
    from pytest_rageval.retrieval.index_store import IndexStore

__all__ = ["CorpusReader", "EnvironmentOptions", "EnvironmentParts"]


class CorpusReader(Protocol):
    """Reads corpora: a line in the form of ``rag_corpus``, or "" for the session's corpus."""

    def check(self, line: str, /) -> None:
        """Raise `SettingError` if a line is malformed or a file is missing; read none."""
        ...

    def read(self, line: str, /) -> tuple[Passage, ...]:
        """Return the passages."""
        ...


class EnvironmentOptions:
    """The options of one line of ``rag_environments``, read one by one; call `finish` last.

    An invalid value or an unknown option raises a `SettingError` that begins with ``where``.
    """

    def __init__(self, options: Mapping[str, str], where: str) -> None:
        self._options = options
        self._where = where
        self._names: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """Return a text."""
        self._names.append(name)
        return self._options.get(name, default)

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        """Return one of the words in ``choices``."""
        value = self.text(name, default)
        if value not in choices:
            raise SettingError(f"{self._where} has {name}={value}; write {' or '.join(choices)}")
        return value

    def timeout(self) -> float:
        """Return the option ``timeout``: seconds of one call."""
        value = self.text("timeout", f"{TIMEOUT_S:g}")
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < math.inf:
            raise SettingError(f"{self._where} has timeout={value}; write a number of seconds above 0")
        return seconds

    def finish(self) -> None:
        """Raise a `SettingError` for an option that was never read."""
        for name in self._options:
            if name not in self._names:
                hint = did_you_mean(name, self._names)
                raise SettingError(f"{self._where} has the unknown option {short_repr(name)}; {hint}")


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
    """

    name: str
    kind: str
    where: str
    options: EnvironmentOptions
    corpora: CorpusReader
    store: IndexStore | None = None
