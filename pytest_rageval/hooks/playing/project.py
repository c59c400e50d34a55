"""A project that answers questions: its cases and systems as pytest has them before the first test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace

import pytest

from pytest_rageval.engine.estimate import Estimate, estimates
from pytest_rageval.engine.live_answer import LiveAnswer
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.generation.shrinking.shrunk import Shrunk
from pytest_rageval.hooks.chain_runs import ChainResult
from pytest_rageval.hooks.collect.keys import ASKS, COLLECTED, ENTRY
from pytest_rageval.hooks.collect.responders import named_responder
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.collect.testbed import Entry, Responder
from pytest_rageval.hooks.config.fixture_overrides import set_up_for
from pytest_rageval.hooks.playing.case_list import CaseList, FoundCase
from pytest_rageval.hooks.playing.chain_actions import ActionOrder, ChainText, chain_text, run_action
from pytest_rageval.hooks.playing.orders import AskOrder, PlayOrder
from pytest_rageval.hooks.playing.pytest_thread import PytestThread
from pytest_rageval.hooks.playing.saved_files import PREFIX, SavedFiles
from pytest_rageval.hooks.prepare.model_calls import planned_task
from pytest_rageval.hooks.run.answering import answering_of
from pytest_rageval.hooks.run.shrinking import shrink
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import own_labels
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.chains.chain_edits import ChainEdit
from pytest_rageval.systems.chains.named import shipped_chains
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.text.language import detect_language
from pytest_rageval.trace.collector import Event

__all__ = ["TYPED", "PlayProject"]

TYPED = "question"
"""The id of a question that is no case, as in `rageval chain run`."""


READING = "the project is still being read; wait a moment"


class PlayProject:
    """The project of the current folder. Its methods may be called from any thread.

    Asking waits in line: the systems are asked one after the other.

    Args:
        order: what to open.
    """

    def __init__(self, order: PlayOrder) -> None:
        self.order = order
        self._pytest = PytestThread(tuple(order.options()), order.located_dataset, self._begin)
        self._cases = CaseList(())
        self._base: pytest.Item | None = None
        self._items: Mapping[str, pytest.Item] = {}
        self._responders: dict[str, Responder] = {}
        self._collected: Collected | None = None

    def start(self) -> None:
        """Start reading the project."""
        self._pytest.start()

    def close(self) -> None:
        """End the session, with its systems and models."""
        self._pytest.close()

    @property
    def ready(self) -> bool:
        """Whether the project is read."""
        return self._pytest.ready

    @property
    def problem(self) -> str:
        """Why the project cannot be used; "" if it can, or is still read."""
        return self._pytest.problem

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems: those of the tests or of the options first, then the aliases of the ini."""
        aliases = () if self._collected is None else self._collected.options.named_systems
        return tuple(dict.fromkeys((*self._responders, *aliases)))

    @property
    def chains(self) -> tuple[str, ...]:
        """The names of the chains: that of the command first, then aliases of the ini, then the built-in ones."""
        aliases = {} if self._collected is None else self._collected.options.named_systems
        own = [name for name, named in aliases.items() if named.system.startswith("chain:")]
        first = () if self.order.chain is None else (self.order.chain,)
        return tuple(dict.fromkeys((*first, *own, *shipped_chains())))

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return len(self._cases)

    @property
    def record_mode(self) -> str | None:
        """The record mode of the ini; None without recordings."""
        return None if self._collected is None else self._collected.options.record_mode

    @property
    def budget(self) -> tuple[float, float | None] | None:
        """The budget in US dollars and what is left of it; None without a budget."""
        budget = None if self._collected is None else self._collected.models.budget
        return None if budget is None else (budget.limit_usd, budget.left_usd)

    @property
    def spent(self) -> Calls:
        """The model calls of all questions, searches and actions since the project was read."""
        return Calls() if self._collected is None else self._collected.models.outside.calls

    @property
    def files(self) -> SavedFiles | None:
        """Where saved cases go; None while the project is read."""
        return None if self._collected is None or self._base is None else SavedFiles(self._collected, self._base)

    def found(
        self, words: str, facets: Mapping[str, str], most: int, among: Collection[str] | None = None
    ) -> tuple[list[FoundCase], int]:
        """Return the first cases that match, and the number of all; see `CaseList.found`."""
        return self._cases.found(words, facets, most, among)

    def case(self, name: str) -> tuple[str, Case]:
        """Return the node id of a case's test, and the case.

        Raises:
            UnknownNameError: there is no such case.
        """
        nodeid, entry = self._cases.entry(name)
        return nodeid, self._session_case(entry)

    def dataset_of(self, case: str) -> str:
        """Return the JSON Lines file of a case, relative to the rootdir; "" if it is from another format."""
        name = self._cases.entry(case)[1].source.name
        return name[len(PREFIX) :] if name.startswith(PREFIX) else ""

    def asked_case(self, order: AskOrder) -> Case:
        """Return the case of an order, as it will be asked."""
        return self._asked(order)[2]

    def estimate(self, order: AskOrder) -> Future[list[Estimate]]:
        """Estimate what an order costs, as ``--rag-dry-run`` does; nothing is asked."""
        item, entry, case, metrics = self._asked(order)
        task = Task(item.nodeid, entry.testbed.nodeid, entry.responder.name, case, metrics)

        def job(session: pytest.Session) -> list[Estimate]:
            collected = session.config.stash[COLLECTED]
            return estimates([planned_task(collected, item, entry, task)], collected.models.prompts)

        return self._pytest.do(job)

    def ask(self, order: AskOrder, stop: threading.Event, watch: Callable[[Event], object]) -> Future[LiveAnswer]:
        """Ask a system; the answer comes when the orders before it have theirs.

        Args:
            order: what to ask.
            stop: set it to stop waiting.
            watch: called with each step that ends, on the system's thread.

        Raises:
            RagEvalError: the case or the system is unknown, or the case has recorded answers.
        """
        item, entry, case, metrics = self._asked(order)

        def job(session: pytest.Session) -> LiveAnswer:
            with set_up_for(item, self._base) as request:
                return answering_of(session).live.ask(request, entry, case, metrics, stop, watch)

        return self._pytest.do(job)

    def search(self, query: str, k: int) -> Future[Ranking]:
        """Search the passages of the project's retriever; raise `SettingError` while the project is read."""
        base = self._base
        if base is None:
            raise SettingError(self.problem or READING)

        def job(session: pytest.Session) -> Ranking:
            with set_up_for(base, base) as request:
                return answering_of(session).live.search(request, query, k)

        return self._pytest.do(job)

    def chain(self, chain: str, edits: Sequence[ChainEdit]) -> Future[ChainText]:
        """Read a chain, with edits that its file does not have, and check it against the project."""
        return self._pytest.do(lambda session: chain_text(*_session_parts(session), chain, edits))

    def act(
        self, order: ActionOrder, asked: AskOrder, stop: threading.Event, watch: Callable[[Event], object]
    ) -> Future[ChainResult]:
        """Run one action of a chain for a question or a case, or show what it is given.

        Raises:
            RagEvalError: the case is unknown, or the project is still read.
        """
        case = self._asked(asked)[2]

        def job(session: pytest.Session) -> ChainResult:
            collected, loop = _session_parts(session)
            return run_action(collected, loop, order, case, stop, watch)

        return self._pytest.do(job)

    def shrink(self, case: str, stop: threading.Event) -> Future[Shrunk | str]:
        """Search the smallest context with which a case misses, with the system of its test, as `rageval shrink` does.

        Args:
            case: its name.
            stop: set it to end the search with what it has.

        Raises:
            UnknownNameError: there is no such case.
        """
        item = self._items[self._cases.entry(case)[0]]
        return self._pytest.do(lambda _: shrink(item, self._base, stop=stop))

    def _begin(self, session: pytest.Session) -> None:
        """Take the cases and systems of the session."""
        collected = session.config.stash[COLLECTED]
        collected.corpus.needed = bool(collected.options.corpus)  # a typed question may search
        self._items = {item.nodeid: item for item in session.items}
        self._base = session.items[0]
        self._cases = CaseList((item.nodeid, item.stash[ENTRY]) for item in session.items if ENTRY in item.stash)
        self._responders = {entry.responder.name: entry.responder for entry in self._base.stash[ASKS]}
        self._collected = collected

    def _asked(self, order: AskOrder) -> tuple[pytest.Item, Entry, Case, tuple[Metric, ...]]:
        """Return the test whose fixtures apply, the system, the case and the metrics of an order."""
        if self._base is None or self._collected is None:
            raise SettingError(self.problem or READING)
        responder = self._responder(order.system)
        if order.case is None:
            item, stand_in = self._base, self._base.stash[ASKS][0]
            question = order.question or ""
            if not question.strip():
                raise SettingError("the question is empty; write one")
            instance = Instance(TYPED, question, language=detect_language(question), history=order.history or ())
            case = replace(_plain_case(self._collected, instance), supplied=order.passages)
            entry, metrics = stand_in, tuple[Metric, ...]()
        else:
            nodeid, entry = self._cases.entry(order.case)
            item = self._items[nodeid]
            if entry.testbed.recorded is not None:
                raise SettingError(f"{nodeid}: its answers are recorded, and no system answers anything else")
            case, metrics = self._changed(self._session_case(entry), order), tuple(entry.testbed.metrics.values())
        if case.facets.get("system") != responder.name:
            labels = {**dict(responder.facets), **own_labels(case.instance.facets)}
            case = case.with_facets(system=responder.name, **labels)
        return item, replace(entry, responder=responder, case=case), case, metrics

    def _changed(self, case: Case, order: AskOrder) -> Case:
        if order.question is not None and order.question != case.instance.question:
            case = replace(case, instance=replace(case.instance, question=order.question))
        if order.history is not None:
            case = replace(case.with_history(order.history), earlier=None)
        return case if order.passages is None else replace(case, supplied=order.passages)

    def _session_case(self, entry: Entry) -> Case:
        assert self._collected is not None  # noqa: S101 - there is an entry
        return self._collected.session_case(entry)

    def _responder(self, name: str) -> Responder:
        """Return a system by name; one that the tests do not use is read from its name, as ``--rag-system`` does."""
        if not name:
            return next(iter(self._responders.values()))
        if name not in self._responders:
            if self._collected is None or self._base is None:
                raise UnknownNameError("system", name, self._responders)
            collected = self._collected
            responder = named_responder(self._base, collected, name, "the system")
            collected.named.load([responder.kind], collected.catalog.systems, collected.options.named_systems)
            self._responders[name] = responder
        return self._responders[name]


def _session_parts(session: pytest.Session) -> tuple[Collected, LoopThread]:
    return session.config.stash[COLLECTED], answering_of(session).live.loop


def _plain_case(collected: Collected, instance: Instance) -> Case:
    """Return a case as a testbed without settings makes it, so that it is asked alike once it is saved."""
    settings = parse_settings({"dataset": f"jsonl:{TYPED}"}, TYPED)
    ((_, case),) = expand(settings, [instance], settings.seed or 0)
    return collected.reworded(case)
