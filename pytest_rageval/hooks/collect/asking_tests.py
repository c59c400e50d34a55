"""Tests that ask the session's system with the fixture ``rag_ask``: which systems, and how often."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.datasets import Source
from pytest_rageval.hooks.collect.keys import ASKS, ENTRY
from pytest_rageval.hooks.collect.responders import responders_of
from pytest_rageval.hooks.collect.testbed import Entry, Testbed
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import MODEL
from pytest_rageval.testbeds.settings import parse_settings

if TYPE_CHECKING:
    from pytest_rageval.engine.estimate import AskRequests
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["ASK", "entries_of", "find_asking", "is_request", "requests_by"]

ASK = "rag_ask"
"""The name of the fixture."""

_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
          ast.FunctionDef, ast.AsyncFunctionDef)  # fmt: skip
"""Code that may run more than once."""


def find_asking(collected: Collected, items: Iterable[pytest.Item]) -> None:
    """Store on each test with ``rag_ask`` an entry for each system that it may ask."""
    testbeds: dict[str, Testbed] = {}
    source = Source(ASK, (), b"")
    for item in items:
        function = item.nodeid.partition("[")[0]
        testbed = testbeds.setdefault(function, _testbed(function))
        entries = []
        for responder in responders_of(item, collected):
            case = Case(ASK, Instance(ASK, "", origin=function), None, {"system": responder.name})
            entries.append(Entry(-1, testbed, source, case, ASK, responder))
        item.stash[ASKS] = tuple(entries)
        collected.asking += entries


def entries_of(item: pytest.Item) -> tuple[Entry, ...]:
    """Return the case of a test, and the stand-ins for its requests with ``rag_ask``."""
    entry = item.stash.get(ENTRY, None)
    return (*(() if entry is None else (entry,)), *item.stash.get(ASKS, ()))


def is_request(entry: Entry) -> bool:
    """Return whether an entry stands for the requests of a test, and is no case."""
    return entry.ordinal < 0


def requests_by(item: pytest.Item) -> list[AskRequests]:
    """Return what a test asks with ``rag_ask``, for each system; [] for a test that asks nothing."""
    from pytest_rageval.engine.estimate import AskRequests

    entries = item.stash.get(ASKS, ())
    each, examples = (_requests(item), _examples(item)) if entries else (None, 1)
    return [
        AskRequests(item.nodeid, one.responder.name, dict(one.responder.facets).get(MODEL, ""), examples, each)
        for one in entries
    ]


def _examples(item: Any) -> int:
    """Return how often Hypothesis calls a test, without the calls to shrink a failure; 1 without Hypothesis."""
    function = item.obj
    if not hasattr(function, "hypothesis"):
        return 1
    settings = getattr(function, "_hypothesis_internal_use_settings", None) or sys.modules["hypothesis"].settings()
    return int(settings.max_examples) + len(getattr(function, "hypothesis_explicit_examples", ()))


def _requests(item: Any) -> int | None:
    """Return the number of calls of ``rag_ask`` in a test; None if they may be repeated or are elsewhere."""
    function = getattr(getattr(item.obj, "hypothesis", None), "inner_test", item.obj)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return None
    body = [part for node in tree.body for part in getattr(node, "body", ())]
    names = [node for part in body for node in ast.walk(part) if _is_fixture(node)]
    called = [node.func for part in body for node in ast.walk(part) if isinstance(node, ast.Call)]
    repeated = [node for part in body for loop in ast.walk(part) if isinstance(loop, _LOOPS) for node in ast.walk(loop)]
    if not names or any(name not in called for name in names) or any(map(_is_fixture, repeated)):
        return None
    return len(names)


def _is_fixture(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == ASK


def _testbed(function: str) -> Testbed:
    path, _, name = function.rpartition("::")
    return Testbed(function, name or path, "", parse_settings({"dataset": f"{ASK}:requests"}, function), 0, True)
