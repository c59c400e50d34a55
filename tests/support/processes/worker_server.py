"""Script that forks xdist workers and pytest sessions on request; `forked_workers` starts it and sends the requests.

A new process spends most of its time on imports, and on files that are compiled or read on first use. This server does
both once, in a pytest session over two cases. The session also rewrites the modules of the plugin, like any session.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib
import inspect
import json
import os
import pkgutil
import random
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

import pytest

BOOTSTRAP = "import sys;exec(eval(sys.stdin.readline()))"
"""The program that execnet starts Python with."""

LIBRARIES = ("bm25s", "execnet.gateway_base", "rjieba", "xdist.remote")
"""Libraries that workers import besides the package. With OMP_NUM_THREADS=1, numpy starts no thread."""

GOLD = ("Bell Street", "Mill Lane")

SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 0.9"]
"""

MODULE = "support.processes.worker_server"

Request = dict[str, Any]


class Imports:
    """Plugin that imports the package once pytest's import hook is in place."""

    def pytest_sessionstart(self) -> None:
        package = importlib.import_module("pytest_rageval")
        for module in pkgutil.walk_packages(package.__path__, "pytest_rageval."):
            importlib.import_module(module.name)
        for name in LIBRARIES:
            importlib.import_module(name)
        vars(sys.modules["execnet.gateway_base"])["compile"] = compiled
        remote = sys.modules["xdist.remote"]
        compiled(inspect.getsource(remote) + "\n", str(inspect.getsourcefile(remote)), "exec")


class Server:
    """The loop that forks a process for each request, and reports how it ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._ends: dict[int, int] = {}

    def serve(self) -> Request | None:
        """Fork until there are no more requests, then return None; in a forked process, return its request."""
        signal.signal(signal.SIGCHLD, lambda *_: self._reap(os.WNOHANG))
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._control, 1 << 20, 4)
            if not message:
                self._reap(0)
                return None
            request: Request = json.loads(message)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            child = os.fork()
            if not child:
                self._control.close()
                for end in self._ends.values():
                    os.close(end)
                settle(request, descriptors)
                return request
            self._ends[child] = descriptors.pop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            for descriptor in descriptors:
                os.close(descriptor)
            self._control.send(str(child).encode())

    def _reap(self, flag: int) -> None:
        """Report the status of each process that has ended to its requester."""
        with suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, flag)
                if not child:
                    return
                end = self._ends.pop(child)
                with suppress(BrokenPipeError):
                    os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(end)


def settle(request: Request, descriptors: list[int]) -> None:
    """Take the streams, folder, environment and path of the request."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for stream, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, stream)
    for descriptor in descriptors:
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[:] = request["path"]
    random.seed()
    importlib.invalidate_caches()


def work(request: Request) -> None:
    """Run the request of a forked process, and end the process."""
    sys.modules["__main__"] = main = ModuleType("__main__")
    if request["arguments"] is None:
        sys.argv = ["-c"]
        exec(BOOTSTRAP, vars(main))  # noqa: S102 - what execnet's own workers do
        leave(0)
    sys.argv = [request["program"], *request["arguments"]]
    os.setsid()
    if request["program"] == "rageval":
        run_command(request["arguments"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()  # forks the workers of this session, which belong to its group
    if not child:
        ours.close()
        worker = Server(theirs).serve()
        if worker is None:
            os._exit(0)
        work(worker)
    theirs.close()
    atexit.register(os.waitpid, child, 0)
    atexit.register(ours.close)
    gateway = importlib.import_module("support.processes.forked_workers").WorkerServer(ours).gateway
    vars(importlib.import_module("execnet.gateway_io"))["Popen2IOMaster"] = gateway
    leave(int(pytest.main(request["arguments"])))


def run_command(arguments: list[str]) -> NoReturn:
    """Run `rageval` with new streams on the process's descriptors, and end the process with its status."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        mode, line_by_line = "w" if descriptor else "r", descriptor == 2 or os.isatty(descriptor)
        setattr(sys, name, open(descriptor, mode, 1 if line_by_line else -1, encoding="utf-8", closefd=False))  # noqa: SIM115
    try:
        status = importlib.import_module("pytest_rageval.cli").main(arguments)
    except SystemExit as ended:
        status = ended.code
    leave(int(status or 0))


def leave(status: int) -> NoReturn:
    """End a process as Python does, but leave its memory to the system: it shares most of it with its parent."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@cache
def compiled(source: str, name: str, mode: str) -> CodeType:
    """Compile the source that workers execute; it is the same for each, so the result is cached."""
    code: CodeType = builtins.compile(source, name, mode)
    return code


def answer(query: Any) -> str:
    """Return the first gold answer of `warm_up`."""
    return f"It is in {GOLD[0]}."


def warm_up(folder: Path) -> None:
    """Run a small suite in ``folder``: a right answer, a wrong one, and a gate that fails."""
    rows = ({"id": gold, "question": "Where is the museum?", "answers": [gold]} for gold in GOLD)
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "warm.rag.toml").write_text(SUITE, encoding="utf-8")
    options = [
        "-p",
        "xdist",
        "-p",
        "pytest_rageval.plugin",
        "--rootdir",
        f"{folder}",
        "--rag-json",
        f"{folder}/run.json",
    ]
    status = pytest.main([*options, "-o", f"rag_system={MODULE}:answer", f"{folder}"], plugins=[Imports()])
    assert status == pytest.ExitCode.TESTS_FAILED, status
    threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else threading.active_count()
    assert threads == 1, "a forked process has none of these threads"


if __name__ == "__main__":
    for owner, name, quick in importlib.import_module("support.processes.quick_starts").QUICK_STARTS:
        setattr(owner, name, quick)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        streams, sys.stdout = sys.stdout, nowhere
        warm_up(Path(folder))
        sys.stdout = streams
    gc.collect()
    gc.freeze()
    child_request = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if child_request is not None:
        work(child_request)
