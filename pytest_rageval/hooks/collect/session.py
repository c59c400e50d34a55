"""What collection gathers: testbeds and their cases, made from markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.corpus import Corpus
from pytest_rageval.hooks.collect.datasets import Sources
from pytest_rageval.hooks.collect.markers import marks_of
from pytest_rageval.hooks.collect.metrics_and_gates import complete
from pytest_rageval.hooks.collect.named_systems import NamedSystems
from pytest_rageval.hooks.collect.recorded_answers import recorded_in
from pytest_rageval.hooks.collect.testbed import Entry, Responder, Site, Testbed
from pytest_rageval.hooks.config.judge_labels import TrustHeld
from pytest_rageval.hooks.config.judge_panels import panels_by_judge
from pytest_rageval.hooks.config.settings import Options
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.testbeds.conversations import with_earlier
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.ids import safe
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.text.dictionary import user_dictionary

if TYPE_CHECKING:
    from pytest_rageval.analysis.baseline.measured import Snapshot
    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.hooks.config.model_clients import Models
    from pytest_rageval.model.calls import Calls
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.outcome import Outcome

__all__ = ["Collected", "Runtime", "parametrize"]


class Runtime(Protocol):
    """What asks the systems of this process, once the first case runs."""

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """The calls that no report states yet, as `UnderWay` holds them."""

    @property
    def fault(self) -> str | None:
        """Why calls are no longer written to the journal."""

    @property
    def hint(self) -> str | None:
        """What would make the session faster, by measurement."""

    def stop_looking_ahead(self) -> None:
        """Ask each case in its own turn from now on."""

    def close(self) -> Calls:
        """Stop asking; return the calls that no case claimed."""


class Collected:
    """The session's testbeds and cases.

    Attributes:
        catalog: what is registered.
        options: what the command line and the ini say.
        corpus: the corpus of the ini.
        rootdir: pytest's.
        models: the model clients.
        sources: the datasets that were read.
        named: the systems that options name.
        testbeds: by node id, in the order they were collected.
        entries: every case, in data order.
        session_gates: gates over the session, each with the option that gives it.
        shared: the ordinals of the cases that a session's shards run together; None where this is no shard.
        made: every test item that was made for a case, collected or not.
        elsewhere: node ids of the cases that other shards run.
        unmatched: those of them that no case of a partial run can meet.
        panels: judge -> who is asked for its verdicts instead of the session's judge.
        notes: what the summary warns of.
        retrievers: those that systems of this process are made with.
        trust: what judges are held to, once all is collected.
        versions: what scores depend on beside the packages: the user's words, the embedding model once it was asked.
        identity: what decides the scores, once all is collected.
        baseline: the committed baseline as it was before; None without one, or if it cannot be read.
        passages: id of each passage that cases are judged by -> digest of its text, as far as the corpus has it.
        stale: the ordinals of cases whose judged ids name other text than in the baseline.
        unseen: system whose model calls may not be seen -> what the user wrote for it.
        earlier: the calls of the run that the session goes on with, of cases that no test reported.
        runtime: what asks the systems; None until the first case runs.
        taken: the tests of cases that another run had ended -> the outcome, of a turn that others may go on from.
    """

    def __init__(
        self,
        catalog: Catalog,
        options: Options,
        corpus: Corpus,
        rootdir: Path,
        recordings: tuple[str, ...] | None = None,
        budget: Path | None = None,
    ) -> None:
        self.catalog = catalog
        self.options = options
        self.corpus = corpus
        self.rootdir = rootdir
        self.sources = Sources(catalog.datasets, rootdir)
        self.named = NamedSystems(options.folders)
        self.testbeds: dict[str, Testbed] = {}
        self.entries: list[Entry] = []
        self.session_gates: list[tuple[Gate, str]] = []
        for where, texts in (("--rag-gate", options.cli_gates), ("rag_gates", options.ini_gates)):
            for gate in (parse_gate(text, where) for text in texts):
                if all(gate != known for known, _ in self.session_gates):
                    self.session_gates.append((gate, where))
        self.shared: frozenset[int] | None = None
        self.made: list[pytest.Item] = []
        self.elsewhere: list[str] = []
        self.unmatched: list[Gate] = []
        self.panels = panels_by_judge(options.panels, catalog.metrics)
        self.notes: list[str] = []
        self.retrievers: list[object] = []
        self.versions = {"rag_user_dict": user_dictionary()} if user_dictionary() else {}
        self.trust = TrustHeld()
        self.faults: list[str] = []
        self.identity: Mapping[str, Mapping[str, str]] = {}
        self.baseline: Snapshot | None = None
        self.passages: Mapping[str, str] = {}
        self.stale: frozenset[int] = frozenset()
        self.unseen: Mapping[str, str] = {}
        self.earlier = EarlierCalls()
        self.taken: dict[pytest.Item, Outcome | None] = {}
        self.runtime: Runtime | None = None
        self._budget = budget
        self._recordings = recordings

    def add(
        self,
        site: Site,
        number: int,
        raw: dict[str, object],
        responders: Sequence[Responder],
    ) -> list[tuple[str, Entry]]:
        """Make one marker a testbed and return its (parameter id, entry) pairs.

        Args:
            site: the test function.
            number: which of the function's markers this is, from 1.
            raw: the marker's arguments by name.
            responders: who answers; each case is asked of each.
        """
        settings = parse_settings(raw, site.where)
        seed = next((s for s in (self.options.seed, settings.seed) if s is not None), 0)
        source = self.sources.load(settings.dataset, site.folders, site.where)
        if settings.qrels is not None:
            source = self.sources.judged(source, settings.qrels, site.folders, site.where)
        expanded = [(name, self._reworded(case)) for name, case in expand(settings, source.instances, seed)]
        if settings.history == "own":
            if self.options.apart:
                problem = "history = own needs all turns of a conversation on one machine; give --dist loadfile"
                raise SettingError(f"{site.where}: {problem}")
            expanded = with_earlier(expanded, site.where)
        suffix = "" if number == 1 else f"#{number}"
        testbed = Testbed(site.nodeid + suffix, site.name + suffix, suffix, settings, seed, site.asserts)
        testbed.recorded, testbed.labelled = source.recorded or self._recorded, source.recorded is not None
        answering = responders if testbed.recorded is None else [Responder(name) for name in testbed.recorded.systems]
        made = []
        for name, case in expanded:
            for responder in answering:
                if source.recorded is not None and source.recorded.find(responder.name, case, name) is None:
                    continue  # a dataset that brings answers along has no other cases
                given = case.with_facets(system=responder.name)
                shown = f"{name}-system={safe(responder.name)}" if len(answering) > 1 else name
                for run, facets in self._repeats:
                    repeated = given.with_facets(**facets) if facets else given
                    entry = Entry(len(self.entries), testbed, source, repeated, name, responder, shown + run + suffix)
                    self.entries.append(entry)
                    made.append((shown + run, entry))
        testbed.generated = len(made)
        self.testbeds[testbed.nodeid] = testbed
        complete(testbed, [entry.case for _, entry in made], self.catalog, self.options)
        return made

    @cached_property
    def case_ids(self) -> dict[tuple[str, str], str]:
        """The session-wide case id of each (dataset, instance id), once all is collected.

        It is the instance's own id, with the dataset before it where two datasets of the session share an id.
        """
        owners: dict[str, set[str]] = {}
        for entry in self.entries:
            owners.setdefault(entry.case.id, set()).add(entry.source.name)
        return {
            (source, own): f"{source}:{own}" if len(sources) > 1 else own
            for own, sources in owners.items()
            for source in sources
        }

    def session_case(self, entry: Entry) -> Case:
        """Return an entry's case under its session-wide id, marked where its labels are stale."""
        case_id = self.case_ids[entry.source.name, entry.case.id]
        case = entry.case if case_id == entry.case.id else entry.case.renamed(case_id)
        return replace(case, stale=True) if entry.ordinal in self.stale else case

    @property
    def needs_corpus(self) -> bool:
        """Whether there is no retriever without a corpus."""
        return bool(getattr(self.catalog.retrievers.get(self.options.retriever), "needs_corpus", True))

    @cached_property
    def models(self) -> Models:
        """The session's models; made when they are first wanted."""
        from pytest_rageval.hooks.config.model_clients import Models

        return Models(self.options, self._recordings, self._budget)

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """What this process has under way and no report tells yet, as `UnderWay` has it."""
        return (0, 0, None) if self.runtime is None else self.runtime.under_way

    def stop_looking_ahead(self) -> None:
        """Have every case that is still to come asked in its turn, as a debugger wants it."""
        if self.runtime is not None:
            self.runtime.stop_looking_ahead()

    def close(self) -> Meter:
        """End what answering has started, and return what was asked of models in vain or for no case.

        What loading has added to Python's path is taken off.
        """
        self.named.close()
        unclaimed = Meter()
        if "models" in self.__dict__:
            unclaimed = self.models.outside
        if self.runtime is not None:
            unclaimed.add(self.runtime.close())
        fault = None if self.runtime is None else self.runtime.fault
        self.faults = [fault] if fault else []
        if "models" in self.__dict__:
            hint = None if self.runtime is None else self.runtime.hint
            self.faults += [*self.models.settle(), *([hint] if hint else [])]
            if self.models.loading is not None:
                from pytest_rageval.llm.backends.litellm_import import set_aside

                set_aside()
        return unclaimed

    @cached_property
    def _repeats(self) -> list[tuple[str, dict[str, str]]]:
        """The suffix of a case's name and the facet, for each time that it runs."""
        if self.options.repeat == 1:
            return [("", {})]
        return [(f"-repeat={run}", {"repeat": str(run)}) for run in range(1, self.options.repeat + 1)]

    def _reworded(self, case: Case) -> Case:
        """Return a case that asks for the sentences of the ini where its instructions have RGB's."""
        text, language = case.instructions, case.instance.language
        for own, published in ((self.options.rejection, REJECTION_SENTENCE), (self.options.error, ERROR_SENTENCE)):
            if language in own and language in published:
                text = text.replace(published[language], own[language])
        return case if text is case.instructions else replace(case, instructions=text)

    @cached_property
    def _recorded(self) -> RecordedAnswers | None:
        """The answers of ``--rag-answers``, read when first asked for."""
        return None if self.options.answers is None else recorded_in(self.options.answers)


def parametrize(metafunc: pytest.Metafunc, made: Iterable[tuple[str, Entry]]) -> None:
    """Turn a test function's entries into parameters of its ``rag`` fixture, with unique ids."""
    params = [
        pytest.param(entry, marks=marks_of(entry.case.facets, metafunc.config), id=name + entry.testbed.suffix)
        for name, entry in made
    ]
    metafunc.parametrize("rag", params, indirect=True)
    own = metafunc.function.__code__.co_varnames[: metafunc.function.__code__.co_argcount]
    if "request" in metafunc.fixturenames and "request" not in own:
        # Only the fixtures ask for it, and get one of their own; filling it for the test too costs 20 µs a case.
        metafunc.fixturenames.remove("request")
