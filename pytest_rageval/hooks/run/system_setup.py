"""Who answers and who judges each case: the fixtures and options in force, made into desks that last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.engine.answerers import Answerer, SystemAnswerer
from pytest_rageval.engine.asking import Desk
from pytest_rageval.engine.conversations import Conversations, RecordedConversations
from pytest_rageval.engine.document_answers import Readings
from pytest_rageval.engine.loop import LoopThread, NoLoop
from pytest_rageval.engine.recorded_answers import RecordedAnswerer
from pytest_rageval.engine.shared_answers import SharedAnswers
from pytest_rageval.engine.vectors import Vectors
from pytest_rageval.errors import SystemContractError
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.config.fixture_overrides import EMBEDDER, MODELS, PARTS, overridden, session_params
from pytest_rageval.hooks.config.model_clients import ASYNC_DEFAULT
from pytest_rageval.hooks.prepare.retriever import retriever_over
from pytest_rageval.retrieval.adapt_retriever import adapted
from pytest_rageval.systems.adapters import adapted_system
from pytest_rageval.systems.calling import is_async
from pytest_rageval.systems.naive import naive
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.threads import Bound

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.llm.client.chat import Client
    from pytest_rageval.llm.client.embedder import Embedder
    from pytest_rageval.llm.client.journal import Journal
    from pytest_rageval.model.answer import Answer
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.protocols import System

__all__ = ["Desks", "Origin"]

Origin = tuple[object, ...]
"""What gives a system: names, fixtures, parameters."""

CLIENTS_BOUND = ("llm", "closed_book")
"""The systems whose calls the model client itself keeps within bounds."""


class Desks:
    """The desks of one process, one for each set of systems and fixtures in force."""

    def __init__(self, collected: Collected, loop: LoopThread, shared: Path | None, journal: Journal) -> None:
        self._collected = collected
        self._shared = shared
        self._journal = journal
        self._models = collected.models
        self._models.loop = loop
        self._loop = loop
        self._replays = collected.options.record_mode == "none"
        self._origins: dict[object, Origin] = {}
        self._lasting: dict[Origin, tuple[Desk, list[object]]] = {}
        most = collected.options.concurrency
        self._coroutines = Bound(most or ASYNC_DEFAULT)
        self._threads = self._coroutines if most else Bound(1)
        self._vectors: dict[Embedder, Vectors] = {}
        self._systems: list[SystemAnswerer] = []

    def close(self) -> None:
        """Let the threads of sync systems go."""
        self._threads.threads.close()

    @property
    def hint(self) -> str | None:
        """The first system's hint that has one."""
        return next((system.hint for system in self._systems if system.hint), None)

    def origin(self, item: pytest.Item, entry: Entry) -> Origin:
        """Return what gives the system: its name, the fixtures in force that it is or is made of, their parameters."""
        params = tuple(sorted(session_params(item).items()))
        place = (entry.testbed.nodeid, entry.responder, params)
        if place not in self._origins:  # it is the same for every case of a testbed
            embedder = (entry.testbed.embeds, overridden(EMBEDDER, item) if entry.testbed.embeds else None)
            self._origins[place] = (*self._find_origin(item, entry), *embedder, params)
        return self._origins[place]

    def known(self, origin: Origin) -> Desk | None:
        """Return the desk of an origin that has been made and lasts; fixtures may have been set up anew since."""
        desk, values = self._lasting.get(origin, (None, []))
        return desk if _same(values, _values(origin)) else None

    def get(self, request: pytest.FixtureRequest, entry: Entry, origin: Origin) -> Desk:
        """Return the desk of an origin; what a fixture or a factory raises goes through."""
        desk = self.known(origin)
        if desk is None:
            desk = self._desk(request, entry, origin)
            if entry.responder.lasting and all(fixture.scope == "session" for fixture in _fixtures(origin)):
                self._lasting[origin] = desk, _values(origin)
        return self.for_entry(desk, entry)

    def for_entry(self, desk: Desk, entry: Entry) -> Desk:
        """Return a lasting desk for one case: recorded answers are found by its name, all else is the same."""
        recorded, answerer, system = entry.testbed.recorded, _from_the_record(entry), entry.responder.name
        if recorded is None or answerer is None:
            return desk
        return replace(desk, answerer=answerer, conversations=RecordedConversations(recorded, answerer, system))

    def _find_origin(self, item: pytest.Item, entry: Entry) -> Origin:
        name = entry.responder.name
        models = tuple(overridden(model, item) for model in MODELS)
        if entry.testbed.recorded is not None:
            return (entry.testbed.recorded, name, *models)
        if self._collected.named.get(name) is not None:
            return (name, *models)
        system = None if entry.responder.named else overridden("rag_system", item)
        if system is not None:
            return (system, *models)
        return (name, *(overridden(part, item) for part in (*PARTS, EMBEDDER)), *models)

    def _desk(self, request: pytest.FixtureRequest, entry: Entry, origin: Origin) -> Desk:
        llm, judge = (self._model(request, fixture) for fixture in MODELS)
        closed_book = None
        if llm is not None:
            from pytest_rageval.systems.closed_book import build as build_closed_book

            system = build_closed_book(SystemParts(llm=llm, prompts=self._models.prompts))
            closed_book = SystemAnswerer(system, "closed_book", self._loop)
        answerer = self._answerer(request, entry, llm, _digest(origin))
        panelists = {name: self._models.named("rag_judge", name) for name in self._collected.options.panelists}
        return Desk(
            answerer=answerer,
            loop=self._loop,
            markers=self._collected.options.markers,
            judge=judge,
            closed_book=closed_book,
            readings=Readings(answerer) if isinstance(answerer, SystemAnswerer) else None,
            vectors=self._vectors_of(self._embedder(request)) if entry.testbed.embeds else None,
            conversations=self._conversations(answerer, origin) if isinstance(answerer, SystemAnswerer) else None,
            cassettes=self._models.cassettes,
            replays=self._replays,
            loading=self._models.loading,
            journal=self._journal,
            panels=self._collected.panels,
            panelists={**panelists, "rag_judge": judge},
            metered=llm is not None or judge is not None or bool(panelists) or self._models.cassettes is not None,
        )

    def _conversations(self, answerer: SystemAnswerer, origin: Origin) -> Conversations:
        """Return what answers turns; processes share what the same system has said to them."""
        known = list(self._turns_taken(origin))
        if self._shared is None:
            return Conversations(answerer, None, known)
        return Conversations(answerer, SharedAnswers(self._shared / _digest(origin)), known)

    def _turns_taken(self, origin: Origin) -> Iterator[tuple[Case, int, Answer]]:
        """Yield what the system of an origin answered to turns that are taken over from another run."""
        for item, outcome in self._collected.taken.items():
            entry = item.stash[ENTRY]
            if outcome is None or outcome.answer is None or self.origin(item, entry) != origin:
                continue
            case = self._collected.session_case(entry).with_history(outcome.history or ())
            yield replace(case, earlier=None), int(case.facets.get("repeat", "1")), outcome.answer

    def _model(self, request: pytest.FixtureRequest, fixture: str) -> Client | None:
        if overridden(fixture, request.node) is None:
            return self._models.own(fixture)
        return self._models.client_of(request.getfixturevalue(fixture), fixture)

    def _embedder(self, request: pytest.FixtureRequest) -> Embedder | None:
        if overridden(EMBEDDER, request.node) is None:
            return self._models.own_embedder()
        return self._models.embedder_of(request.getfixturevalue(EMBEDDER))

    def _vectors_of(self, embedder: Embedder | None) -> Vectors | None:
        """Return what asks an embedding model, the same for all desks."""
        if embedder is None:
            return None
        if embedder not in self._vectors:
            together = self._models.cassettes is None
            self._vectors[embedder] = Vectors(embedder, together=together, versions=self._collected.versions)
        return self._vectors[embedder]

    def _answerer(self, request: pytest.FixtureRequest, entry: Entry, llm: Client | None, origin: str) -> Answerer:
        name = entry.responder.name
        if (answerer := _from_the_record(entry)) is not None:
            return answerer
        system = self._system(request, entry, llm)
        parts = [part for part in PARTS if overridden(part, request.node) is not None]
        own = entry.responder.named and self._collected.named.get(name) is None
        bound: Bound | None = self._coroutines if is_async(system) else self._threads
        if own and name in CLIENTS_BOUND and "rag_generator" not in parts:
            bound = None
        light = own and name == "extractive" and parts in ([], ["rag_corpus"]) and _searches_in_place(system)
        search = getattr(getattr(system, "retriever", None), "search", None)  # of one that the ini names
        waits = bound is not None or not self._replays or "rag_retriever" in parts or is_async(search)
        loop = self._loop if waits else NoLoop()
        budget = self._models.budget if name in self._collected.unseen else None
        asked = SystemAnswerer(system, name, loop, bound, light=light, budget=budget, origin=origin)
        self._systems.append(asked)
        return asked

    def _system(self, request: pytest.FixtureRequest, entry: Entry, llm: Client | None) -> System:
        name = entry.responder.name
        if entry.responder.named:
            factory = self._collected.catalog.systems.get
            loaded = self._collected.named.get(name)
            return loaded or _callable(factory(name)(self._parts(request, llm)), "its factory")
        if overridden("rag_system", request.node) is not None:
            return _callable(request.getfixturevalue("rag_system"), "the rag_system fixture")
        return naive(self._parts(request, llm))

    def _parts(self, request: pytest.FixtureRequest, llm: Client | None) -> SystemParts:
        """Return the parts in force for a test; two folders may override ``rag_corpus``, and each gets its own."""
        if overridden("rag_retriever", request.node) is not None:
            theirs = request.getfixturevalue("rag_retriever")
            retriever = None if theirs is None else adapted(theirs)
        elif overridden("rag_corpus", request.node) is not None or self._collected.corpus.needed:
            retriever = retriever_over(request.getfixturevalue("rag_corpus"), self._collected)
        else:
            retriever = None
        if overridden("rag_generator", request.node) is not None:
            generator = request.getfixturevalue("rag_generator")
        else:  # the plugin's own lasts for the session, and could not take a model that does not
            generator = self._generator(llm)
        if retriever is not None and all(retriever is not known for known in self._collected.retrievers):
            self._collected.retrievers.append(retriever)
        embedder = self._embedder(request)
        return SystemParts(retriever, generator, self._collected.options.top_k, llm, self._models.prompts, embedder)

    def _generator(self, llm: Client | None) -> System:
        if llm is None:
            from pytest_rageval.systems.extractive import extractive

            return extractive
        from pytest_rageval.systems.llm import ModelGenerator

        return ModelGenerator(llm, self._models.prompts)


def _from_the_record(entry: Entry) -> RecordedAnswerer | None:
    """Return what finds a case's recorded answer, or None where a system is asked."""
    testbed = entry.testbed
    if testbed.recorded is None:
        return None
    return RecordedAnswerer(testbed.recorded, entry.responder.name, entry.name, testbed.settings.multiplied)


def _searches_in_place(system: System) -> bool:
    """Return whether a system's retriever may be called on the event loop; one without has nothing to call."""
    retriever = getattr(system, "retriever", None)
    return retriever is None or bool(getattr(retriever, "in_place", False))


def _digest(origin: Origin) -> str:
    """Return what identifies an origin, the same in all processes."""
    named = [f"{part.baseid}:{part.argname}" if isinstance(part, pytest.FixtureDef) else part for part in origin]
    return sha256(repr(named).encode()).hexdigest()


def _fixtures(origin: Origin) -> list[pytest.FixtureDef[Any]]:
    return [part for part in origin if isinstance(part, pytest.FixtureDef)]


def _values(origin: Origin) -> list[object]:
    """Return what the fixtures of an origin hold now; each setup makes it another object, and teardown None."""
    return [fixture.cached_result for fixture in _fixtures(origin)]


def _same(values: list[object], others: list[object]) -> bool:
    return all(one is other for one, other in zip(values, others, strict=False))


def _callable(system: System, giver: str) -> System:
    called = adapted_system(system)
    if called is None:
        raise SystemContractError(f"{giver} gave {type(system).__name__}, which cannot be called")
    return called
