"""Describe an exception of a user's code in a few lines: its message and its place."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Awaitable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pytest_rageval.errors import CaseError, ascii_safe

__all__ = ["cause_of", "describe", "or_case_error", "user_traceback"]

T = TypeVar("T")

FRAMES = 3  # frames of a traceback to show
MAX_MESSAGE_CHARS = 1000
_OURS = str(Path(__file__).parent.parent) + os.sep


def describe(error: BaseException) -> str:
    """Return an exception's type and message, safe to print and cut to `MAX_MESSAGE_CHARS` characters."""
    name = type(error).__name__
    try:
        text = "\n".join(ascii_safe(line) for line in str(error).splitlines())
    except Exception as fault:
        text = f"its message cannot be shown, as that raises {type(fault).__name__}"
    if len(text) > MAX_MESSAGE_CHARS:
        text = f"{text[:MAX_MESSAGE_CHARS]}… ({len(text):,} characters)"
    return f"{name}: {text}" if text else name


def cause_of(error: BaseException) -> str:
    """Return the result of `describe` and, below it, the shortest useful traceback.

    The traceback has the last few frames of the user's code, and the innermost frame of a library that it called.
    It omits frames of this package and, if there are others, of the standard library.
    """
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_OURS)]
    outside = [f for f in frames if not _is_stdlib(f.filename)] or frames
    user_frames = [f for f in outside if "site-packages" not in f.filename] or outside
    shown = user_frames[-FRAMES:]
    if outside and outside[-1] is not shown[-1]:
        shown = [*shown[1 - FRAMES :], outside[-1]]
    lines = (f"  {f.filename}:{f.lineno} in {f.name}: {f.line or ''}".rstrip(": ") for f in shown)
    return "\n".join((describe(error), *lines))


def user_traceback(error: BaseException) -> TracebackType | None:
    """Return an exception's traceback without this package's frames: a debugger then stops in the user's code."""
    frames, at = [], error.__traceback__
    while at is not None:
        frames.append(at)
        at = at.tb_next
    rest: TracebackType | None = None
    for each in reversed(frames):
        if not each.tb_frame.f_code.co_filename.startswith(_OURS):
            rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


async def or_case_error(awaitable: Awaitable[T], kind: str, what: str) -> T:
    """Return the result; turn any exception into a `CaseError` of ``kind``, whose message begins with ``what``."""
    from asyncio import CancelledError

    try:
        return await awaitable
    except CaseError:
        raise
    except (Exception, CancelledError) as error:
        message = f"{what}: {cause_of(error)}"
        raise CaseError("cancelled" if isinstance(error, CancelledError) else kind, message) from error


def _is_stdlib(filename: str) -> bool:
    stdlib = sysconfig.get_paths()["stdlib"] + os.sep
    return filename.startswith("<") or (filename.startswith(stdlib) and "site-packages" not in filename)
