"""Declare a built-in system: how to read its options, build it, and plan its calls."""

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

__all__ = ["NO_CALLS", "AnyWorkflow", "PlannedRun", "Requirements", "Workflow", "no_options"]

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The planned model calls of one case.

    Attributes:
        messages: the messages of the first call; empty if the case calls no model.
        calls: the number of calls, or an upper bound of it.
        exact: whether ``calls`` is exact.
        final: whether the first call will send exactly these messages.
        params: the parameters of the first call in addition to the model's own, such as ``tools`` and ``stop``.
        call_limits: (model, ``max_tokens``) of each call, if they differ; the model "" is the system's model.
        turns: maximum number of earlier replies in a prompt; None if a prompt has all of them.
        documents: maximum number of documents in the answer's ranking; None if unknown. ``erag:MEASURE`` calls a model
            for each of them.
    """

    messages: Sequence[Message]
    calls: int
    exact: bool
    final: bool = True
    params: Mapping[str, object] = field(default_factory=dict)
    call_limits: Sequence[tuple[str, int | None]] = ()
    turns: int | None = None
    documents: int | None = None


NO_CALLS = PlannedRun((), 0, exact=True, documents=0)
"""The plan of a case that calls no model."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """The models, retrievers and tools that a system's files name.

    They are checked before anything runs, and are part of the run's fingerprint.

    Attributes:
        models: the litellm names of models that its files name.
        calls_model: whether it calls the system's model.
        retrieves: whether it searches with the session's retriever.
        retrievers: other retrievers, as (``file:line``, kind of ``rag_retriever``, parameters).
        tools: the tools, as (``file:line``, name).
    """

    models: tuple[str, ...] = ()
    calls_model: bool = True
    retrieves: bool = True
    retrievers: tuple[tuple[str, str, Mapping[str, object]], ...] = ()
    tools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Workflow(Generic[O]):
    """A built-in system with options. It is a `SystemFactory`.

    Attributes:
        read: reads and checks the options before anything runs, and then calls their ``finish``. It reads no data and
            calls no model. It raises `SettingError`, for example if a file or a sandbox is missing.
        build: builds the system of a session.
        plan: (options, query, parts) -> the model calls of a case, for ``--rag-dry-run`` and ``--rag-budget-usd``;
            None if they are unknown. The parts contain no model, no retriever and no sandbox. They contain the
            environment of the case; it has no tools if it is known only when the test runs.
        uses_environments: whether it calls tools; then the environment of each case is chosen and loaded early.
        uses_embedded: whether it uses the model ``embedded`` if the session has no model.
        retrieves: whether it may use the session's retriever, which may call models, too.
        needs: returns the models, retrievers and tools that its files name.
        files: returns the files that its options name; they are part of the run's fingerprint.
        facet: the facet ``workflow`` of its outcomes; "" for the system's name.
    """

    read: Callable[[SystemSetup], O]
    build: Callable[[SystemParts, O], System]
    plan: Callable[[O, Query, SystemParts], PlannedRun] | None = None
    uses_environments: bool = False
    uses_embedded: bool = False
    retrieves: bool = True
    needs: Callable[[O], Requirements] | None = None
    files: Callable[[O], tuple[Path, ...]] | None = None
    facet: str = ""

    def __call__(self, parts: SystemParts) -> System:
        """Build the system from the session's parts and the options in ``parts.setup``."""
        return self.build(parts, self.read(parts.setup))


AnyWorkflow = Workflow[Any]


def no_options(setup: SystemSetup) -> None:
    """Accept no options: raise `SettingError` for any option."""
    setup.options.finish()
