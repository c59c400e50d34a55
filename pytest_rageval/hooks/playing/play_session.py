"""The collected project of the page: its cases and systems, and the case that an order asks about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY, REQUEST_ENTRIES
from pytest_rageval.hooks.collect.responders import named_responder
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.collect.testbed import Entry, Responder
from pytest_rageval.hooks.playing.case_list import CaseList
from pytest_rageval.hooks.playing.orders import AskOrder
from pytest_rageval.hooks.playing.saved_files import PREFIX, SavedFiles
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import workflow_and_model
from pytest_rageval.model.metric import Metric
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.text.language import detect_language

__all__ = ["TYPED", "PlaySession"]

TYPED = "question"
"""The id of a typed question, like in `rageval chain run`."""


class PlaySession:
    """A pytest session that has collected its tests.

    Args:
        session: pytest's session.

    Attributes:
        collected: the settings, models and corpus of the project.
        base: the test whose fixtures apply to a typed question.
        cases: the cases of the project.
    """

    def __init__(self, session: pytest.Session) -> None:
        self.collected: Collected = session.config.stash[COLLECTED]
        self.collected.corpus.needed = bool(self.collected.options.corpus)  # a typed question may search
        self.base = session.items[0]
        self.cases = CaseList((item.nodeid, item.stash[ENTRY]) for item in session.items if ENTRY in item.stash)
        self._items: Mapping[str, pytest.Item] = {item.nodeid: item for item in session.items}
        self._responders = {entry.responder.name: entry.responder for entry in self.base.stash[REQUEST_ENTRIES]}

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems: those of the tests or of the options first, then the aliases of the ini."""
        return tuple(dict.fromkeys((*self._responders, *self.collected.options.named_systems)))

    @property
    def chains(self) -> tuple[str, ...]:
        """The aliases of chains in the ini."""
        aliases = self.collected.options.named_systems
        return tuple(name for name, named in aliases.items() if named.system.startswith("chain:"))

    @property
    def files(self) -> SavedFiles:
        """The files that saved cases are written to."""
        return SavedFiles(self.collected, self.base)

    def case(self, name: str) -> tuple[str, Case]:
        """Return the node id of a case's test, and the case; raise `UnknownNameError` if there is none."""
        nodeid, entry = self.cases.entry(name)
        return nodeid, self.collected.session_case(entry)

    def item(self, case: str) -> pytest.Item:
        """Return the test of a case."""
        return self._items[self.cases.entry(case)[0]]

    def dataset_of(self, case: str) -> str:
        """Return the JSON Lines file of a case, relative to the rootdir; "" if it is from another format."""
        name = self.cases.entry(case)[1].source.name
        return name[len(PREFIX) :] if name.startswith(PREFIX) else ""

    def resolve(self, order: AskOrder) -> tuple[pytest.Item, Entry, Case, tuple[Metric, ...]]:
        """Return what an order uses: the test whose fixtures apply, the entry with the system, the case, the metrics.

        Raises:
            RagEvalError: the case or the system is unknown, or the case has recorded answers.
        """
        responder = self._responder(order.system)
        if order.case is None:
            item, entry, metrics = self.base, self.base.stash[REQUEST_ENTRIES][0], tuple[Metric, ...]()
            case = self._typed_case(order)
        else:
            nodeid, entry = self.cases.entry(order.case)
            item = self._items[nodeid]
            if entry.testbed.recorded is not None:
                raise SettingError(f"{nodeid}: its answers are recorded, so no system can be asked")
            case = _with_changes(self.collected.session_case(entry), order)
            metrics = tuple(entry.testbed.metrics.values())
        if case.facets.get("system") != responder.name:
            labels = {**dict(responder.facets), **workflow_and_model(case.instance.facets)}
            case = case.with_facets(system=responder.name, **labels)
        return item, replace(entry, responder=responder, case=case), case, metrics

    def _typed_case(self, order: AskOrder) -> Case:
        """Return the case of a typed question: the same case that a testbed without settings makes of it once saved."""
        question = order.question or ""
        if not question.strip():
            raise SettingError("the question is empty; write one")
        instance = Instance(TYPED, question, language=detect_language(question), history=order.history or ())
        settings = parse_settings({"dataset": f"jsonl:{TYPED}"}, TYPED)
        ((_, case),) = expand(settings, [instance], settings.seed or 0)
        return replace(self.collected.reworded(case), supplied=order.passages)

    def _responder(self, name: str) -> Responder:
        """Return a system by name; create it like ``--rag-system`` if the tests do not use it."""
        if not name:
            return next(iter(self._responders.values()))
        if name not in self._responders:
            collected = self.collected
            responder = named_responder(self.base, collected, name, "the system")
            collected.named.load([responder.kind], collected.catalog.systems, collected.options.named_systems)
            self._responders[name] = responder
        return self._responders[name]


def _with_changes(case: Case, order: AskOrder) -> Case:
    """Return a case with the question, history and passages that an order sets."""
    if order.question is not None and order.question != case.instance.question:
        case = replace(case, instance=replace(case.instance, question=order.question))
    if order.history is not None:
        case = replace(case.with_history(order.history), earlier=None)
    return case if order.passages is None else replace(case, supplied=order.passages)
