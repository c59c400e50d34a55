"""Create the session's testbeds and cases from markers during collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.corpus import Corpus
from pytest_rageval.hooks.collect.datasets import Sources
from pytest_rageval.hooks.collect.markers import marks_of
from pytest_rageval.hooks.collect.metrics_and_gates import add_metrics_and_gates
from pytest_rageval.hooks.collect.named_systems import NamedSystems
from pytest_rageval.hooks.collect.recorded_answers import load_answers
from pytest_rageval.hooks.collect.testbed import Entry, Responder, Site, Testbed
from pytest_rageval.hooks.config.judge_panels import panels_by_judge
from pytest_rageval.hooks.config.min_kappas import RequiredTrust
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.system_names import check_names
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.facets import SharedFacets
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.testbeds.conversations import link_turns
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.ids import safe
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.text.dictionary import user_dictionary

if TYPE_CHECKING:
    from pytest_rageval.analysis.baseline.snapshot import Snapshot
    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.environments import Environment
    from pytest_rageval.environments.choice import Environments
    from pytest_rageval.hooks.collect.runtime import Runtime
    from pytest_rageval.hooks.config.model_clients import Models
    from pytest_rageval.local_judges.local_judge import LocalJudge
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.systems.workflow import Requirements

__all__ = ["Collected", "parametrize"]


class Collected:
    """The session's testbeds and cases, and the state that the steps of a run share.

    Attributes:
        catalog: the registered components.
        options: settings of the command line and the ini.
        corpus: the corpus of the ini.
        rootdir: pytest's rootdir.
        models: the model clients.
        sources: the loaded datasets.
        named: the systems that options name.
        testbeds: node id -> testbed, in collection order.
        entries: every case, in data order.
        request_entries: for each test with ``rag_ask``, an entry for each system that it asks; these are not cases.
        session_gates: gates over the session, each with the option that sets it.
        shared: the ordinals of the cases that all shards together run; None without ``--rag-shard``.
        items: every test item of a case, including deselected ones.
        other_shard_nodes: node ids of the cases that other shards run.
        unmatched: session gates that match no case of a partial run.
        panels: judge -> the panel that replaces the session's judge.
        local_judges: ``local:FOLDER`` -> the trained judge; loaded after collection.
        notes: warnings for the summary.
        retrievers: the retrievers of this process's systems.
        needs: system -> the models and tools that its files name; None for a system without such files.
        environments: the environments of the ini; None until `prepare.environments` declares them.
        opened: the environments that are running; they stop at the end of the session.
        trust: people's labels and the minimum kappas of judges; set after collection.
        versions: digests of further inputs of scores: the user dictionary, the embedding model after its first use.
        identity: fingerprint of everything that influences scores; set after collection.
        baseline: the committed baseline from before the run; None if missing or unreadable.
        passages: id of each judged passage in the corpus -> digest of its text.
        stale: the ordinals of cases whose judged passages have another text than in the baseline.
        direct: system that may call models without the plugin's clients -> the name or fixture that the user wrote.
        earlier: calls of the resumed run for cases that no test reported.
        runtime: calls the systems; None until the first case runs.
        resumed_items: item of each case taken over from another run -> its outcome if later turns follow, else None.
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
        self.request_entries: list[Entry] = []
        self.session_gates: list[tuple[Gate, str]] = []
        for where, texts in (("--rag-gate", options.cli_gates), ("rag_gates", options.ini_gates)):
            for gate in (parse_gate(text, where) for text in texts):
                if all(gate != known for known, _ in self.session_gates):
                    self.session_gates.append((gate, where))
        self.shared: frozenset[int] | None = None
        self.items: list[pytest.Item] = []
        self.other_shard_nodes: list[str] = []
        self.unmatched: list[Gate] = []
        self.panels = panels_by_judge(options.panels, catalog.metrics, catalog.pair_judges)
        self.local_judges: dict[str, LocalJudge] = {}
        if options.named_systems:
            check_names(options.named_systems.values(), catalog.systems)
        self.notes: list[str] = []
        self.retrievers: list[object] = []
        self.needs: dict[Responder, Requirements | None] = {}
        self.environments: Environments | None = None
        self.opened: list[Environment] = []
        self.versions = {"rag_user_dict": user_dictionary()} if user_dictionary() else {}
        self.trust = RequiredTrust()
        self.faults: list[str] = []
        self.dropped_steps = 0
        self.identity: Mapping[str, Mapping[str, str]] = {}
        self.baseline: Snapshot | None = None
        self.passages: Mapping[str, str] = {}
        self.stale: frozenset[int] = frozenset()
        self.direct: Mapping[str, str] = {}
        self.earlier = EarlierCalls()
        self.resumed_items: dict[pytest.Item, Outcome | None] = {}
        self.runtime: Runtime | None = None
        self._budget = budget
        self._recordings = recordings

    def add(
        self, site: Site, number: int, raw: dict[str, object], responders: Sequence[Responder]
    ) -> list[tuple[str, Entry]]:
        """Create the testbed of one marker; return (parameter id, entry) of each case.

        Args:
            site: the test function.
            number: the marker's position within the function, from 1.
            raw: the marker's arguments by name.
            responders: the systems, which all answer every case.
        """
        settings = parse_settings(raw, site.where)
        seed = next((s for s in (self.options.seed, settings.seed) if s is not None), 0)
        source = self.sources.load(settings.dataset, site.folders, site.where)
        if settings.qrels is not None:
            source = self.sources.with_qrels(source, settings.qrels, site.folders, site.where)
        expanded = [(name, self.reworded(case)) for name, case in expand(settings, source.instances, seed)]
        if settings.history == "own":
            if self.options.apart:
                problem = "history = own needs all turns of a conversation on one machine; give --dist loadfile"
                raise SettingError(f"{site.where}: {problem}")
            expanded = link_turns(expanded, site.where)
        suffix = "" if number == 1 else f"#{number}"
        testbed = Testbed(site.nodeid + suffix, site.name + suffix, suffix, settings, seed, site.asserts)
        testbed.recorded, testbed.labelled = source.recorded or self._recorded, source.recorded is not None
        groups = testbed.with_variants(expanded, source.instances)
        answerers = responders if testbed.recorded is None else [Responder(name) for name in testbed.recorded.systems]
        pairs, shared, recorded = [], SharedFacets(), testbed.recorded
        systems = [(responder, {"system": responder.name, **dict(responder.facets)}) for responder in answerers]
        for name, versions in groups:
            original = versions[0][1]
            for (ending, case), (responder, labels) in product(versions, systems):
                if not testbed.has_case(responder.name, case, name):
                    continue
                if recorded is not None:
                    labels = {"system": responder.name, **dict(recorded.labels(responder.name, case, name))}
                answered = case.with_shared(shared.with_labels(case.facets, labels))
                shown = name + ending + (f"-system={safe(responder.name)}" if len(answerers) > 1 else "")
                for run, more in self._repeats:
                    repeated = answered.with_facets(**more) if more else answered
                    ordinal, param_id = len(self.entries), shown + run + suffix
                    variant_of = None if case is original else original
                    entry = Entry(ordinal, testbed, source, repeated, name, responder, param_id, variant_of)
                    self.entries.append(entry)
                    pairs.append((shown + run, entry))
        testbed.note_left_out(groups, (entry.case for _, entry in pairs))
        testbed.generated = len(pairs)
        self.testbeds[testbed.nodeid] = testbed
        add_metrics_and_gates(testbed, [entry.case for _, entry in pairs], self.catalog, self.options, source.metrics)
        return pairs

    @cached_property
    def _shared_ids(self) -> frozenset[str]:
        """The ids that several datasets of the session use."""
        if len({entry.source.name for entry in self.entries}) == 1:
            return frozenset()
        used = {(entry.source.name, entry.case.id) for entry in self.entries}
        return frozenset(case_id for case_id, count in Counter(case_id for _, case_id in used).items() if count > 1)

    def case_id(self, entry: Entry) -> str:
        """Return the session-wide id of a case; call it only after collection.

        This is the instance's id, prefixed with the dataset's name if several datasets use the id.
        """
        return f"{entry.source.name}:{entry.case.id}" if entry.case.id in self._shared_ids else entry.case.id

    def session_case(self, entry: Entry) -> Case:
        """Return an entry's case with its session-wide id, marked if its labels are stale."""
        case_id = self.case_id(entry)
        case = entry.case if case_id == entry.case.id else entry.case.renamed(case_id)
        return replace(case, stale=True) if entry.ordinal in self.stale else case

    @property
    def needs_corpus(self) -> bool:
        """Whether the session's retriever needs a corpus."""
        return bool(getattr(self.catalog.retrievers.get(self.options.retriever), "needs_corpus", True))

    @cached_property
    def models(self) -> Models:
        """The session's model clients, made on first use."""
        from pytest_rageval.hooks.config.model_clients import Models

        return Models(self.options, self._recordings, self._budget)

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """The work of this process that no report contains yet: the fields of `PendingWork`."""
        return (0, 0, None) if self.runtime is None else self.runtime.under_way

    def stop_looking_ahead(self) -> None:
        """Turn look-ahead off for a debugger: ask the system only when a case's test runs."""
        if self.runtime is not None:
            self.runtime.stop_looking_ahead()

    def close(self) -> Meter:
        """Stop the models, systems and environments, and restore ``sys.path``; return the model calls of no case.

        This sets `faults`, the warnings of this process.
        """
        self.named.close()
        unclaimed = Meter()
        if "models" in self.__dict__:
            unclaimed = self.models.outside
        for environment in self.opened:
            environment.stop()  # else an agent that waits for a server would block the event loop from ending
        if self.runtime is not None:
            unclaimed.add(self.runtime.close())
        for environment in self.opened:
            environment.close()
        fault = None if self.runtime is None else self.runtime.fault
        self.faults = [fault] if fault else []
        if self.runtime is not None:
            from pytest_rageval.trace.collector import dropped_steps
            from pytest_rageval.trace.otel.live import close_traces

            self.dropped_steps = dropped_steps()
            self.faults += close_traces(self.runtime.traces)
        if "models" in self.__dict__:
            hint = None if self.runtime is None else self.runtime.hint
            self.faults += [*self.models.close_recordings(), *([hint] if hint else [])]
            if self.models.loading is not None:
                from pytest_rageval.llm.backends.litellm_import import freeze_litellm

                freeze_litellm()
        return unclaimed

    @cached_property
    def _repeats(self) -> list[tuple[str, dict[str, str]]]:
        """(suffix of the test's name, facets) of each repeat of a case."""
        if self.options.repeat == 1:
            return [("", {})]
        return [(f"-repeat={run}", {"repeat": str(run)}) for run in range(1, self.options.repeat + 1)]

    def reworded(self, case: Case) -> Case:
        """Return a case with RGB's rejection and error sentences in its instructions replaced by the ini's."""
        text, language = case.instructions, case.instance.language
        for custom, published in ((self.options.rejection, REJECTION_SENTENCE), (self.options.error, ERROR_SENTENCE)):
            if language in custom and language in published:
                text = text.replace(published[language], custom[language])
        return case if text is case.instructions else replace(case, instructions=text)

    @cached_property
    def _recorded(self) -> RecordedAnswers | None:
        """The answers of ``--rag-answers``, read on first use."""
        return None if self.options.answers is None else load_answers(self.options.answers)


def parametrize(metafunc: pytest.Metafunc, pairs: Iterable[tuple[str, Entry]]) -> None:
    """Turn (parameter id, entry) pairs of a test function into parameters of its ``rag`` fixture, with unique ids."""
    params = [
        pytest.param(entry, marks=marks_of(entry.case.facets, metafunc.config), id=name + entry.testbed.suffix)
        for name, entry in pairs
    ]
    metafunc.parametrize("rag", params, indirect=True)
    arguments = metafunc.function.__code__.co_varnames[: metafunc.function.__code__.co_argcount]
    if "request" in metafunc.fixturenames and "request" not in arguments:
        # Fixtures get a `request` of their own; filling another one for the test costs 20 µs a case.
        metafunc.fixturenames.remove("request")
