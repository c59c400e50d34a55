"""Build the environments of a session from ``rag_environments`` and ``rag_corpus``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

import pytest

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments import BUILTIN, OVER_CORPUS, Environment, EnvironmentFactory, EnvironmentParts
from pytest_rageval.environments.choice import Environments, environment_name
from pytest_rageval.environments.functions import build, environment_of, is_reference
from pytest_rageval.environments.recorded_tools import KIND
from pytest_rageval.errors import RagEvalError, SettingError, UnknownNameError, short_repr
from pytest_rageval.hooks.collect.asking_tests import entries_of
from pytest_rageval.hooks.collect.corpus import Corpus
from pytest_rageval.hooks.collect.workflows import needs_of, setup_of
from pytest_rageval.hooks.config.environments import ENVIRONMENTS, EnvironmentLine
from pytest_rageval.hooks.config.fixture_overrides import CORPUS_FIXTURE, ENVIRONMENTS_FIXTURE, overridden
from pytest_rageval.hooks.prepare.retriever import store_in
from pytest_rageval.model.case import Passage
from pytest_rageval.registry import Registry

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.systems.workflow import Requirements

__all__ = [
    "check_environments", "check_tools", "environment_of_case", "environments_for", "fixture_environments", "load_used",
]  # fmt: skip

DEFAULT = "wiki"
"""The kind and the name of the environment over ``rag_corpus`` if none is declared."""

CORPUS_OPTION = "corpus"
"""The option of a kind that names its own corpus."""

SessionCorpus = Callable[[], Iterable[object] | None]
"""Returns the corpus of the session, or None."""


def check_environments(collected: Collected) -> None:
    """Raise `SettingError` for an environment of the ini that cannot be built; read no data."""
    environments = _session_environments(collected)
    for name in collected.options.environments:
        environments.get(name)


def load_used(collected: Collected, items: Iterable[pytest.Item], *, reads: bool) -> None:
    """Choose the environments of all cases whose system uses one, and read their data.

    The environments of an overridden fixture are known only when a test runs.

    Args:
        collected: the session.
        items: its tests.
        reads: False to read no data.

    Raises:
        RagEvalError: a case has no environment, or its data cannot be read.
    """
    done: set[object] = set()
    for item, entry in ((each, entry) for each in items for entry in entries_of(each)):
        if not _uses_environments(collected, entry):
            continue
        facet = entry.case.facets.get("environment", "")
        if (entry.testbed, entry.responder, facet) in done:
            continue
        done.add((entry.testbed, entry.responder, facet))
        environment = environment_of_case(collected, entry, item)
        if reads and environment is not None:
            environment.load()
            check_tools(needs_of(collected, entry.responder), environment)


def environment_of_case(collected: Collected, entry: Entry, item: pytest.Item) -> Environment | None:
    """Return the environment of a case, without reading its data; None if a fixture decides it when the test runs.

    Raises:
        SettingError: the case has no environment, or names one that is unknown.
    """
    if any(overridden(fixture, item) is not None for fixture in (ENVIRONMENTS_FIXTURE, CORPUS_FIXTURE)):
        return None
    environments, facet = _session_environments(collected), entry.case.facets.get("environment", "")
    option = dict(entry.responder.options).get("environment", "")
    where = entry.case.instance.origin if facet else setup_of(collected, entry.responder).where if option else ""
    return environments.get(environment_name(environments.names, facet, option, where or entry.testbed.nodeid))


def _uses_environments(collected: Collected, entry: Entry) -> bool:
    """Return whether a system calls tools: by the attribute of a user's factory, or by the file of a chain."""
    name, systems = entry.responder.kind, collected.catalog.systems
    if entry.testbed.recorded is not None or not entry.responder.named or name not in systems:
        return False
    needs = needs_of(collected, entry.responder)
    return bool(getattr(systems.get(name), "uses_environments", False)) or (needs is not None and bool(needs.tools))


def check_tools(needs: Requirements | None, environment: Environment) -> None:
    """Raise `UnknownNameError` if the file of a system names a tool that its environment does not have."""
    if needs is None or not needs.tools or environment.service is not None:  # a service starts with the first case
        return
    with environment.open() as opened:
        tool_names = [tool.name for tool in opened.tools]
    for where, name in needs.tools:
        if name not in tool_names:
            raise UnknownNameError(f"tool of environment {environment.name!r}", name, tool_names, where)


def _session_environments(collected: Collected) -> Environments:
    """Return the environments of the ini. If there are none and ``rag_corpus`` is set, return ``wiki`` over it."""
    if collected.environments is None:
        has_corpus = bool(collected.options.corpus)
        corpus = (lambda: collected.corpus.passages) if has_corpus else None
        collected.environments = _environments_over(collected, corpus)
    return collected.environments


def fixture_environments(collected: Collected, corpus: SessionCorpus) -> Environments:
    """Return the environments of the ini over the corpus of the fixture ``rag_corpus``."""
    needs_corpus = not collected.options.environments or any(
        line.kind in OVER_CORPUS and CORPUS_OPTION not in line.options
        for line in collected.options.environments.values()
    )
    passages = corpus() if needs_corpus else None
    if passages is None or collected.corpus.holds(passages):
        return _session_environments(collected)
    return _environments_over(collected, lambda: passages)


def environments_for(collected: Collected, request: pytest.FixtureRequest) -> Environments:
    """Return the environments of a test: those of its fixture, or those of the ini over its corpus."""
    if overridden(ENVIRONMENTS_FIXTURE, request.node) is not None:
        return _user_environments(collected, request.getfixturevalue(ENVIRONMENTS_FIXTURE))
    if overridden(CORPUS_FIXTURE, request.node) is not None:
        return fixture_environments(collected, lambda: request.getfixturevalue(CORPUS_FIXTURE))
    return _session_environments(collected)


def _user_environments(collected: Collected, value: object) -> Environments:
    """Return the environments of a user's fixture.

    It is a dict of name -> `Environment`, or -> any value that ``module:attr`` may name.

    Raises:
        SettingError: the value is not such a dict, or an environment cannot be built from its value.
    """
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise SettingError(
            f"the fixture {ENVIRONMENTS} returned {short_repr(value)}; return a dict of name -> environment"
        )
    environments = {
        name: environment_of(name, each, f"the fixture {ENVIRONMENTS}: {name}") for name, each in value.items()
    }
    return Environments({name: partial(_close_at_end, collected, each) for name, each in environments.items()})


def _close_at_end(collected: Collected, environment: Environment) -> Environment:
    """Register an environment to be closed with the session, and return it."""
    if all(environment is not each for each in collected.opened):
        collected.opened.append(environment)
    return environment


def _environments_over(collected: Collected, corpus: SessionCorpus | None) -> Environments:
    """Return the environments of the ini, or the default one, over ``corpus``.

    Environments that need no corpus are built once per session, so that a server starts only once.
    """
    lines = collected.options.environments
    if not lines and corpus is not None:
        lines = {DEFAULT: EnvironmentLine(DEFAULT, DEFAULT)}
    first = collected.environments
    builders: dict[str, Callable[[], Environment]] = {}
    for name, line in lines.items():
        if first is None or line.kind in OVER_CORPUS:
            builders[name] = partial(_build, collected, line, corpus)
        else:
            builders[name] = partial(first.get, name)
    return Environments(builders)


def _build(collected: Collected, line: EnvironmentLine, corpus: SessionCorpus | None) -> Environment:
    kinds: Registry[EnvironmentFactory] = Registry("environment kind", BUILTIN)
    if is_reference(line.kind):
        collected.named.extend_path()
        factory: EnvironmentFactory = build
    else:
        factory = kinds.get(line.kind, line.where)
    options = ComponentOptions(line.options, line.where)
    corpora = _Corpora(collected, corpus, line.where)
    cassettes = collected.models.cassettes
    parts = EnvironmentParts(
        line.name,
        line.kind,
        line.where,
        options,
        corpora,
        store_in(collected.rootdir),
        folder=collected.options.ini_folder,
        replays=cassettes is not None and not cassettes.may_ask(KIND, line.name),
    )
    return _close_at_end(collected, factory(parts))


class _Corpora:
    """Reads the corpora that one environment names."""

    def __init__(self, collected: Collected, session: SessionCorpus | None, where: str) -> None:
        self._collected = collected
        self._session = session
        self._where = where

    def check(self, line: str) -> None:
        """Raise `SettingError` if the corpus of a line is missing or cannot be read; "" is the session's corpus."""
        if not line and self._session is None:
            raise SettingError(f"{self._where} has no corpus; add corpus=FILE, or set rag_corpus")
        if line:
            try:
                self._corpus(line).check_files()
            except RagEvalError as error:
                problem = str(error).removeprefix("rag_corpus: ")
                raise SettingError(f"{self._where} has corpus={line}: {problem}", code=error.code) from None

    def read(self, line: str) -> tuple[Passage, ...]:
        """Return the passages of the corpus of a line; "" is the session's corpus."""
        if line:
            return self._corpus(line).passages or ()
        passages = tuple((self._session() if self._session is not None else None) or ())
        for passage in passages:
            if not isinstance(passage, Passage):
                raise SettingError(f"rag_corpus holds {short_repr(passage)}; give a list of Passage(id=..., text=...)")
        return cast("tuple[Passage, ...]", passages)

    def _corpus(self, line: str) -> Corpus:
        options, formats = self._collected.options, self._collected.catalog.corpora
        return Corpus([line], "none", options.ini_folder, formats, self._collected.corpus.watch)
