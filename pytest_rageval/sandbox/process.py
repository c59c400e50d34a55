"""A separate process without our environment and terminal; both sides exchange lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

__all__ = ["Message", "Process"]

ENDING = 1.0
"""Seconds that an idle process may take to end by itself."""

LONGEST_LINE = 32 << 20
"""Bytes of a process's line; a longer one ends it."""

Message = dict[str, Any]


class Process:
    """One process and the pipes to it.

    Args:
        command: its program and arguments.
        variables: all that it sees of our environment.
    """

    def __init__(self, command: Sequence[str], variables: Sequence[str]) -> None:
        self._popen = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a worker that is killed for its memory writes a line
            env={name: os.environ[name] for name in variables if name in os.environ},
            start_new_session=True,  # Ctrl-C is ours, and one signal ends the whole group
        )
        self.pid = self._popen.pid
        self._killed = False

    def read(self, seconds: float) -> Message | None:
        """Return the process's next message; kill the process and return None if none comes in time."""
        watch = threading.Timer(max(seconds, 0.0), self._kill_group)
        watch.daemon = True
        watch.start()
        try:
            assert self._popen.stdout is not None  # noqa: S101 - a pipe
            line = self._popen.stdout.readline(LONGEST_LINE)
        finally:
            watch.cancel()
        if self._killed or not line.endswith(b"\n"):
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return message if isinstance(message, dict) else None

    def write(self, message: Message) -> None:
        """Send a message; a process that has ended is seen by the next `read`."""
        assert self._popen.stdin is not None  # noqa: S101 - a pipe
        with contextlib.suppress(OSError):
            self._popen.stdin.write(json.dumps(message).encode() + b"\n")
            self._popen.stdin.flush()

    def end(self) -> None:
        """Let an idle process end by itself; kill it if it does not."""
        with contextlib.suppress(OSError):
            if self._popen.stdin is not None:
                self._popen.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(ENDING)
        self.kill()

    def stop(self) -> None:
        """Kill the process with all that it started, and wait for it; a thread that reads from it sees its end."""
        self._kill_group()
        self._popen.wait()

    def kill(self) -> None:
        """Stop the process and close the pipes to it."""
        self.stop()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _kill_group(self) -> None:
        if self._popen.returncode is not None:
            return  # another process may have its number by now
        self._killed = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._popen.kill()
