"""Two network namespaces with a link between them: two machines as far as a network can tell."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from shutil import which

__all__ = ["Machine", "linked_machines", "why_no_namespaces"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A network namespace.

    Attributes:
        name: its name.
        address: its address on the link.
    """

    name: str
    address: str

    def command(self, *command: str) -> list[str]:
        """Return a command that runs in this namespace."""
        return ["ip", "netns", "exec", self.name, *command]

    def kill(self) -> None:
        """Kill all processes of the namespace, and wait until they have ended."""
        end = time.monotonic() + 10
        while pids := _ip("netns", "pids", self.name).stdout.split():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            if time.monotonic() > end:
                raise TimeoutError(f"processes of {self.name} live on")
            time.sleep(0.02)


def why_no_namespaces() -> str | None:
    """Return why this process cannot create network namespaces; None if it can."""
    if which("ip") is None:
        return "needs the program ip"
    name = f"rag-{os.getpid()}-try"
    if _ip("netns", "add", name).returncode:
        return "network namespaces need root"
    _ip("netns", "delete", name)
    return None


@contextmanager
def linked_machines() -> Iterator[tuple[Machine, Machine]]:
    """Create two namespaces with a link, and remove them with their processes in the end."""
    number = os.getpid()
    machines = tuple(Machine(f"rag-{number}-{at}", f"10.213.{number % 250}.{at + 1}") for at in range(2))
    try:
        for each in machines:
            _done("netns", "add", each.name)
        ends = [f"rag{number % 10**8}{letter}" for letter in "ab"]
        _done("link", "add", ends[0], "netns", machines[0].name, "type", "veth", "peer", "name", ends[1],
              "netns", machines[1].name)  # fmt: skip
        for each, end in zip(machines, ends, strict=True):
            _done("-n", each.name, "address", "add", f"{each.address}/24", "dev", end)
            _done("-n", each.name, "link", "set", end, "up")
            _done("-n", each.name, "link", "set", "lo", "up")
        yield machines[0], machines[1]
    finally:
        for each in machines:
            each.kill()
            _ip("netns", "delete", each.name)


def _ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def _done(*arguments: str) -> None:
    done = _ip(*arguments)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr}")
