"""The declaration of a built-in system with options: how it reads them, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_rageval.model.protocols import System
from pytest_rageval.systems.setup import SystemSetup

if TYPE_CHECKING:
    from pytest_rageval.model.case import Query
    from pytest_rageval.model.chat import Message
    from pytest_rageval.systems.parts import SystemParts

__all__ = ["NO_CALLS", "AnyWorkflow", "Needs", "PlannedRun", "Workflow", "no_options"]

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The model calls of one case, before it runs.

    Attributes:
        messages: of the first call; empty if no model is asked.
        calls: the number of calls, or its upper bound.
        exact: whether the number is exact.
        final: whether exactly these messages will be sent first.
        params: the parameters of the first call in addition to the model's own, such as ``tools`` and ``stop``.
        asks: (model, its ``max_tokens``) of each call if they differ; the model "" is the system's.
        turns: the most earlier replies that a prompt holds; None for all of them.
        documents: the most documents of the answer's ranking, each of which ``erag:MEASURE`` asks about; None if
            unknown.
    """

    messages: Sequence[Message]
    calls: int
    exact: bool
    final: bool = True
    params: Mapping[str, object] = field(default_factory=dict)
    asks: Sequence[tuple[str, int | None]] = ()
    turns: int | None = None
    documents: int | None = None


NO_CALLS = PlannedRun((), 0, exact=True, documents=0)
"""A case for which no model is asked."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the files of a system name, for the checks before anything runs and for the run's fingerprint.

    Attributes:
        files: decide what the system does.
        models: the litellm names of models of its own.
        asks: whether it asks the system's model.
        retrieves: whether it searches with the session's retriever.
        retrievers: other retrievers: ``file:line``, a kind of ``rag_retriever`` and its parameters.
        tools: names of tools, each with ``file:line``.
    """

    files: tuple[Path, ...] = ()
    models: tuple[str, ...] = ()
    asks: bool = True
    retrieves: bool = True
    retrievers: tuple[tuple[str, str, Mapping[str, object]], ...] = ()
    tools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Workflow(Generic[O]):
    """A built-in system with options. It is a `SystemFactory`.

    Attributes:
        read: reads and checks the options before anything runs, and calls ``finish`` of them. It reads no data and
            asks nothing, but finds what is missing: files, a sandbox. Raises `SettingError`.
        build: builds the system of a session.
        plan: (options, query, parts) -> the model calls of a case, for ``--rag-dry-run`` and ``--rag-budget-usd``;
            None if they are unknown. The parts have no model, no retriever and no sandbox. They have the environment of
            the case, without tools if it is known only when the test runs.
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


def no_options(setup: SystemSetup) -> None:
    """Read the options of a system that has none; raise `SettingError` for any."""
    setup.options.finish()
