"""Parse JSON files that the plugin stored, which may be corrupt or edited by hand."""

from __future__ import annotations

import json
import re
from array import array
from itertools import accumulate
from typing import Any, NoReturn

__all__ = ["DEEPEST", "parse_json"]

DEEPEST = 100
"""Highest number of nested levels in stored JSON, because code that reads and writes it recurses on each level."""

_STRING = re.compile(rb'"[^"]*"?')
_OPENING, _CLOSING = b"[{", b"]}"
_OTHERS = bytes(code for code in range(256) if code not in _OPENING + _CLOSING + b'"')
_STEPS = bytes(1 if code in _OPENING else 255 for code in range(256))  # 255 is -1 as a signed byte


def parse_json(text: str | bytes, *, finite: bool = False) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON or is nested deeper than `DEEPEST` levels; if ``finite``, also if it holds NaN
            or an infinity, which JSON cannot write.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _depth(raw) > DEEPEST:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels")
    try:
        return json.loads(text, parse_constant=_refuse if finite else None)
    except RecursionError:  # the caller itself may be deep in the stack
        raise ValueError("it is nested too deep") from None


def _depth(raw: bytes) -> int:
    """Return the nesting depth of brackets outside strings, without a Python loop: files may have 100 MB."""
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = _STRING.sub(b"", unescaped.translate(None, delete=_OTHERS))
    return max(accumulate(array("b", brackets.translate(_STEPS))), default=0)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant}, which is not JSON")
