"""Script that forks xdist workers and pytest sessions on request; `forked_workers` starts it and asks it.

Such a process spends most of its time on imports, and on what is compiled or read on first use. Both happen here once,
in a pytest session over two cases, so modules of the plugin are rewritten as in any session. Whatever a process does
after that is its own.
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
"""What execnet makes a new Python run."""

LIBRARIES = ("bm25s", "execnet.gateway_base", "rjieba", "xdist.remote")
"""What workers import besides the package. With OMP_NUM_THREADS=1, numpy starts no thread."""

GOLD = ("Bell Street", "Mill Lane")

SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 0.9"]
"""

MODULE = "support.processes.worker_server"

Asked = dict[str, Any]


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

    def serve(self) -> Asked | None:
        """Fork until there are no more requests; return None then, and in a forked process what was asked of it."""
        signal.signal(signal.SIGCHLD, lambda *_: self._reap(os.WNOHANG))
        while True:
            message, received, _, _ = socket.recv_fds(self._control, 1 << 20, 4)
            if not message:
                self._reap(0)
                return None
            asked: Asked = json.loads(message)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            child = os.fork()
            if not child:
                self._control.close()
                for end in self._ends.values():
                    os.close(end)
                settle(asked, received)
                return asked
            self._ends[child] = received.pop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            for descriptor in received:
                os.close(descriptor)
            self._control.send(str(child).encode())

    def _reap(self, flag: int) -> None:
        """Report the status of each process that has ended to whoever asked for it."""
        with suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, flag)
                if not child:
                    return
                end = self._ends.pop(child)
                with suppress(BrokenPipeError):
                    os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(end)


def settle(asked: Asked, received: list[int]) -> None:
    """Take the streams, folder, environment and path that were asked for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for stream, descriptor in enumerate(received[:3]):
        os.dup2(descriptor, stream)
    for descriptor in received:
        os.close(descriptor)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[:] = asked["path"]
    random.seed()
    importlib.invalidate_caches()


def work(asked: Asked) -> None:
    """Do what a forked process is for, and end it."""
    sys.modules["__main__"] = main = ModuleType("__main__")
    if asked["arguments"] is None:
        sys.argv = ["-c"]
        exec(BOOTSTRAP, vars(main))  # noqa: S102 - what execnet's own workers do
        leave(0)
    sys.argv = [asked["program"], *asked["arguments"]]
    os.setsid()
    if asked["program"] == "rageval":
        run_command(asked["arguments"])
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
    leave(int(pytest.main(asked["arguments"])))


def run_command(arguments: list[str]) -> NoReturn:
    """Run `rageval` with streams that know what they are connected to, and end the process as it asks for."""
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
    """Return the code of what a worker is to execute, which is the same for each."""
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
    request = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is not None:
        work(request)
