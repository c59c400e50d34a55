"""An exception of a user's code, told in few lines: what it was, and where."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Awaitable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pytest_rageval.errors import CaseError, ascii_safe

__all__ = ["cause_of", "described", "frames_of_users", "or_case_error"]

T = TypeVar("T")

FRAMES = 3
LONGEST = 1000  # characters of an exception's message
_OURS = str(Path(__file__).parent.parent) + os.sep


def described(error: BaseException) -> str:
    """Return an exception's type and message, inert and cut to a length that a terminal bears."""
    name = type(error).__name__
    try:
        text = "\n".join(ascii_safe(line) for line in str(error).splitlines())
    except Exception as fault:
        text = f"its message cannot be shown, as that raises {type(fault).__name__}"
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text):,} characters)"
    return f"{name}: {text}" if text else name


def cause_of(error: BaseException) -> str:
    """Return what `described` says and, below it, the shortest useful traceback.

    That is the last few frames of the user's own code, and the innermost one of a library they called.
    Frames of this package and, where there are others, of the standard library are left out.
    """
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_OURS)]
    theirs = [f for f in frames if not _is_stdlib(f.filename)] or frames
    own = [f for f in theirs if "site-packages" not in f.filename] or theirs
    shown = own[-FRAMES:]
    if theirs and theirs[-1] is not shown[-1]:
        shown = [*shown[1 - FRAMES :], theirs[-1]]
    lines = (f"  {f.filename}:{f.lineno} in {f.name}: {f.line or ''}".rstrip(": ") for f in shown)
    return "\n".join((described(error), *lines))


def frames_of_users(error: BaseException) -> TracebackType | None:
    """Return an exception's traceback without this package's frames, so that a debugger stops in the user's."""
    frames, at = [], error.__traceback__
    while at is not None:
        frames.append(at)
        at = at.tb_next
    theirs: TracebackType | None = None
    for each in reversed(frames):
        if not each.tb_frame.f_code.co_filename.startswith(_OURS):
            theirs = TracebackType(theirs, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return theirs


async def or_case_error(asked: Awaitable[T], kind: str, what: str) -> T:
    """Return what is awaited; what it raises but a `CaseError` becomes one, of ``kind`` and told as ``what``."""
    from asyncio import CancelledError

    try:
        return await asked
    except CaseError:
        raise
    except (Exception, CancelledError) as error:
        message = f"{what}: {cause_of(error)}"
        raise CaseError("cancelled" if isinstance(error, CancelledError) else kind, message) from error


def _is_stdlib(filename: str) -> bool:
    stdlib = sysconfig.get_paths()["stdlib"] + os.sep
    return filename.startswith("<") or (filename.startswith(stdlib) and "site-packages" not in filename)
