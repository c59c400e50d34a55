"""Hooks of collection: parametrize tests, select cases, refuse invalid markers and data."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Generator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY, SKIPPED_FILES
from pytest_rageval.hooks.collect.start import collected_of
from pytest_rageval.hooks.collect.usage_errors import REFUSED, located_message, refuse

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry, Site

__all__ = [
    "pytest_collection_modifyitems",
    "pytest_generate_tests",
    "pytest_itemcollected",
    "pytest_make_collect_report",
    "pytest_pycollect_makeitem",
    "pytest_report_collectionfinish",
]

_OPCODES_WITHOUT_EFFECT = {"RESUME", "NOP", "CACHE", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> Generator[None, object, object]:
    """Add the ``rag`` fixture to a test with ``@rag_case``, and store the items of its cases."""
    if not _add_rag_fixture(collector, name, obj):
        return (yield)
    from pytest_rageval.garbage_collection import pause_garbage_collection

    with pause_garbage_collection():
        items = yield
    if COLLECTED in collector.config.stash and isinstance(items, list):
        from pytest_rageval.hooks.prepare.gate_cases import entry_of

        collector.config.stash[COLLECTED].items += [item for item in items if entry_of(item) is not None]
    return items


def _add_rag_fixture(collector: pytest.Module | pytest.Class, name: str, obj: object) -> bool:
    """Add the ``rag`` fixture to a test with ``@rag_case`` that does not request it.

    Return whether ``obj`` is a test with ``@rag_case``.
    """
    function = obj.__func__ if isinstance(obj, (staticmethod, classmethod)) else obj
    if not inspect.isfunction(function):
        return False
    has_marker = any(mark.name == "rag_case" for mark in getattr(function, "pytestmark", ()))
    if not (has_marker or collector.get_closest_marker("rag_case")) or not collector.istestfunction(obj, name):
        return False
    code = function.__code__
    if "rag" not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        pytest.mark.usefixtures("rag")(function)
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Multiply a test with ``@rag_case`` into one item for each case."""
    marks = _marks(metafunc.definition)
    if not marks:
        return
    from pytest_rageval.hooks.collect.early_selection import cases_with_item
    from pytest_rageval.hooks.collect.session import parametrize

    entries: Sequence[tuple[str, Entry]] = []
    try:
        if REFUSED not in metafunc.config.stash:
            entries = cases_with_item(metafunc, partial(_entries, metafunc, marks))
    except RagEvalError as error:
        metafunc.config.stash.setdefault(REFUSED, []).append(message_with_code(error))
    parametrize(metafunc, entries)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse the session at the first invalid marker, suite or data file, or at a duplicate registered name.

    Count the files that another plugin (such as ``--lf``) skips: their reports have no call.
    """
    report = yield
    if isinstance(collector, pytest.File) and report.passed and not hasattr(report, "call"):
        collector.config.stash[SKIPPED_FILES] = collector.config.stash.get(SKIPPED_FILES, 0) + 1
    refused = collector.config.stash.get(REFUSED, [])
    call: pytest.CallInfo[object] | None = getattr(report, "call", None)
    if not refused and call is not None and call.excinfo is not None and call.excinfo.errisinstance(RagEvalError):
        refused = [located_message(call.excinfo.value, collector.config.rootpath)]
    for message in refused[:1]:
        refuse(collector.config, collector.nodeid, message)
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Store each item's case in its stash; refuse the session if a marker had no effect."""
    callspec = getattr(item, "callspec", None)
    entry = None if callspec is None else callspec.params.get("rag")
    if entry is not None and COLLECTED in item.config.stash:
        from pytest_rageval.hooks.collect.testbed import Entry

        if isinstance(entry, Entry):
            item.stash[ENTRY] = entry
            entry.testbed.reached = True
            return
    if item.get_closest_marker("rag_case") and REFUSED not in item.config.stash:
        problem = (
            "rag_case has no effect here; put it on a function, a class that is not a unittest.TestCase, or a module"
        )
        refuse(item.config, item.nodeid, message_with_code(SettingError(f"{item.nodeid}: {problem}", code="RAG108")))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Apply ``where``, ``limit`` and ``sample`` after pytest's own selection, and report deselected items."""
    _add_request_entries(session, items)
    if COLLECTED not in config.stash:
        if config.option.rag_gate and REFUSED not in config.stash:
            problem = "--rag-gate: no RAG case was collected that a gate could judge; correct the path"
            refuse(config, session.nodeid, message_with_code(SettingError(problem, code="RAG112")))
        elif any("rag_corpus" in getattr(item, "fixturenames", ()) for item in items):
            _read_corpus(session, items)
        return
    from pytest_rageval.hooks.collect.early_selection import report_cases_without_item
    from pytest_rageval.hooks.collect.selection import deselected, of_other_shards
    from pytest_rageval.hooks.prepare.checks import check_session
    from pytest_rageval.hooks.prepare.default_system import note_similar_fixture

    collected = config.stash[COLLECTED]
    try:
        check_session(collected)
        if config.option.markexpr:
            from pytest_rageval.hooks.collect.marker_expressions import checked_terms

            collected.notes += checked_terms(config.option.markexpr, collected.entries)
        note_similar_fixture(config, items)
        selected = {item.stash[ENTRY].ordinal for item in items if ENTRY in item.stash}
        dropped = deselected(collected.options, collected.entries, selected)
    except RagEvalError as error:
        refuse(config, session.nodeid, message_with_code(error))
        return
    all_shards = _without(items, dropped)
    if collected.options.shard is not None:
        collected.shared = frozenset(selected - dropped)
        other_shards = of_other_shards(collected.options.shard, collected.entries, collected.shared)
        cases = (item for item in all_shards if ENTRY in item.stash)
        collected.other_shard_nodes += [item.nodeid for item in cases if item.stash[ENTRY].ordinal in other_shards]
        dropped |= other_shards
    deselected_items = [item for item in items if ENTRY in item.stash and item.stash[ENTRY].ordinal in dropped]
    items[:] = _without(items, dropped)
    if deselected_items := [*deselected_items, *report_cases_without_item(session)]:
        config.hook.pytest_deselected(items=deselected_items)
    _read_corpus(session, all_shards)  # all shards have the fingerprint of the whole session
    _load_judges(session, all_shards)
    if REFUSED not in config.stash and not config.option.collectonly:
        _check_before_run(session, items)
    _load_embedder(session, items)
    _load_environments(session, items)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """With ``--collect-only``, report terms of ``-m`` that select no case; a run reports them in its summary."""
    if not config.option.collectonly or COLLECTED not in config.stash:
        return []
    return [note for note in config.stash[COLLECTED].notes if note.startswith("-m ")]


def _without(items: list[pytest.Item], dropped: set[int]) -> list[pytest.Item]:
    """Return the items without the cases whose ordinals are in ``dropped``; keep items that are not cases."""
    return [item for item in items if ENTRY not in item.stash or item.stash[ENTRY].ordinal not in dropped]


def _refuse_on_error(session: pytest.Session, check: Callable[[], object]) -> None:
    """Call ``check``; if it raises a `RagEvalError`, refuse the session before anything runs."""
    try:
        check()
    except RagEvalError as error:
        refuse(session.config, session.nodeid, message_with_code(error))


def _add_request_entries(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Find the tests that use ``rag_ask``, and the systems that they ask."""
    tests = [item for item in items if "rag_ask" in getattr(item, "fixturenames", ())]
    if tests and REFUSED not in session.config.stash:
        from pytest_rageval.hooks.collect.asking_tests import add_request_entries

        _refuse_on_error(session, lambda: add_request_entries(collected_of(session.config), tests))


def _check_before_run(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Check recordings and budget, and drop the cases taken over from another run."""
    from pytest_rageval.hooks.prepare.selected_cases import check_before_run

    _refuse_on_error(session, lambda: check_before_run(session, items))


def _read_corpus(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Read the corpus of the ini before anything runs, if a test needs it."""
    from pytest_rageval.hooks.prepare.corpus_use import read_if_needed

    _refuse_on_error(session, lambda: read_if_needed(session.config, items))


def _load_judges(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Load the local judges of the ini that judge a case, before anything runs."""
    config = session.config
    if REFUSED in config.stash or config.option.collectonly or not config.stash[COLLECTED].panels:
        return
    from pytest_rageval.hooks.prepare.local_judges import load_local_judges

    entries = [item.stash[ENTRY] for item in items if ENTRY in item.stash]
    _refuse_on_error(session, lambda: load_local_judges(config.stash[COLLECTED], entries))


def _load_embedder(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Create the embedding model of the ini before anything runs, if a metric needs it."""
    from pytest_rageval.hooks.config.fixture_overrides import EMBEDDER, overridden

    config = session.config
    if REFUSED in config.stash or config.option.collectonly or config.option.rag_dry_run:
        return
    first_items = {item.stash[ENTRY].testbed: item for item in reversed(items) if ENTRY in item.stash}
    if all(overridden(EMBEDDER, item) is not None for testbed, item in first_items.items() if testbed.embeds):
        return
    _refuse_on_error(session, lambda: config.stash[COLLECTED].models.embedder_of_options())


def _load_environments(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Choose the environment of each case that an agent answers; read its data unless no test will run."""
    config = session.config
    collected = config.stash[COLLECTED]
    entries = chain(collected.entries, collected.request_entries)
    if REFUSED in config.stash or not any(entry.responder.named for entry in entries):
        return
    from pytest_rageval.hooks.prepare.environments import load_used

    reads = not config.option.collectonly and not config.option.rag_dry_run
    _refuse_on_error(session, lambda: load_used(collected, items, reads=reads))


def _entries(metafunc: pytest.Metafunc, marks: list[pytest.Mark]) -> list[tuple[str, Entry]]:
    """Return the id and entry of each case that the markers of a test select."""
    from pytest_rageval.hooks.collect.responders import responders_of

    collected = collected_of(metafunc.config)
    definition = metafunc.definition
    site = _site(definition)
    responders = responders_of(definition, collected)
    entries: list[tuple[str, Entry]] = []
    for number, mark in enumerate(marks, 1):
        arguments: dict[str, Any] = dict(mark.kwargs)
        if len(mark.args) > 1 or (mark.args and "dataset" in arguments):
            raise SettingError(f"{site.where}: rag_case takes one positional argument, the dataset; name the others")
        if mark.args:
            arguments["dataset"] = mark.args[0]
        entries += collected.add(site, number, arguments, responders)
    return entries


def _marks(definition: pytest.Function) -> list[pytest.Mark]:
    """Return the ``rag_case`` markers in reading order: module, class, function, each from top to bottom."""
    marks: list[pytest.Mark] = []
    for node in definition.listchain():
        markers = [mark for mark in node.own_markers if mark.name == "rag_case"]
        marks += markers if isinstance(node, pytest.Module) else markers[::-1]
    return marks


def _site(definition: pytest.Function) -> Site:
    """Return the place of a test function; an inherited one may be in another file than its class."""
    from pytest_rageval.datasets.source import shown_path
    from pytest_rageval.hooks.collect.testbed import Site

    function = inspect.unwrap(definition.obj)
    source = Path(function.__code__.co_filename)
    is_inherited = function.__module__ not in (None, definition.module.__name__)
    shown = shown_path(source) if is_inherited else definition.nodeid.partition("::")[0]
    return Site(
        nodeid=definition.nodeid,
        name=definition.name,
        where=f"{shown}:{function.__code__.co_firstlineno}",
        folders=(definition.path.parent, source.parent),
        asserts=any(step.opname not in _OPCODES_WITHOUT_EFFECT for step in dis.get_instructions(function)),
    )
