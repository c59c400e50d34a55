"""What becomes of a worker that is lost, told without any."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from execnet import HostNotFound, XSpec

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.reporting.remote_workers import hold, is_scattered, replace_here, reporting_unreachable


class Manager:
    """Xdist's maker of workers, on machines of which only this one is left."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def setup_node(self, spec: Any, putevent: object) -> str:
        if not spec.popen:
            raise self.error
        return f"a worker of {spec}"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "socket=far:1 was lost, and Connection refused: "),
        (HostNotFound("far"), "socket=far:1 was lost, and HostNotFound far: "),
        (EOFError(), "socket=far:1 was lost, and EOFError: "),
    ],
)
def test_a_lost_machine_is_replaced_by_this_one(error: Exception, told: str) -> None:
    said: list[str] = []
    manager = Manager(error)
    for _ in range(2):  # a second one may be lost
        replace_here(SimpleNamespace(nodemanager=manager), said.append)
    assert manager.setup_node(XSpec("popen"), None) == "a worker of popen"
    assert said == []
    assert manager.setup_node(XSpec("socket=far:1"), None) == "a worker of popen"
    assert said == [f"{told}a worker on this machine took its place"]


def test_a_command_to_a_worker_that_was_lost_ends_nothing() -> None:
    sent: list[object] = []

    def send(name: str, **arguments: object) -> None:
        sent.append((name, arguments))
        raise OSError("cannot send (already closed?)")

    node = SimpleNamespace(sendcommand=send)
    hold(node)
    node.sendcommand("runtests", indices=[1])
    assert sent == [("runtests", {"indices": [1]})]


@pytest.mark.parametrize(
    ("specs", "scattered"),
    [(["popen", "popen"], False), (["popen", "socket=far:1"], True), (["ssh=far"], True), (["popen//chdir=x"], True)],
)
def test_workers_here_share_one_disk(specs: list[str], scattered: bool) -> None:
    node = SimpleNamespace(nodemanager=SimpleNamespace(specs=[XSpec(spec) for spec in specs]))
    assert bool(is_scattered(node)) is scattered


@pytest.mark.parametrize("error", [ValueError("of another plugin"), TypeError("likewise")])
def test_what_has_nothing_to_do_with_machines_goes_through(pytester: pytest.Pytester, error: Exception) -> None:
    config = pytester.parseconfig("--tx=socket=far:1")
    with pytest.raises(type(error), match=str(error)), reporting_unreachable(config):
        raise error
    with pytest.raises(pytest.UsageError, match="one machine"), reporting_unreachable(config):
        raise SettingError("one machine")
