"""Which of the plugin's fixtures a test overrides, and with what.

pytest has no public way to ask; this is the one place that looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

__all__ = [
    "CORPUS_FIXTURE",
    "EMBEDDER",
    "MODELS",
    "PARTS",
    "foreign_fixtures",
    "overridden",
    "reaches",
    "reaches_own",
    "session_params",
]

CORPUS_FIXTURE = "rag_corpus"
"""The fixture that gives the corpus; the plugin's own gives that of the ini."""

PARTS = (CORPUS_FIXTURE, "rag_retriever", "rag_generator")
"""The fixtures that the default system is made of."""

MODELS = ("rag_llm", "rag_judge")
"""The fixtures that give the models."""

EMBEDDER = "rag_embedder"
"""The fixture that gives the embedding model, which registered systems may be made of."""

_OWN = "pytest_rageval.hooks.run.fixtures"


def overridden(name: str, node: pytest.Item) -> pytest.FixtureDef[Any] | None:
    """Return the user's definition of the fixture ``name`` that is in force for ``node``; None when it is ours."""
    found = node.session._fixturemanager.getfixturedefs(name, node)
    theirs = found and found[-1].func.__module__ != _OWN
    return found[-1] if found and theirs else None


def reaches_own(name: str, starts: Iterable[str], node: pytest.Item) -> bool:
    """Return whether setting up the fixtures ``starts`` for a test sets up the plugin's own fixture ``name``."""
    return any(fixture == name and made.func.__module__ == _OWN for fixture, made in _set_up(starts, node))


def reaches(name: str, starts: Iterable[str], node: pytest.Item) -> bool:
    """Return whether setting up the fixtures ``starts`` for a test sets up a fixture ``name``, whoever wrote it."""
    return any(fixture == name for fixture, _ in _set_up(starts, node))


def _set_up(starts: Iterable[str], node: pytest.Item) -> Iterator[tuple[str, pytest.FixtureDef[Any]]]:
    """Yield the fixtures that setting up ``starts`` sets up, by name."""
    left = [(start, 1) for start in starts]
    seen: set[tuple[str, int]] = set()
    while left:
        fixture, depth = place = left.pop()
        found = node.session._fixturemanager.getfixturedefs(fixture, node) or ()
        if place in seen or len(found) < depth:
            continue
        seen.add(place)
        yield fixture, found[-depth]
        left += [(asked, depth + 1 if asked == fixture else 1) for asked in found[-depth].argnames]


def session_params(item: Any) -> dict[str, int]:
    """Return which parameter, by its index, each session-scoped fixture of a test is given."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    return {name: at for name, at in callspec.indices.items() if callspec._arg2scope[name].value == "session"}


def foreign_fixtures(info: Any) -> list[pytest.FixtureDef[Any]]:
    """Return the fixtures of a test, from its ``_fixtureinfo``, that are neither pytest's nor ours.

    The systems, parts and models of a user are left out: an answer waits for them anyway. Pytest's ``monkeypatch`` is
    not: what it changes is changed for one test.
    """
    known = {*PARTS, *MODELS, EMBEDDER, "rag_system"}
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
