"""Find the plugin's fixtures that a test overrides, and their definitions.

pytest has no public API for this; only this module uses its internals.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

__all__ = [
    "CORPUS_FIXTURE",
    "EMBEDDER",
    "ENVIRONMENTS_FIXTURE",
    "MODELS",
    "PARTS",
    "SYSTEM_FIXTURE",
    "foreign_fixtures",
    "overridden",
    "reaches",
    "reaches_own",
    "request_of",
    "running_test",
    "session_params",
    "set_up_for",
    "similar_fixtures",
]

SYSTEM_FIXTURE = "rag_system"
"""The fixture of the system under test; the plugin's own builds it from the fixtures of its parts."""

CORPUS_FIXTURE = "rag_corpus"
"""The fixture of the corpus; the plugin's own returns the corpus of the ini."""

PARTS = (CORPUS_FIXTURE, "rag_retriever", "rag_generator")
"""The fixtures of the default system's parts."""

MODELS = ("rag_llm", "rag_judge")
"""The fixtures of the models."""

EMBEDDER = "rag_embedder"
"""The fixture of the embedding model; registered systems may use it."""

ENVIRONMENTS_FIXTURE = "rag_environments"
"""The fixture of the environments; registered systems may use it."""

MIN_SIMILARITY = 0.8
"""Minimum similarity, as difflib computes it, for a name to count as a misspelling of another one."""

_OWN = "pytest_rageval.hooks.run.fixtures"


def overridden(name: str, node: pytest.Item) -> pytest.FixtureDef[Any] | None:
    """Return the user's definition of the fixture ``name`` for the test ``node``; None if the plugin's own applies."""
    definitions = node.session._fixturemanager.getfixturedefs(name, node)
    return definitions[-1] if definitions and definitions[-1].func.__module__ != _OWN else None


def similar_fixtures(name: str, node: pytest.Item) -> list[str]:
    """Return a test's user fixtures with names close to ``name``, in the form ``rag_sytem (conftest.py:12)``."""
    from difflib import get_close_matches

    root = node.config.rootpath
    modules = (*node.config.pluginmanager.get_plugins(), getattr(node, "module", None))
    paths = {each: getattr(each, "__file__", None) for each in modules if isinstance(each, ModuleType)}
    user_modules = (module for module, path in paths.items() if path is not None and Path(path).is_relative_to(root))
    names = {each for module in user_modules for each in vars(module)} - {name}
    places = []
    for each in get_close_matches(name, names, n=len(names) or 1, cutoff=MIN_SIMILARITY):
        definition = overridden(each, node)
        code = None if definition is None else getattr(inspect.unwrap(definition.func), "__code__", None)
        if code is not None:
            places.append(f"{each} ({os.path.relpath(code.co_filename, root)}:{code.co_firstlineno})")
    return places


def reaches_own(name: str, starts: Iterable[str], node: pytest.Item) -> bool:
    """Return whether the fixtures ``starts`` of a test depend on the plugin's own fixture ``name``."""
    return any(fixture == name and used.func.__module__ == _OWN for fixture, used in _closure(starts, node))


def reaches(name: str, starts: Iterable[str], node: pytest.Item) -> bool:
    """Return whether the fixtures ``starts`` of a test depend on a fixture ``name``, the plugin's or a user's."""
    return any(fixture == name for fixture, _ in _closure(starts, node))


def _closure(starts: Iterable[str], node: pytest.Item) -> Iterator[tuple[str, pytest.FixtureDef[Any]]]:
    """Yield name and definition of the fixtures ``starts`` and of all fixtures that they depend on."""
    queue = [(start, 1) for start in starts]
    seen: set[tuple[str, int]] = set()
    while queue:
        fixture, depth = place = queue.pop()
        definitions = node.session._fixturemanager.getfixturedefs(fixture, node) or ()
        if place in seen or len(definitions) < depth:
            continue
        seen.add(place)
        yield fixture, definitions[-depth]
        queue += [(name, depth + 1 if name == fixture else 1) for name in definitions[-depth].argnames]


def running_test(session: pytest.Session) -> pytest.Item | None:
    """Return the test that is set up, runs or is torn down; None between tests."""
    nodes = list(session._setupstate.stack)
    return nodes[-1] if nodes and isinstance(nodes[-1], pytest.Item) else None


def request_of(item: Any) -> pytest.FixtureRequest | None:
    """Return the request of a test, which can set up further fixtures; None for an item without fixtures."""
    request = getattr(item, "_request", None)
    return request if isinstance(request, pytest.FixtureRequest) else None


@contextmanager
def set_up_for(item: Any, following: pytest.Item | None) -> Iterator[pytest.FixtureRequest]:
    """Set up the modules, classes and autouse fixtures of a test; yield a request that can set up its other fixtures.

    The test itself does not run. Afterwards, everything is torn down that the test ``following`` does not need. If it
    is None, everything is torn down.
    """
    manager, state = item.session._fixturemanager, item.session._setupstate
    info = manager.getfixtureinfo(item.parent, None, None)
    callspec = getattr(item, "callspec", None)
    stand_in: Any = pytest.Function.from_parent(
        item.parent, name=item.name, callobj=_do_nothing, fixtureinfo=info, callspec=callspec
    )
    try:
        state.setup(stand_in)
        yield stand_in._request
    finally:
        state.teardown_exact(following)


def _do_nothing() -> None:
    """Take the place of a test function that does not run."""


def session_params(item: Any) -> dict[str, int]:
    """Return fixture -> index of its parameter, for the session-scoped fixtures of a test."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    return {name: index for name, index in callspec.indices.items() if callspec._arg2scope[name].value == "session"}


def foreign_fixtures(info: Any) -> list[pytest.FixtureDef[Any]]:
    """Return the fixtures of a test, from its ``_fixtureinfo``, that are neither pytest's nor the plugin's.

    A user's systems, parts and models are omitted, because an answer waits for them anyway. pytest's ``monkeypatch``
    is included, because its changes apply to one test only.
    """
    known = {*PARTS, *MODELS, EMBEDDER, ENVIRONMENTS_FIXTURE, "rag_system"}
    return [
        definition
        for name, definitions in info.name2fixturedefs.items()
        for definition in definitions[-1:]
        if name not in known
        and (name.startswith(("_xunit", "_unittest", "monkeypatch")) or not _is_pytests(definition))
    ]


def _is_pytests(definition: pytest.FixtureDef[Any]) -> bool:
    module = definition.func.__module__
    return module == _OWN or module.partition(".")[0] == "_pytest"
