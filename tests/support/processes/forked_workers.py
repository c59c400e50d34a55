"""The other side of `worker_server`: xdist's workers, forked instead of started."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any

from execnet.gateway_base import ExecModel, Popen2IO

__all__ = ["WorkerServer"]

MODULE = "support.processes.worker_server"


class WorkerServer:
    """A process that forks workers, started with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def gateway(self, args: list[str], execmodel: ExecModel) -> ForkedWorker:
        """Return the connection to a new worker, as execnet's own class does that this replaces."""
        return ForkedWorker(self, execmodel)

    def fork(self) -> tuple[int, int, int, int]:
        """Return a new worker's process id, the ends of its input and output, and one that closes when it ends."""
        control = self._control or self._start()
        (worker_in, to_worker), (from_worker, worker_out), (ended, alive) = os.pipe(), os.pipe(), os.pipe()
        asked = {"folder": os.getcwd(), "environment": dict(os.environ), "path": ["", *sys.path[1:]]}
        theirs = [worker_in, worker_out, 2, alive]
        socket.send_fds(control, [json.dumps(asked).encode()], theirs)
        process = int(control.recv(64))
        for descriptor in (worker_in, worker_out, alive):
            os.close(descriptor)
        return process, to_worker, from_worker, ended

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


class ForkedWorker(Popen2IO):
    """What execnet reads from and writes to."""

    remoteaddress: str

    def __init__(self, server: WorkerServer, execmodel: Any) -> None:
        self._process, to_worker, from_worker, self._ended = server.fork()
        super().__init__(os.fdopen(to_worker, "wb"), os.fdopen(from_worker, "rb"), execmodel=execmodel)

    def wait(self) -> int | None:
        """Wait until the worker has ended."""
        if self._ended >= 0:
            os.read(self._ended, 1)
            os.close(self._ended)
            self._ended = -1
        return None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
