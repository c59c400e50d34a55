"""Script that forks xdist workers on request; `forked_workers` starts it and asks it.

A worker spends most of its time on imports. They are made here once, by a pytest session that collects nothing, so that
modules of the plugin are rewritten as in any session. Whatever a worker does after them is its own.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.metadata
import json
import os
import pkgutil
import platform
import random
import socket
import sys
import tempfile
import threading
from types import ModuleType

import pytest
from _pytest.fixtures import FixtureManager

BOOTSTRAP = "import sys;exec(eval(sys.stdin.readline()))"
"""What execnet makes a new Python run."""

LARGE = ("pytest_rageval.retrieval.postings",)
"""Modules that import numpy: it starts threads, and few workers need it."""


class Imports:
    """Plugin that imports the package once pytest's import hook is in place."""

    def pytest_sessionstart(self) -> None:
        package = importlib.import_module("pytest_rageval")
        for module in pkgutil.walk_packages(package.__path__, "pytest_rageval."):
            if module.name not in LARGE:
                importlib.import_module(module.name)
        for name in ("execnet.gateway_base", "xdist.remote"):
            importlib.import_module(name)


def fork(message: bytes, received: list[int], control: socket.socket) -> bool:
    """Return whether this is the worker: a fork with the environment, folder and streams that were asked for."""
    child = os.fork()
    if child:
        for descriptor in received:
            os.close(descriptor)
        control.send(str(child).encode())
        return False
    control.close()
    asked = json.loads(message)
    for stream, descriptor in enumerate(received[:3]):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[:] = asked["path"]
    sys.argv = ["-c"]
    random.seed()
    importlib.invalidate_caches()
    return True


def leave() -> None:
    """End a worker as Python does, but leave its memory to the system: it shares most of it with its parent."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def reap(flag: int) -> None:
    """Collect workers that have ended."""
    try:
        while os.waitpid(-1, flag)[0]:
            pass
    except ChildProcessError:
        pass


def serve(control: socket.socket) -> bool:
    """Fork a worker for each request until there are no more; return whether this is a worker."""
    while True:
        message, received, _, _ = socket.recv_fds(control, 1 << 20, 4)
        if not message:
            reap(0)
            return False
        reap(os.WNOHANG)
        if fork(message, received, control):
            return True


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        streams, sys.stdout = sys.stdout, nowhere
        pytest.main(["-p", "xdist", "-p", "pytest_rageval.plugin", f"--rootdir={folder}", folder], plugins=[Imports()])
        sys.stdout = streams
    from support.processes.installed_packages import installed_packages
    from support.processes.plugin_scans import parsefactories

    importlib.metadata.distributions = installed_packages  # type: ignore[assignment]
    FixtureManager.parsefactories = parsefactories  # type: ignore[assignment]
    for package in installed_packages():
        package.entry_points, package.metadata  # noqa: B018 - what each worker looks up
    platform.platform()  # which starts a process to ask for the processor, and keeps its answer
    gc.collect()
    gc.freeze()
    if serve(socket.socket(fileno=int(sys.argv[1]))):
        worker = sys.modules["__main__"] = ModuleType("__main__")
        exec(BOOTSTRAP, vars(worker))  # noqa: S102 - what execnet's own workers do
        leave()
