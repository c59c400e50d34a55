"""Lost workers on other machines, simulated without any worker."""

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
    """Stands in for xdist's node manager: only this machine can be reached."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def setup_node(self, spec: Any, putevent: object) -> str:
        if not spec.popen:
            raise self.error
        return f"a worker of {spec}"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "socket=far:1 was lost, and Connection refused: "),
        (HostNotFound("far"), "socket=far:1 was lost, and HostNotFound far: "),
        (EOFError(), "socket=far:1 was lost, and EOFError: "),
    ],
)
def test_this_machine_replaces_a_lost_machine(error: Exception, message: str) -> None:
    messages: list[str] = []
    manager = Manager(error)
    for _ in range(2):  # a second worker may be lost, too
        replace_locally(SimpleNamespace(nodemanager=manager, gateway=SimpleNamespace(_io=None)), messages.append)
    assert manager.setup_node(XSpec("popen"), None) == "a worker of popen"
    assert messages == []
    assert manager.setup_node(XSpec("socket=far:1"), None) == "a worker of popen"
    assert messages == [f"{message}a worker on this machine took its place"]


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="this system has no such option")
def test_a_machine_that_stopped_answering_gets_no_new_worker() -> None:
    messages: list[str] = []
    server = socket.create_server(("127.0.0.1", 0))
    with server, socket.create_connection(server.getsockname()) as connection:
        io = SocketIO(connection, get_execmodel("thread"))
        keep_alive(io)
        idle, interval, probes = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        options = [connection.getsockopt(socket.IPPROTO_TCP, option) for option in (idle, interval, probes)]
        assert options[0] + options[1] * options[2] == 20
        timeout_ms = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert timeout_ms == 30_000  # less would drop a session that Ctrl-Z stops for a moment
        connection.settimeout(0.01)
        with pytest.raises(TimeoutError):  # the system's probes raise the same error
            io.read(9)
    manager = Manager(AssertionError("asked"))
    node = SimpleNamespace(nodemanager=manager, gateway=SimpleNamespace(_io=io))
    replace_locally(node, messages.append)
    assert manager.setup_node(XSpec("socket=far:1"), None) == "a worker of popen"
    assert messages == ["socket=far:1 was lost, and TimeoutError timed out: a worker on this machine took its place"]
    assert manager.setup_node(XSpec("popen"), None) == "a worker of popen"
    assert len(messages) == 1


def test_a_command_to_a_lost_worker_raises_nothing() -> None:
    commands: list[object] = []

    def send(name: str, **arguments: object) -> None:
        commands.append((name, arguments))
        raise OSError("cannot send (already closed?)")

    node = SimpleNamespace(sendcommand=send)
    ignore_send_errors(node)
    node.sendcommand("runtests", indices=[1])
    assert commands == [("runtests", {"indices": [1]})]


@pytest.mark.parametrize(
    ("specs", "is_remote"),
    [(["popen", "popen"], False), (["popen", "socket=far:1"], True), (["ssh=far"], True), (["popen//chdir=x"], True)],
)
def test_workers_on_other_machines_or_in_other_folders_are_remote(specs: list[str], is_remote: bool) -> None:
    node = SimpleNamespace(nodemanager=SimpleNamespace(specs=[XSpec(spec) for spec in specs]))
    assert bool(has_remote_workers(node)) is is_remote


@pytest.mark.parametrize("error", [ValueError("of another plugin"), TypeError("likewise")])
def test_errors_unrelated_to_machines_are_not_changed(pytester: pytest.Pytester, error: Exception) -> None:
    config = pytester.parseconfig("--tx=socket=far:1")
    with pytest.raises(type(error), match=str(error)), reporting_unreachable(config):
        raise error
    with pytest.raises(pytest.UsageError, match="one machine"), reporting_unreachable(config):
        raise SettingError("one machine")
