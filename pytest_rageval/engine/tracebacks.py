"""The shortest useful traceback of an exception a user's code raised."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

__all__ = ["shortest_traceback"]

FRAMES = 3
_OURS = str(Path(__file__).parent.parent)
_STDLIB = sysconfig.get_paths()["stdlib"]


def shortest_traceback(error: BaseException) -> str:
    """Return the last few frames outside this package and the standard library, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if not f.filename.startswith(_OURS) and not _is_stdlib(f.filename)]
    lines = [
        f"  {f.filename}:{f.lineno} in {f.name}: {f.line or ''}".rstrip(": ") for f in (theirs or frames)[-FRAMES:]
    ]
    return "\n".join(lines)


def _is_stdlib(filename: str) -> bool:
    return filename.startswith("<") or (filename.startswith(_STDLIB) and "site-packages" not in filename)
