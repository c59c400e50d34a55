"""A project that answers questions, with the cases and systems that pytest collects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future

import pytest

from pytest_rageval.engine.estimate import Estimate, estimates
from pytest_rageval.engine.live_answer import LiveAnswer
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.hooks.chain_runs import ChainResult
from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.config.fixture_overrides import set_up_for
from pytest_rageval.hooks.playing.case_list import ListedCase
from pytest_rageval.hooks.playing.chain_actions import ActionOrder, ChainText, chain_text, run_action
from pytest_rageval.hooks.playing.orders import AskOrder, PlayOrder
from pytest_rageval.hooks.playing.play_session import PlaySession
from pytest_rageval.hooks.playing.pytest_thread import PytestThread
from pytest_rageval.hooks.playing.saved_files import SavedFiles
from pytest_rageval.hooks.prepare.model_calls import planned_task
from pytest_rageval.hooks.run.answering import answering_of
from pytest_rageval.hooks.run.shrinking import shrink
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.chains.chain_edits import ChainEdit
from pytest_rageval.systems.chains.find_chain import shipped_chains
from pytest_rageval.trace.collector import Event

__all__ = ["PlayProject"]

READING = "the project is still being read; wait a moment"


class PlayProject:
    """The project of the current folder. Its methods may be called from any thread.

    Orders are executed one after the other.

    Args:
        order: the chain, systems and dataset to open.
    """

    def __init__(self, order: PlayOrder) -> None:
        self.order = order
        self._pytest = PytestThread(tuple(order.options()), order.located_dataset, self._begin)
        self._session: PlaySession | None = None

    def start(self) -> None:
        """Start collecting the project in a thread."""
        self._pytest.start()

    def close(self) -> None:
        """End the session, and close its systems and models."""
        self._pytest.close()

    @property
    def ready(self) -> bool:
        """Whether the project is collected."""
        return self._pytest.ready

    @property
    def problem(self) -> str:
        """Why the project cannot be used; "" if it can, or while it is collected."""
        return self._pytest.problem

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems: those of the tests or of the options first, then the aliases of the ini."""
        return () if self._session is None else self._session.systems

    @property
    def chains(self) -> tuple[str, ...]:
        """The names of the chains: that of the command first, then aliases of the ini, then the built-in ones."""
        first = () if self.order.chain is None else (self.order.chain,)
        own = () if self._session is None else self._session.chains
        return tuple(dict.fromkeys((*first, *own, *shipped_chains())))

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return 0 if self._session is None else len(self._session.cases)

    @property
    def record_mode(self) -> str | None:
        """The record mode of the ini; None without recordings."""
        return None if self._session is None else self._session.collected.options.record_mode

    @property
    def budget(self) -> tuple[float, float | None] | None:
        """(limit, rest) of the budget in US dollars; None without a budget."""
        budget = None if self._session is None else self._session.collected.models.budget
        return None if budget is None else (budget.limit_usd, budget.left_usd)

    @property
    def spent(self) -> Calls:
        """The model calls of all questions, searches and actions so far."""
        return Calls() if self._session is None else self._session.collected.models.outside.calls

    @property
    def files(self) -> SavedFiles | None:
        """The files that saved cases are written to; None while the project is collected."""
        return None if self._session is None else self._session.files

    def find_cases(
        self, words: str, facets: Mapping[str, str], limit: int, among: Collection[str] | None = None
    ) -> tuple[list[ListedCase], int]:
        """Return the first cases that match, and the number of all matches; see `CaseList.find`."""
        return ([], 0) if self._session is None else self._session.cases.find(words, facets, limit, among)

    def case(self, name: str) -> tuple[str, Case]:
        """Return the node id of a case's test, and the case.

        Raises:
            UnknownNameError: there is no such case.
        """
        return self._read().case(name)

    def dataset_of(self, case: str) -> str:
        """Return the JSON Lines file of a case, relative to the rootdir; "" if it is from another format."""
        return self._read().dataset_of(case)

    def asked_case(self, order: AskOrder) -> Case:
        """Return the case of an order, with the changes that the order makes."""
        return self._read().resolve(order)[2]

    def estimate(self, order: AskOrder) -> Future[list[Estimate]]:
        """Estimate the cost of an order, like ``--rag-dry-run``; no model is called."""
        item, entry, case, metrics = self._read().resolve(order)
        task = Task(item.nodeid, entry.testbed.nodeid, entry.responder.name, case, metrics)

        def job(session: pytest.Session) -> list[Estimate]:
            collected = session.config.stash[COLLECTED]
            return estimates([planned_task(collected, item, entry, task)], collected.models.prompts)

        return self._pytest.do(job)

    def ask(self, order: AskOrder, stop: threading.Event, watch: Callable[[Event], object]) -> Future[LiveAnswer]:
        """Ask a system; earlier orders are answered first.

        Args:
            order: the question or case, and the system.
            stop: set it to stop waiting for the answer.
            watch: called with each step that ends, on the system's thread.

        Raises:
            RagEvalError: the case or the system is unknown, or the case has recorded answers.
        """
        play_session = self._read()
        item, entry, case, metrics = play_session.resolve(order)

        def job(session: pytest.Session) -> LiveAnswer:
            with set_up_for(item, play_session.base) as request:
                return answering_of(session).live.ask(request, entry, case, metrics, stop, watch)

        return self._pytest.do(job)

    def search(self, query: str, k: int) -> Future[Ranking]:
        """Search with the project's retriever; raise `SettingError` while the project is collected.

        Args:
            query: the text to search for.
            k: number of passages to return.
        """
        base = self._read().base

        def job(session: pytest.Session) -> Ranking:
            with set_up_for(base, base) as request:
                return answering_of(session).live.search(request, query, k)

        return self._pytest.do(job)

    def chain(self, chain: str, edits: Sequence[ChainEdit]) -> Future[ChainText]:
        """Read a chain with unsaved edits, and check it against the project."""
        return self._pytest.do(lambda session: chain_text(*_session_parts(session), chain, edits))

    def act(
        self, order: ActionOrder, asked: AskOrder, stop: threading.Event, watch: Callable[[Event], object]
    ) -> Future[ChainResult]:
        """Run one action of a chain for a question or a case, or preview its input; see `run_action`.

        Raises:
            RagEvalError: the case is unknown, or the project is still being collected.
        """
        case = self._read().resolve(asked)[2]

        def job(session: pytest.Session) -> ChainResult:
            collected, loop = _session_parts(session)
            return run_action(collected, loop, order, case, stop, watch)

        return self._pytest.do(job)

    def shrink(self, case: str, stop: threading.Event) -> Future[ShrinkResult | str]:
        """Search the smallest context with which a case is missed, like `rageval shrink`, with the system of its test.

        Args:
            case: the case's id or node id.
            stop: set it to end the search; the result is then the smallest context so far.

        Raises:
            UnknownNameError: there is no such case.
        """
        play_session = self._read()
        item = play_session.item(case)
        return self._pytest.do(lambda _: shrink(item, play_session.base, stop=stop))

    def _begin(self, session: pytest.Session) -> None:
        self._session = PlaySession(session)

    def _read(self) -> PlaySession:
        """Return the session; raise `SettingError` if the project is not collected yet, or cannot be."""
        if self._session is None:
            raise SettingError(self.problem or READING)
        return self._session


def _session_parts(session: pytest.Session) -> tuple[Collected, LoopThread]:
    return session.config.stash[COLLECTED], answering_of(session).live.loop
