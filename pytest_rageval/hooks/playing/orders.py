"""The arguments of `rageval play`, and the questions of its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.systems.chains.find_chain import shipped_chains

__all__ = ["AskOrder", "PlayOrder", "chain_system"]


@dataclass(frozen=True, slots=True)
class PlayOrder:
    """The project parts that `rageval play` opens.

    Attributes:
        chain: a chain's file, a shipped chain or an alias of ``rag_systems``; None for no chain.
        systems: names of systems, in the form of ``--rag-system``; () for those of the project.
        dataset: ``format:path`` of the dataset whose records are the cases; None for the cases of the project's tests.
    """

    chain: str | None = None
    systems: tuple[str, ...] = ()
    dataset: str | None = None

    @property
    def all_systems(self) -> tuple[str, ...]:
        """The names of the systems; that of the chain is the first one."""
        chains = () if self.chain is None else (chain_system(self.chain),)
        return (*chains, *self.systems)

    def options(self) -> Iterator[str]:
        """Yield the options for pytest that select the systems."""
        for system in self.all_systems:
            yield from ("--rag-system", system)

    @property
    def located_dataset(self) -> str | None:
        """The dataset, with an absolute path if the file exists relative to the current folder."""
        if self.dataset is None:
            return None
        name, colon, text = self.dataset.partition(":")
        return f"{name}{colon}{Path(text).absolute()}" if text and Path(text).exists() else self.dataset


@dataclass(frozen=True, slots=True)
class AskOrder:
    """A question to a system.

    Attributes:
        system: the name of the system; "" for the project's first.
        question: the question; None for that of the case.
        case: the id of a case, or its node id; None for a typed question.
        passages: the passages to supply; None for those of the case, or for the system's own search.
        history: the earlier turns; None for those of the case.
    """

    system: str = ""
    question: str | None = None
    case: str | None = None
    passages: tuple[Passage, ...] | None = None
    history: tuple[Turn, ...] | None = None


def chain_system(chain: str) -> str:
    """Return the system name of a chain: ``chain:`` plus the file or shipped chain, or the alias unchanged."""
    is_file = chain.partition("@")[0].endswith(".toml") or chain.partition("@")[0] in shipped_chains()
    return f"chain:{chain}" if is_file else chain
