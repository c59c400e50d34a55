"""Tests that use the fixture ``rag_ask``: which systems they ask, and how often."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.datasets import Source
from pytest_rageval.hooks.collect.keys import ENTRY, REQUEST_ENTRIES
from pytest_rageval.hooks.collect.responders import responders_of
from pytest_rageval.hooks.collect.testbed import Entry, Testbed
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import MODEL
from pytest_rageval.testbeds.settings import parse_settings

if TYPE_CHECKING:
    from pytest_rageval.engine.estimate import AskRequests
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["ASK", "add_request_entries", "entries_of", "is_request", "requests_by"]

ASK = "rag_ask"
"""The name of the fixture."""

_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
          ast.FunctionDef, ast.AsyncFunctionDef)  # fmt: skip
"""Code that may run more than once."""


def add_request_entries(collected: Collected, items: Iterable[pytest.Item]) -> None:
    """Store an entry for each system that a test may ask, on the test and in ``collected``.

    Args:
        collected: the session's collected state.
        items: the tests with ``rag_ask``.
    """
    testbeds: dict[str, Testbed] = {}
    source = Source(ASK, (), b"")
    for item in items:
        function = item.nodeid.partition("[")[0]
        testbed = testbeds.setdefault(function, _testbed(function))
        entries = []
        for responder in responders_of(item, collected):
            case = Case(ASK, Instance(ASK, "", origin=function), None, {"system": responder.name})
            entries.append(Entry(-1, testbed, source, case, ASK, responder))
        item.stash[REQUEST_ENTRIES] = tuple(entries)
        collected.request_entries += entries


def entries_of(item: pytest.Item) -> tuple[Entry, ...]:
    """Return the entry of a test's case, if it has one, and those that stand for its requests with ``rag_ask``."""
    entry = item.stash.get(ENTRY, None)
    return (*(() if entry is None else (entry,)), *item.stash.get(REQUEST_ENTRIES, ()))


def is_request(entry: Entry) -> bool:
    """Return whether an entry stands for a test's requests with ``rag_ask`` instead of for a case."""
    return entry.ordinal < 0


def requests_by(item: pytest.Item) -> list[AskRequests]:
    """Return what a test is expected to ask with ``rag_ask``, for each system; [] if it asks nothing."""
    from pytest_rageval.engine.estimate import AskRequests

    entries = item.stash.get(REQUEST_ENTRIES, ())
    calls, examples = (_count_calls(item), _count_examples(item)) if entries else (None, 1)
    return [
        AskRequests(item.nodeid, entry.responder.name, dict(entry.responder.facets).get(MODEL, ""), examples, calls)
        for entry in entries
    ]


def _count_examples(item: Any) -> int:
    """Return how often Hypothesis calls a test, except to shrink a failure; 1 for other tests."""
    function = item.obj
    if not hasattr(function, "hypothesis"):
        return 1
    settings = getattr(function, "_hypothesis_internal_use_settings", None) or sys.modules["hypothesis"].settings()
    return int(settings.max_examples) + len(getattr(function, "hypothesis_explicit_examples", ()))


def _count_calls(item: Any) -> int | None:
    """Return the number of calls of ``rag_ask`` in a test's source; None if a loop or another function may call it."""
    function = getattr(getattr(item.obj, "hypothesis", None), "inner_test", item.obj)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return None
    body = [part for node in tree.body for part in getattr(node, "body", ())]
    uses = [node for part in body for node in ast.walk(part) if _is_fixture(node)]
    callees = [node.func for part in body for node in ast.walk(part) if isinstance(node, ast.Call)]
    repeated = [node for part in body for loop in ast.walk(part) if isinstance(loop, _LOOPS) for node in ast.walk(loop)]
    if not uses or any(use not in callees for use in uses) or any(map(_is_fixture, repeated)):
        return None
    return len(uses)


def _is_fixture(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == ASK


def _testbed(function: str) -> Testbed:
    path, _, name = function.rpartition("::")
    return Testbed(function, name or path, "", parse_settings({"dataset": f"{ASK}:requests"}, function), 0, True)
