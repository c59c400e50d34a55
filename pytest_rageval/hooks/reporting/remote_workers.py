"""Set up workers on other machines (xdist's ``--tx``), and replace those that are lost."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, ascii_safe, message_with_code
from pytest_rageval.hooks.config.options import Options

__all__ = [
    "has_remote_workers",
    "ignore_send_errors",
    "keep_alive",
    "replace_locally",
    "reporting_unreachable",
    "set_up_worker",
]

GROUPING_MODES = ("loadfile", "loadscope")
"""Values of xdist's ``--dist`` that run all cases of a test function on one worker."""

QUIET_S, PROBE_S, PROBES = 5, 5, 3
"""Seconds of silence before the first probe, seconds between probes, and unanswered probes before a loss."""

UNREAD_S = 30
"""Linux: a connection is lost after this many seconds without a confirmed probe, or with unread data."""


def has_remote_workers(node: Any) -> bool:
    """Return whether a worker of the session runs in another copy of the project, such as on another machine."""
    return any(not spec.popen or spec.chdir or spec.via for spec in node.nodemanager.specs)


def set_up_worker(node: Any) -> None:
    """Send a worker the invocation folder and the grouping mode, and watch its connection.

    Raises:
        SettingError: an option needs a disk that all workers share.
    """
    config: pytest.Config = node.config
    keep_alive(node.gateway._io)
    node.workerinput["rag_from"] = os.path.relpath(config.invocation_params.dir, config.rootpath)
    node.workerinput["rag_apart"] = config.option.dist not in GROUPING_MODES
    try:
        options = Options(config)
    except RagEvalError:
        return  # the worker raises the same error and reports it
    if options.budget_usd is not None:
        raise SettingError(
            "--rag-budget-usd is kept in a file that workers on other machines (--tx) do not share; "
            "run on one machine, or set the limit where the calls are paid",
            code="RAG504",
        )
    if options.record_mode not in (None, "none"):
        raise SettingError(
            f"the record mode {options.record_mode!r} would leave recordings on other machines (--tx); "
            "record on one machine, and replay here with --rag-record-mode none",
            code="RAG504",
        )


def keep_alive(io: Any) -> None:
    """Let the connection of a socket worker fail if its other end can no longer be reached.

    Without this, both ends would wait forever if the link breaks without a last packet. The operating system sends and
    answers the probes, so a busy worker is not lost. On Linux TCP_USER_TIMEOUT decides after 30 to 35 s; it also counts
    time in which the other end does not read, for example while Ctrl-Z stops it. On other systems the number of probes
    decides, after 20 s.
    """
    connection = getattr(io, "sock", None)
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", QUIET_S),
        ("TCP_KEEPALIVE", QUIET_S),  # its name on macOS
        ("TCP_KEEPINTVL", PROBE_S),
        ("TCP_KEEPCNT", PROBES),
        ("TCP_USER_TIMEOUT", UNREAD_S * 1000),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    io.read = partial(_read_storing_errors, io, io.read)


def ignore_send_errors(node: Any) -> None:
    """Ignore errors of commands to a lost worker: xdist will notice the loss itself."""
    node.sendcommand = partial(_send_or_ignore, node.sendcommand)


def replace_locally(node: Any, warn: Callable[[str], None]) -> None:
    """Let xdist replace a lost worker by one on this machine if the worker's machine cannot be reached.

    If the machine stopped answering, do not try to connect again: that could take minutes.

    Args:
        node: the lost worker, before xdist creates its replacement.
        warn: called with a sentence about the replacement.
    """
    from execnet import HostNotFound, XSpec

    manager = node.nodemanager
    original = type(manager).setup_node

    def setup_node(spec: Any, putevent: Any) -> Any:
        try:
            if spec.socket and (stored_error := getattr(node.gateway._io, "error", None)) is not None:
                raise stored_error
            return original(manager, spec, putevent)
        except (OSError, EOFError, HostNotFound) as error:
            warn(f"{_name(spec)} was lost, and {_reason(error)}: a worker on this machine took its place")
            return original(manager, XSpec("popen"), putevent)

    manager.setup_node = setup_node


@contextmanager
def reporting_unreachable(config: pytest.Config) -> Generator[None]:
    """Turn the errors of remote workers that cannot start into usage errors, without a traceback."""
    from execnet import HostNotFound

    try:
        yield
    except RagEvalError as error:
        raise pytest.UsageError(message_with_code(error)) from error
    except (OSError, EOFError, HostNotFound) as error:
        specs = ascii_safe(", ".join(config.option.tx))
        problem = f"not every worker of --tx {specs} can be started ({_reason(error)})"
        advice = "see that its machine is up and listens"
        raise pytest.UsageError(message_with_code(SettingError(f"{problem}; {advice}", code="RAG504"))) from error
    except ValueError as error:
        if "rsync root" not in str(error):
            raise
        problem = f"workers on other machines would not find the given paths: {ascii_safe(str(error))}"
        advice = "give absolute paths below --rsyncdir, and options as --name=VALUE"
        raise pytest.UsageError(message_with_code(SettingError(f"{problem}; {advice}", code="RAG504"))) from None


def _read_storing_errors(io: Any, read: Callable[[int], bytes], count: int) -> bytes:
    """Read from a connection, and store why it failed as its ``error``: execnet drops that."""
    try:
        return read(count)
    except ConnectionError:  # the machine answers, only the worker has ended
        raise
    except OSError as error:
        io.error = error
        raise


def _send_or_ignore(send: Callable[..., None], name: str, **arguments: object) -> None:
    with suppress(OSError):
        send(name, **arguments)


def _name(spec: Any) -> str:
    """Return the address of a worker as in ``--tx``, such as ``socket=host:8888``."""
    return next((f"{kind}={value}" for kind in ("socket", "ssh") if (value := getattr(spec, kind))), "a worker")


def _reason(error: BaseException) -> str:
    return ascii_safe(getattr(error, "strerror", None) or f"{type(error).__name__} {error}".strip())
