"""The next tests of a process, and which of them may be asked ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rageval.hooks.run.test_queue import UpcomingTests, may_be_skipped

ITEMS = [SimpleNamespace(number=number) for number in range(10)]


class Queue:
    """The part of an xdist worker's `torun` that the product reads."""

    def __init__(self, *items: object) -> None:
        self.items = deque(items)

    @contextmanager
    def lock(self) -> Iterator[deque[object]]:
        yield self.items


def upcoming(worker: object = None, *, steals: bool = False, in_worker: bool = False, hook: object = None) -> Any:
    """Return the upcoming tests of a session of ten tests."""
    hooks = [] if hook is None else [SimpleNamespace(plugin=hook)]
    caller = SimpleNamespace(get_hookimpls=lambda: hooks)
    none = SimpleNamespace(get_hookimpls=list)
    manager = SimpleNamespace(get_plugins=lambda: [object(), worker], register=lambda *plugin: None)
    config = SimpleNamespace(
        pluginmanager=manager,
        hook=SimpleNamespace(pytest_runtest_setup=caller, pytest_runtest_protocol=none, pytest_fixture_setup=none),
    )
    if worker is not None or in_worker:
        config.workerinput = {"rag_steals": steals}
    return UpcomingTests(SimpleNamespace(items=ITEMS, config=config))  # type: ignore[arg-type]


def numbers(items: Any) -> list[int]:
    return [item.number for item in items]


def test_without_workers_the_next_tests_follow_the_order_of_the_session() -> None:
    tests = upcoming()
    assert numbers(tests.after(ITEMS[0], 3)) == [1, 2, 3]
    assert numbers(tests.after(ITEMS[1], 3)) == [2, 3, 4]
    assert numbers(tests.after(ITEMS[1], 3)) == [2, 3, 4]  # a rerun
    assert numbers(tests.after(ITEMS[7], 5)) == [8, 9]
    assert numbers(tests.after(ITEMS[2], 2)) == [3, 4]  # an earlier test runs again
    assert numbers(tests.after(ITEMS[9], 5)) == []


def test_in_a_worker_the_next_tests_are_those_assigned_to_it() -> None:
    worker = SimpleNamespace(torun=Queue(6, 8, 9, "shutdown"), nextitem_index=4)
    tests = upcoming(worker)
    assert numbers(tests.after(ITEMS[2], 9)) == [4, 6, 8, 9]
    assert numbers(tests.after(ITEMS[2], 2)) == [4, 6]
    worker.nextitem_index = "shutdown"
    worker.torun.items.clear()
    assert numbers(tests.after(ITEMS[9], 9)) == []


def test_a_worker_without_a_queue_has_no_known_next_tests() -> None:
    assert numbers(upcoming(in_worker=True).after(ITEMS[0], 9)) == []


@pytest.mark.parametrize(("steals", "expected"), [(True, [4, 6]), (False, [4, 6, 8])])
def test_tests_that_may_be_stolen_are_left_out(steals: bool, expected: list[int]) -> None:
    worker = SimpleNamespace(torun=Queue(6, 8), nextitem_index=4, steal=None)
    tests = upcoming(worker, steals=steals)
    assert numbers(tests.without_stealable(tests.after(ITEMS[2], 9))) == expected
    assert tests.keep(ITEMS[6])
    assert tests.keep(ITEMS[7]) is not steals  # another worker has it


def item(*marks: pytest.MarkDecorator, fixtures: Any = (), info: object = None, params: Any = None) -> Any:
    """Return a stub of a test with the marks and fixtures that the product reads."""
    pytest_marks = [mark.mark for mark in marks]
    definitions = {definition.argname: (definition,) for definition in fixtures}
    return SimpleNamespace(
        get_closest_marker=lambda name: next((mark for mark in pytest_marks if mark.name == name), None),
        iter_markers=lambda name: [mark for mark in pytest_marks if mark.name == name],
        _fixtureinfo=info or SimpleNamespace(name2fixturedefs=definitions),
        callspec=SimpleNamespace(indices=params or {}, _arg2scope={}),
    )


def fixture(scope: str, result: object = None, module: str = "test_a", name: str = "theirs", params: Any = None) -> Any:
    func = SimpleNamespace(__module__=module)
    return SimpleNamespace(argname=name, scope=scope, cached_result=result, func=func, params=params)


SUCCESS, FAILURE = (1, None, None), (None, None, (OSError(), None))

FIXTURES = {
    "none": ((), True),
    "pytest's own": ((fixture("function", module="_pytest.tmpdir"),), True),
    "ours": ((fixture("function", module="pytest_rageval.hooks.run.fixtures"),), True),
    "the system": ((fixture("session", name="rag_system"),), True),
    "function": ((fixture("function", SUCCESS),), False),
    "monkeypatch": ((fixture("function", module="_pytest.monkeypatch", name="monkeypatch"),), False),
    "module of another function": ((fixture("module", SUCCESS),), False),
    "session, set up": ((fixture("session", SUCCESS),), True),
    "session, not yet": ((fixture("session"),), False),
    "session, failed": ((fixture("session", FAILURE),), False),
    "session, with parameters": ((fixture("session", SUCCESS, params=[1, 2]),), False),
    "setup_method": ((fixture("function", module="_pytest.python", name="_xunit_setup_method_fixture_A"),), False),
    "one of two": ((fixture("session", SUCCESS), fixture("function", name="other")), False),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_a_test_is_not_asked_ahead_if_a_fixture_could_still_fail(name: str) -> None:
    fixtures, is_allowed = FIXTURES[name]
    assert upcoming().follows_directly(item(fixtures=fixtures), item()) is is_allowed


@pytest.mark.parametrize(
    ("scope", "is_allowed"), [("function", False), ("class", False), ("module", False), ("session", True)]
)
def test_fixtures_of_the_current_test_below_session_scope_delay_other_tests(scope: str, is_allowed: bool) -> None:
    current = item(fixtures=(fixture(scope, SUCCESS),))
    assert upcoming().follows_directly(item(), current) is is_allowed


def test_an_item_without_fixtures_is_asked_ahead() -> None:
    assert upcoming().follows_directly(SimpleNamespace(), item())


def test_a_worker_of_an_older_xdist_has_no_known_next_tests() -> None:
    worker = SimpleNamespace(torun=SimpleNamespace(), nextitem_index=4)
    assert numbers(upcoming(worker).after(ITEMS[2], 9)) == []


def test_a_fixture_that_the_current_test_has_set_up_serves_the_next_test() -> None:
    info = SimpleNamespace(name2fixturedefs={"theirs": (fixture("module", SUCCESS, params=[1, 2]),)})
    first, same, other = (item(info=info, params={"theirs": at}) for at in (0, 0, 1))
    assert upcoming().follows_directly(same, first)
    assert not upcoming().follows_directly(other, first)


@pytest.mark.parametrize(
    ("mark", "is_allowed"),
    [
        (pytest.mark.skip, False),
        (pytest.mark.skipif("False"), False),
        (pytest.mark.xfail(run=False), False),
        (pytest.mark.xfail, True),
        (pytest.mark.usefixtures, True),
    ],
)
def test_a_test_that_a_mark_may_skip_is_not_asked_ahead(mark: pytest.MarkDecorator, is_allowed: bool) -> None:
    assert may_be_skipped(item(mark)) is not is_allowed


@pytest.mark.parametrize(
    ("module", "is_allowed"),
    [("_pytest.runner", True), ("pytest_rageval.plugin", True), ("conftest", False), ("tests.conftest", False),
     ("pytest_timeout", True), ("pytest_dependency", False), ("my_plugin", False)],
)  # fmt: skip
def test_hooks_of_unknown_plugins_prevent_asking_ahead(module: str, is_allowed: bool) -> None:
    hook = SimpleNamespace(__name__=module)
    assert upcoming(hook=hook).follows_directly(item(), item()) is is_allowed
