"""What `rageval play` opens, and what its page asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.systems.chains.find_chain import shipped_chains

__all__ = ["AskOrder", "PlayOrder", "chain_system"]


@dataclass(frozen=True, slots=True)
class PlayOrder:
    """What to open.

    Attributes:
        chain: a chain's file, a shipped chain or an alias of ``rag_systems``; None for none.
        systems: names of systems, as in ``--rag-system``; () for those of the project.
        dataset: ``format:path``, whose records are the cases; None for the cases of the project's tests.
    """

    chain: str | None = None
    systems: tuple[str, ...] = ()
    dataset: str | None = None

    @property
    def all_systems(self) -> tuple[str, ...]:
        """The names of the systems, with that of the chain first."""
        chains = () if self.chain is None else (chain_system(self.chain),)
        return (*chains, *self.systems)

    def options(self) -> Iterator[str]:
        """Yield pytest's options."""
        for system in self.all_systems:
            yield from ("--rag-system", system)

    @property
    def located_dataset(self) -> str | None:
        """The dataset with its path made absolute, if it exists relative to the current folder."""
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
        case: the node id of a case, or its id; None for a question that is no case.
        passages: what the system is given; None leaves that to the case, or to the system's own search.
        history: earlier turns; None for those of the case.
    """

    system: str = ""
    question: str | None = None
    case: str | None = None
    passages: tuple[Passage, ...] | None = None
    history: tuple[Turn, ...] | None = None


def chain_system(chain: str) -> str:
    """Return the name of a chain's system: an alias as it is, a file or a shipped chain behind ``chain:``."""
    is_file = chain.partition("@")[0].endswith(".toml") or chain.partition("@")[0] in shipped_chains()
    return f"chain:{chain}" if is_file else chain
