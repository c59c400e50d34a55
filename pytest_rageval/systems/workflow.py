"""The declaration of a built-in system with options: how it reads them, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_rageval.model.protocols import System
from pytest_rageval.systems.setup import SystemSetup

if TYPE_CHECKING:
    from pytest_rageval.model.case import Query
    from pytest_rageval.model.chat import Message
    from pytest_rageval.systems.parts import SystemParts

__all__ = ["EMBEDDED", "AnyWorkflow", "Needs", "PlannedRun", "Workflow"]

EMBEDDED = "embedded"
"""The name of the model that needs no key: the rule-based player of `systems/embedded`."""

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The model calls of one case, before it runs.

    Attributes:
        messages: of the first call; empty if no model is asked.
        calls: the number of calls, or its upper bound.
        exact: whether the number is exact.
        final: whether exactly these messages will be sent first.
    """

    messages: Sequence[Message]
    calls: int
    exact: bool
    final: bool = True


@dataclass(frozen=True, slots=True)
class Needs:
    """What the files of a system name, for the checks before anything runs and for the run's fingerprint.

    Attributes:
        files: decide what the system does.
        models: the litellm names of models of its own.
        asks: whether it asks the system's model.
        retrieves: whether it searches the corpus.
        retrievers: kinds of ``rag_retriever``, each with ``file:line``.
        tools: names of tools, each with ``file:line``.
    """

    files: tuple[Path, ...] = ()
    models: tuple[str, ...] = ()
    asks: bool = True
    retrieves: bool = True
    retrievers: tuple[tuple[str, str], ...] = ()
    tools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Workflow(Generic[O]):
    """A built-in system with options. It is a `SystemFactory`.

    Attributes:
        read: reads and checks the options before anything runs, and calls ``finish`` of them. It reads no data and
            asks nothing, but finds what is missing: files, a sandbox. Raises `SettingError`.
        build: builds the system of a session.
        plan: (options, query, parts) -> the model calls of a case, for ``--rag-dry-run``.
        uses_environments: whether it calls tools; then the environment of each case is chosen and loaded early.
        uses_embedded: whether it runs with the model ``embedded`` if the session has no model.
        retrieves: whether it may use the session's retriever. A user's retriever may ask models, too.
        needs: returns what its files name.
        facet: the facet ``workflow`` of its outcomes; "" for the system's name.
    """

    read: Callable[[SystemSetup], O]
    build: Callable[[SystemParts, O], System]
    plan: Callable[[O, Query, SystemParts], PlannedRun] | None = None
    uses_environments: bool = False
    uses_embedded: bool = False
    retrieves: bool = True
    needs: Callable[[O], Needs] | None = None
    facet: str = ""

    def __call__(self, parts: SystemParts) -> System:
        """Build the system from the session's parts and the options in ``parts.setup``."""
        return self.build(parts, self.read(parts.setup))


AnyWorkflow = Workflow[Any]
