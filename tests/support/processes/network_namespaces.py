"""Linux network namespaces that act as machines, joined by links that can be cut."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest

__all__ = ["Machine", "Network", "linked_machines", "network"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A namespace, and its address on a link.

    Attributes:
        name: the full name of the namespace.
        address: its address.
    """

    name: str
    address: str

    def command(self, *words: str) -> list[str]:
        """Return a command that runs in this namespace."""
        return ["ip", "netns", "exec", self.name, *words]

    def kill(self) -> None:
        """Kill all processes of the namespace, and wait until they have ended."""
        _kill_all(self.name)


class Network:
    """Namespaces by name; each link has addresses of its own.

    Args:
        names: the names of the namespaces; the pid of this process makes them unique.
    """

    def __init__(self, *names: str) -> None:
        self.full = {name: f"rageval-{os.getpid()}-{name}" for name in names}
        self._links: dict[tuple[str, str], str] = {}

    def link(self, one: str, other: str) -> tuple[str, str]:
        """Join two namespaces; return the address of each."""
        number = len(self._links) + 1
        devices = f"rv{os.getpid()}a{number}", f"rv{os.getpid()}b{number}"
        addresses = f"10.77.{number}.1", f"10.77.{number}.2"
        _ip("link", "add", devices[0], "netns", self.full[one], "type", "veth",
            "peer", "name", devices[1], "netns", self.full[other])  # fmt: skip
        for name, device, address in zip((one, other), devices, addresses, strict=True):
            _ip("-n", self.full[name], "addr", "add", f"{address}/24", "dev", device)
            _ip("-n", self.full[name], "link", "set", device, "up")
        self._links[one, other] = devices[0]
        return addresses

    def cut(self, one: str, other: str) -> None:
        """Delete a link."""
        _ip("-n", self.full[one], "link", "del", self._links.pop((one, other)))

    def command(self, name: str, *words: str) -> list[str]:
        """Return a command that runs in a namespace."""
        return ["ip", "netns", "exec", self.full[name], *words]


@contextmanager
def network(*names: str) -> Iterator[Network]:
    """Make namespaces, and remove them at the end, also after a failure; skip the test if they are not allowed."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need the command ip (Debian: iproute2)")
    result = Network(*names)
    try:
        for full in result.full.values():
            try:
                _ip("netns", "add", full)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"network namespaces are not allowed here: {error.stderr.strip()}")
            _ip("-n", full, "link", "set", "lo", "up")
        yield result
    finally:
        for full in result.full.values():
            _kill_all(full)
            subprocess.run(["ip", "netns", "del", full], capture_output=True, check=False)


@contextmanager
def linked_machines(one: str, other: str) -> Iterator[tuple[Machine, Machine]]:
    """Make two namespaces with a link; see `network`."""
    with network(one, other) as both:
        addresses = both.link(one, other)
        yield Machine(both.full[one], addresses[0]), Machine(both.full[other], addresses[1])


def _kill_all(full: str) -> None:
    end = time.monotonic() + 10
    while pids := subprocess.run(["ip", "netns", "pids", full], capture_output=True, text=True, check=False).stdout:
        for pid in pids.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if time.monotonic() > end:
            raise TimeoutError(f"processes of {full} live on")
        time.sleep(0.02)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
