"""Workers on other machines (xdist's ``--tx``): pass them settings, notice and replace lost ones."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, ascii_safe, coded
from pytest_rageval.hooks.config.options import Options

__all__ = ["hold", "is_scattered", "join", "keep_alive", "replace_here", "reporting_unreachable"]

TOGETHER = ("loadfile", "loadscope")
"""Distribution modes that run all cases of a test function on one worker."""

QUIET_S, PROBE_S, PROBES = 5, 5, 3
"""Seconds of silence before the first probe, seconds between probes, and probes without a reply before a loss."""

UNREAD_S = 30
"""Seconds before a loss in which the other end confirms no probe, or does not read what was sent (Linux)."""


def is_scattered(node: Any) -> bool:
    """Return whether any worker of the session runs in another copy of the project."""
    return any(not spec.popen or spec.chdir or spec.via for spec in node.nodemanager.specs)


def join(node: Any) -> None:
    """Pass to a worker of a scattered session what it cannot see, and watch its connection.

    Raises:
        SettingError: an option needs a disk that all workers share.
    """
    config: pytest.Config = node.config
    keep_alive(node.gateway._io)
    node.workerinput["rag_from"] = os.path.relpath(config.invocation_params.dir, config.rootpath)
    node.workerinput["rag_apart"] = config.option.dist not in TOGETHER
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
    """Let the connection of a socket worker fail if its other end can no longer be reached: on Linux in 30 to 35 s.

    The system's TCP sends and answers the probes, so a busy worker is not lost. Otherwise a link that breaks without a
    last packet would keep both ends waiting for ever. On Linux TCP_USER_TIMEOUT decides, which also counts the time in
    which the other end does not read, as while Ctrl-Z stops it; elsewhere the number of probes decides, in 20 s.
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
    io.read = partial(_read_noting_errors, io, io.read)


def hold(node: Any) -> None:
    """Ignore errors of commands to a lost worker: xdist is about to notice the loss."""
    node.sendcommand = partial(_send_or_ignore, node.sendcommand)


def replace_here(node: Any, warn: Callable[[str], None]) -> None:
    """Replace a lost worker by one on this machine if its own machine cannot be reached.

    A machine that stopped answering is not asked again: connecting to it could take minutes.

    Args:
        node: the lost worker, before xdist creates another.
        warn: receives one sentence about the replacement.
    """
    from execnet import HostNotFound, XSpec

    manager = node.nodemanager
    make = type(manager).setup_node

    def setup_node(spec: Any, putevent: Any) -> Any:
        try:
            if spec.socket and (silent := getattr(node.gateway._io, "error", None)) is not None:
                raise silent
            return make(manager, spec, putevent)
        except (OSError, EOFError, HostNotFound) as error:
            warn(f"{_name(spec)} was lost, and {_reason(error)}: a worker on this machine took its place")
            return make(manager, XSpec("popen"), putevent)

    manager.setup_node = setup_node


@contextmanager
def reporting_unreachable(config: pytest.Config) -> Generator[None]:
    """Turn errors that keep remote workers from starting into one sentence without a traceback."""
    from execnet import HostNotFound

    try:
        yield
    except RagEvalError as error:
        raise pytest.UsageError(coded(error)) from error
    except (OSError, EOFError, HostNotFound) as error:
        specs = ascii_safe(", ".join(config.option.tx))
        problem = f"not every worker of --tx {specs} can be started ({_reason(error)})"
        wish = "see that its machine is up and listens"
        raise pytest.UsageError(coded(SettingError(f"{problem}; {wish}", code="RAG504"))) from error
    except ValueError as error:
        if "rsync root" not in str(error):
            raise
        problem = f"workers on other machines would not find what is given: {ascii_safe(str(error))}"
        wish = "give absolute paths below --rsyncdir, and options as --name=VALUE"
        raise pytest.UsageError(coded(SettingError(f"{problem}; {wish}", code="RAG504"))) from None


def _read_noting_errors(io: Any, read: Callable[[int], bytes], count: int) -> bytes:
    """Read from a connection; its ``error`` is why it failed, which execnet does not pass on."""
    try:
        return read(count)
    except ConnectionError:  # the machine answers, and the worker is gone
        raise
    except OSError as error:
        io.error = error
        raise


def _send_or_ignore(send: Callable[..., None], name: str, **arguments: object) -> None:
    with suppress(OSError):
        send(name, **arguments)


def _name(spec: Any) -> str:
    return next((f"{kind}={value}" for kind in ("socket", "ssh") if (value := getattr(spec, kind))), "a worker")


def _reason(error: BaseException) -> str:
    return ascii_safe(getattr(error, "strerror", None) or f"{type(error).__name__} {error}".strip())
