"""Build the system and judges of each case from fixtures and options, and cache them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.engine.answerers import Answerer, SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor
from pytest_rageval.engine.conversations import Conversations, RecordedConversations
from pytest_rageval.engine.inputs.scoring_input import Sources
from pytest_rageval.engine.loop import LoopThread, NoLoop
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.errors import SystemContractError
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.config.fixture_overrides import (
    EMBEDDER,
    ENVIRONMENTS_FIXTURE,
    MODELS,
    PARTS,
    overridden,
    session_params,
)
from pytest_rageval.hooks.config.model_clients import ASYNC_DEFAULT
from pytest_rageval.hooks.run.system_parts import PartsOfTests
from pytest_rageval.model.chat import EMBEDDED
from pytest_rageval.systems.adapters import adapt_system
from pytest_rageval.systems.calling import is_async
from pytest_rageval.threads import CallLimit

if TYPE_CHECKING:
    from pytest_rageval.engine.local_verdicts import LocalVerdicts
    from pytest_rageval.engine.recorded_answers import RecordedAnswerer
    from pytest_rageval.engine.vectors import Vectors
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.llm.client.clients import Client, Embedder
    from pytest_rageval.llm.client.journal import Journal
    from pytest_rageval.model.answer import Answer
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.protocols import Retriever, System

__all__ = ["CaseExecutors", "Origin"]

Origin = tuple[object, ...]
"""Identifies a system in one process: its name, the fixtures that it uses and their parameters."""

LIMITED_BY_CLIENT = ("llm", "closed_book")
"""Built-in systems without a limit on concurrent answers: the model client already limits their calls."""


class CaseExecutors:
    """Builds a desk for each combination of system and fixtures in one process, and caches it.

    A desk asks one system, and has the models and judges that score its answers.

    Args:
        collected: the cases and settings of the session.
        loop: the event loop that runs async systems.
        shared: the folder that the processes of the session share; None without one.
        journal: stores the calls of this process.
    """

    def __init__(self, collected: Collected, loop: LoopThread, shared: Path | None, journal: Journal) -> None:
        self._collected = collected
        self._shared = shared
        self._journal = journal
        self._models = collected.models
        self._models.loop = loop
        self._loop = loop
        self._replays = collected.options.record_mode == "none" and not collected.options.record_cases
        self._records = self._models.cassettes is not None or self._models.http is not None
        self._origins: dict[object, Origin] = {}
        self._cached: dict[Origin, tuple[CaseExecutor, list[tuple[pytest.FixtureDef[Any], object]]]] = {}
        limit = collected.options.concurrency
        self._coroutines = CallLimit(limit or ASYNC_DEFAULT)
        self._threads = self._coroutines if limit else CallLimit(1)
        self._vectors: dict[Embedder, Vectors] = {}
        self._local_judges = _local_verdicts(collected)
        self._systems: list[SystemAnswerer] = []
        self._parts = PartsOfTests(collected)

    def close(self) -> None:
        """End the threads of sync systems and the processes of the sandbox."""
        self._threads.threads.close()
        self._parts.close()

    def retriever(self, request: pytest.FixtureRequest) -> Retriever | None:
        """Return the retriever of a test; None without a corpus."""
        return self._parts.retriever(request)

    @property
    def hint(self) -> str | None:
        """The first hint of a slow system; None if there is none."""
        return next((system.hint for system in self._systems if system.hint), None)

    @property
    def answering(self) -> list[SystemAnswerer]:
        """The systems that were built so far; a system is listed again if its fixtures were set up again."""
        return list(self._systems)

    def origin(self, item: pytest.Item, entry: Entry) -> Origin:
        """Return the identity of a test's system: its name, the user's fixtures that it uses, and their parameters."""
        params = tuple(sorted(session_params(item).items()))
        key = (entry.testbed.nodeid, entry.responder, params)
        if key not in self._origins:  # the same for every case of a testbed
            embedder = (entry.testbed.embeds, overridden(EMBEDDER, item) if entry.testbed.embeds else None)
            self._origins[key] = (*self._find_origin(item, entry), *embedder, params)
        return self._origins[key]

    def known(self, origin: Origin) -> CaseExecutor | None:
        """Return the cached desk of a system; None if there is none, or if its fixtures were set up again."""
        executor, results = self._cached.get(origin, (None, ()))
        for fixture, result in results:
            if fixture.cached_result is not result:  # each setup creates a new object, teardown sets None
                return None
        return executor

    def get(self, request: pytest.FixtureRequest, entry: Entry, origin: Origin) -> CaseExecutor:
        """Return the desk of a system; build it if it is not cached. Errors of fixtures and factories propagate."""
        executor = self.known(origin)
        if executor is None:
            executor = self._executor(request, entry, origin)
            fixtures = [part for part in origin if isinstance(part, pytest.FixtureDef)]
            if entry.responder.lasting and all(fixture.scope == "session" for fixture in fixtures):
                self._cached[origin] = executor, [(fixture, fixture.cached_result) for fixture in fixtures]
        return self.for_entry(executor, entry)

    def for_entry(self, executor: CaseExecutor, entry: Entry) -> CaseExecutor:
        """Return a desk that reads the recorded answers of an entry; the same desk if it has none."""
        recorded, answerer, system = entry.testbed.recorded, _recorded_answerer(entry), entry.responder.name
        if recorded is None or answerer is None:
            return executor
        return replace(executor, answerer=answerer, conversations=RecordedConversations(recorded, answerer, system))

    def _find_origin(self, item: pytest.Item, entry: Entry) -> Origin:
        name = entry.responder.name
        models = tuple(overridden(model, item) for model in MODELS)
        if entry.testbed.recorded is not None:
            return (entry.testbed.recorded, name, *models)
        if self._collected.named.get(entry.responder.kind) is not None:
            return (name, *models)
        system = None if entry.responder.named else overridden("rag_system", item)
        if system is not None:
            return (system, *models)
        return (name, *(overridden(part, item) for part in (*PARTS, EMBEDDER, ENVIRONMENTS_FIXTURE)), *models)

    def _executor(self, request: pytest.FixtureRequest, entry: Entry, origin: Origin) -> CaseExecutor:
        llm, judge = (self._model(request, fixture) for fixture in MODELS)
        if entry.responder.model:
            llm = self._models.named("rag_llm", entry.responder.model)
        answerer = self._answerer(request, entry, llm, _digest(origin))
        panelists = {name: self._models.named("rag_judge", name) for name in self._collected.options.panelists}
        sources = Sources(
            loop=self._loop,
            system=OnceCache(answerer) if isinstance(answerer, SystemAnswerer) else None,
            llm=None if llm is not None and llm.name == EMBEDDED else llm,  # it answers no plain question
            judge=judge,
            vectors=self._vectors_of(self._embedder(request)) if entry.testbed.embeds else None,
            prompts=self._models.prompts,
            panels=self._collected.panels,
            panelists={**panelists, "rag_judge": judge},
            local_judges=self._local_judges,
        )
        return CaseExecutor(
            answerer=answerer,
            sources=sources,
            markers=self._collected.options.markers,
            conversations=self._conversations(answerer, origin) if isinstance(answerer, SystemAnswerer) else None,
            cassettes=self._models.cassettes,
            replays=self._replays,
            loading=self._models.loading,
            journal=self._journal,
            metered=llm is not None or judge is not None or bool(panelists) or self._records,
            renewed=frozenset(self._collected.options.record_cases),
        )

    def _conversations(self, answerer: SystemAnswerer, origin: Origin) -> Conversations:
        """Return the conversations of a system; all processes share the answers to earlier turns."""
        known = list(self._resumed_turns(origin))
        if self._shared is None:
            return Conversations(answerer, None, known)
        from pytest_rageval.engine.shared_answers import SharedAnswers

        return Conversations(answerer, SharedAnswers(self._shared / _digest(origin)), known)

    def _resumed_turns(self, origin: Origin) -> Iterator[tuple[Case, int, Answer]]:
        """Yield case, repeat and answer for the dialogue turns of a system that are taken over from a resumed run."""
        for item, outcome in self._collected.resumed_items.items():
            entry = item.stash[ENTRY]
            if outcome is None or outcome.answer is None or self.origin(item, entry) != origin:
                continue
            case = self._collected.session_case(entry).with_history(outcome.history or ())
            yield replace(case, earlier=None), int(case.facets.get("repeat", "1")), outcome.answer

    def _model(self, request: pytest.FixtureRequest, fixture: str) -> Client | None:
        """Return the client of the fixture ``rag_llm`` or ``rag_judge``; None without a model."""
        if overridden(fixture, request.node) is None:
            return self._models.client_of_options(fixture)
        return self._models.client_of(request.getfixturevalue(fixture), fixture)

    def _embedder(self, request: pytest.FixtureRequest) -> Embedder | None:
        if overridden(EMBEDDER, request.node) is None:
            return self._models.embedder_of_options()
        return self._models.embedder_of(request.getfixturevalue(EMBEDDER))

    def _vectors_of(self, embedder: Embedder | None) -> Vectors | None:
        """Return the vectors of an embedding model; all desks share them."""
        if embedder is None:
            return None
        if embedder not in self._vectors:
            from pytest_rageval.engine.vectors import Vectors

            together = self._models.cassettes is None
            self._vectors[embedder] = Vectors(embedder, together=together, versions=self._collected.versions)
        return self._vectors[embedder]

    def _answerer(self, request: pytest.FixtureRequest, entry: Entry, llm: Client | None, origin: str) -> Answerer:
        name, kind = entry.responder.name, entry.responder.kind
        if (answerer := _recorded_answerer(entry)) is not None:
            return answerer
        system = self._system(request, entry, llm)
        parts = [part for part in PARTS if overridden(part, request.node) is not None]
        is_builtin = entry.responder.named and self._collected.named.get(kind) is None
        bound: CallLimit | None = self._coroutines if is_async(system) else self._threads
        if is_builtin and kind in LIMITED_BY_CLIENT and "rag_generator" not in parts:
            bound = None
        light = is_builtin and kind == "extractive" and parts in ([], ["rag_corpus"]) and _searches_in_place(system)
        search = getattr(getattr(system, "retriever", None), "search", None)  # of a system that the ini names
        waits = bound is not None or not self._replays or "rag_retriever" in parts or is_async(search)
        loop = self._loop if waits else NoLoop()
        asks_directly = name in self._collected.direct or self._models.http is not None
        budget = self._models.budget if asks_directly else None
        system_answerer = SystemAnswerer(system, name, loop, bound, light=light, budget=budget, origin=origin)
        self._systems.append(system_answerer)
        return system_answerer

    def _system(self, request: pytest.FixtureRequest, entry: Entry, llm: Client | None) -> System:
        """Return the system that an option names, else the fixture ``rag_system``, else the default system."""
        embedder, responder = self._embedder(request), entry.responder
        if responder.named:
            factory = self._collected.catalog.systems.get
            loaded = self._collected.named.get(responder.kind)
            parts = self._parts.parts
            return loaded or _callable(factory(responder.kind)(parts(request, llm, embedder, responder)), "its factory")
        if overridden("rag_system", request.node) is not None:
            return _callable(request.getfixturevalue("rag_system"), "the rag_system fixture")
        from pytest_rageval.systems.naive import naive

        return naive(self._parts.parts(request, llm, embedder))


def _local_verdicts(collected: Collected) -> Mapping[str, LocalVerdicts]:
    """Return the local judges of a session by name, in the form that the engine asks."""
    if not collected.local_judges:
        return {}
    from pytest_rageval.engine.local_verdicts import LocalVerdicts  # this import takes time

    return {name: LocalVerdicts(each) for name, each in collected.local_judges.items()}


def _recorded_answerer(entry: Entry) -> RecordedAnswerer | None:
    """Return the answerer that reads an entry's recorded answers; None if a system is asked."""
    testbed = entry.testbed
    if testbed.recorded is None:
        return None
    from pytest_rageval.engine.recorded_answers import RecordedAnswerer

    return RecordedAnswerer(testbed.recorded, entry.responder.name, entry.name, testbed.settings.multiplied)


def _searches_in_place(system: System) -> bool:
    """Return whether a system's retriever may run on the event loop; True without a retriever."""
    retriever = getattr(system, "retriever", None)
    return retriever is None or bool(getattr(retriever, "in_place", False))


def _digest(origin: Origin) -> str:
    """Return a hash of an origin that is the same in all processes."""
    names = [f"{part.baseid}:{part.argname}" if isinstance(part, pytest.FixtureDef) else part for part in origin]
    return sha256(repr(names).encode()).hexdigest()


def _callable(system: System, source: str) -> System:
    """Return a system as a callable; raise `SystemContractError` if it cannot be called."""
    adapted = adapt_system(system)
    if adapted is None:
        raise SystemContractError(f"{source} gave {type(system).__name__}, which cannot be called")
    return adapted
