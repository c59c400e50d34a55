"""What becomes of a worker that is lost, told without any."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest
from execnet import HostNotFound, XSpec
from execnet.gateway_base import get_execmodel
from execnet.gateway_socket import SocketIO

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.reporting.remote_workers import (
    has_remote_workers,
    ignore_send_errors,
    keep_alive,
    replace_locally,
    reporting_unreachable,
)


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
        replace_locally(SimpleNamespace(nodemanager=manager, gateway=SimpleNamespace(_io=None)), said.append)
    assert manager.setup_node(XSpec("popen"), None) == "a worker of popen"
    assert said == []
    assert manager.setup_node(XSpec("socket=far:1"), None) == "a worker of popen"
    assert said == [f"{told}a worker on this machine took its place"]


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="this system has no such option")
def test_a_machine_that_stopped_answering_is_not_asked_again() -> None:
    said: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))
    with listening, socket.create_connection(listening.getsockname()) as connected:
        io = SocketIO(connected, get_execmodel("thread"))
        keep_alive(io)
        idle, between, probes = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        options = [connected.getsockopt(socket.IPPROTO_TCP, option) for option in (idle, between, probes)]
        assert options[0] + options[1] * options[2] == 20
        waits = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert waits == 30_000  # less would drop a session that Ctrl-Z stops for a moment
        connected.settimeout(0.01)
        with pytest.raises(TimeoutError):  # as the probes of the system raise it
            io.read(9)
    manager = Manager(AssertionError("asked"))
    node = SimpleNamespace(nodemanager=manager, gateway=SimpleNamespace(_io=io))
    replace_locally(node, said.append)
    assert manager.setup_node(XSpec("socket=far:1"), None) == "a worker of popen"
    assert said == ["socket=far:1 was lost, and TimeoutError timed out: a worker on this machine took its place"]
    assert manager.setup_node(XSpec("popen"), None) == "a worker of popen"
    assert len(said) == 1


def test_a_command_to_a_worker_that_was_lost_ends_nothing() -> None:
    sent: list[object] = []

    def send(name: str, **arguments: object) -> None:
        sent.append((name, arguments))
        raise OSError("cannot send (already closed?)")

    node = SimpleNamespace(sendcommand=send)
    ignore_send_errors(node)
    node.sendcommand("runtests", indices=[1])
    assert sent == [("runtests", {"indices": [1]})]


@pytest.mark.parametrize(
    ("specs", "scattered"),
    [(["popen", "popen"], False), (["popen", "socket=far:1"], True), (["ssh=far"], True), (["popen//chdir=x"], True)],
)
def test_workers_here_share_one_disk(specs: list[str], scattered: bool) -> None:
    node = SimpleNamespace(nodemanager=SimpleNamespace(specs=[XSpec(spec) for spec in specs]))
    assert bool(has_remote_workers(node)) is scattered


@pytest.mark.parametrize("error", [ValueError("of another plugin"), TypeError("likewise")])
def test_what_has_nothing_to_do_with_machines_goes_through(pytester: pytest.Pytester, error: Exception) -> None:
    config = pytester.parseconfig("--tx=socket=far:1")
    with pytest.raises(type(error), match=str(error)), reporting_unreachable(config):
        raise error
    with pytest.raises(pytest.UsageError, match="one machine"), reporting_unreachable(config):
        raise SettingError("one machine")
