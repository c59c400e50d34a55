"""Start a child process without our environment; exchange lines of JSON with it."""

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

EXIT_TIMEOUT = 1.0
"""Seconds until an idle process that does not exit by itself is killed."""

LONGEST_LINE = 32 << 20
"""Maximum bytes of a line from a process; a longer line counts as the end of the process."""

Message = dict[str, Any]


class Process:
    """A child process and its pipes.

    Args:
        command: the program and its arguments.
        variables: the environment variables that the process gets from ours.
    """

    def __init__(self, command: Sequence[str], variables: Sequence[str]) -> None:
        self._popen = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a worker that exceeds its memory limit writes a line
            env={name: os.environ[name] for name in variables if name in os.environ},
            start_new_session=True,  # Ctrl-C must not reach the process, and one signal kills its whole group
        )
        self.pid = self._popen.pid
        self._killed = False

    def read(self, seconds: float) -> Message | None:
        """Return the process's next message; on a timeout, kill the process and return None."""
        timer = threading.Timer(max(seconds, 0.0), self._kill_group)
        timer.daemon = True
        timer.start()
        try:
            assert self._popen.stdout is not None  # noqa: S101 - a pipe
            line = self._popen.stdout.readline(LONGEST_LINE)
        finally:
            timer.cancel()
        if self._killed or not line.endswith(b"\n"):
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return message if isinstance(message, dict) else None

    def write(self, message: Message) -> None:
        """Send a message; the next `read` reports whether the process has ended."""
        assert self._popen.stdin is not None  # noqa: S101 - a pipe
        with contextlib.suppress(OSError):
            self._popen.stdin.write(json.dumps(message).encode() + b"\n")
            self._popen.stdin.flush()

    def end(self) -> None:
        """Let an idle process exit by itself; kill it if it does not."""
        with contextlib.suppress(OSError):
            if self._popen.stdin is not None:
                self._popen.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(EXIT_TIMEOUT)
        self.kill()

    def stop(self) -> None:
        """Kill the process and its children, and wait for it; a thread that waits in `read` gets None."""
        self._kill_group()
        self._popen.wait()

    def kill(self) -> None:
        """Stop the process and close its pipes."""
        self.stop()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _kill_group(self) -> None:
        if self._popen.returncode is not None:
            return  # another process may have this pid by now
        self._killed = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._popen.kill()
