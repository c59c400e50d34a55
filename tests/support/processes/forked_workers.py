"""Client of `worker_server`: forks xdist workers and pytest sessions instead of starting them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from select import select
from threading import Thread
from typing import Any, TextIO

from execnet.gateway_base import ExecModel, Popen2IO

__all__ = ["ForkedProcess", "PipedProcess", "WorkerServer", "shared_server"]

MODULE = "support.processes.worker_server"


class ForkedProcess:
    """A process of the server, with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended, and return its exit code."""
        if self.returncode is None:
            if not select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = int(os.read(self._ended, 16) or -signal.SIGKILL)  # empty if the server was killed, too
            os.close(self._ended)
        return self.returncode

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class PipedProcess(ForkedProcess):
    """A process whose output comes through pipes, as text.

    Attributes:
        stdout, stderr: the ends to read from.
    """

    def __init__(self, process: ForkedProcess, stdout: TextIO, stderr: TextIO) -> None:
        super().__init__(process.pid, process._ended)
        self.stdout = stdout
        self.stderr = stderr

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return all output once the process has ended."""
        texts = {}

        def read(stream: TextIO) -> None:
            with stream:
                texts[stream] = stream.read()

        readers = [Thread(target=read, args=[stream], daemon=True) for stream in (self.stdout, self.stderr)]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return texts[self.stdout], texts[self.stderr]


class WorkerServer:
    """A process that forks others: started at the first fork, or the one at the other end of ``control``."""

    def __init__(self, control: socket.socket | None = None) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control = control

    def gateway(self, args: list[str], execmodel: ExecModel) -> ForkedWorker:
        """Return the connection to a new worker; this replaces a class of execnet."""
        return ForkedWorker(self, execmodel)

    def fork(
        self,
        streams: Sequence[int],
        arguments: Sequence[str] | None = None,
        environment: Mapping[str, str] = os.environ,
        *,
        program: str = "pytest",
        folder: str | None = None,
    ) -> ForkedProcess:
        """Return a new process with these three streams: pytest or `rageval`, or an xdist worker without arguments.

        It starts in ``folder``, by default in this one.
        """
        control = self._control or self._start()
        ended, alive = os.pipe()
        folder = folder or os.getcwd()
        request = {
            "program": program,
            "arguments": arguments,
            "folder": folder,
            "environment": dict(environment),
            "path": ["" if arguments is None else folder, *sys.path[1:]],
        }
        socket.send_fds(control, [json.dumps(request).encode()], [*streams, alive])
        pid = int(control.recv(64))
        os.close(alive)
        return ForkedProcess(pid, ended)

    def piped(
        self, arguments: Sequence[str], environment: Mapping[str, str], *, program: str, folder: str
    ) -> PipedProcess:
        """Return a new process of pytest or `rageval` with its output in pipes, and no input."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        with open(os.devnull) as nothing:
            streams = (nothing.fileno(), to_out, to_err)
            process = self.fork(streams, arguments, environment, program=program, folder=folder)
        os.close(to_out)
        os.close(to_err)
        return PipedProcess(process, os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8"))

    def stop(self) -> None:
        """End the process and wait for it and for its workers."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait(60)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-u", "-m", MODULE, str(theirs.fileno())]
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self._control = ours
        return ours


@cache
def shared_server() -> WorkerServer:
    """Return the server of this process, for code without a fixture."""
    return WorkerServer()


class ForkedWorker(Popen2IO):
    """The pipes of a worker, as execnet reads and writes them."""

    remoteaddress: str

    def __init__(self, server: WorkerServer, execmodel: Any) -> None:
        (worker_in, to_worker), (from_worker, worker_out) = os.pipe(), os.pipe()
        self.popen = server.fork((worker_in, worker_out, 2))
        for descriptor in (worker_in, worker_out):
            os.close(descriptor)
        super().__init__(os.fdopen(to_worker, "wb"), os.fdopen(from_worker, "rb"), execmodel=execmodel)

    def wait(self) -> int | None:
        """Wait until the worker has ended."""
        return self.popen.wait()

    def kill(self) -> None:
        self.popen.kill()
