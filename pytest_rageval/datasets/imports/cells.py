"""Several texts in one value: a list, or a cell of a table that holds one."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from contextlib import suppress

__all__ = ["listed", "plain"]

WHOLE = 1e15
"""Floats below it hold whole numbers exactly."""

_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def listed(value: object, between: str | None = None, *, numbers: bool = False) -> list[object]:
    """Return the items of a list, or what a string holds; numbers become text.

    Args:
        value: a list, a string, or None, which is empty.
        between: None where a string is one text; else it is the cell of a table, which may be a list that was printed
            into it, or several texts with this regular expression between them ("" is nothing).
        numbers: a cell like "[1, 2]" is a list too, as ids are printed, but not texts.
    """
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None:
        return []
    if not isinstance(value, str):
        return [plain(value)]
    printed = _printed(value.strip()) if between is not None and value.strip().startswith("[") else None
    if printed is not None and (numbers or all(isinstance(item, str) for item in printed)):
        return [plain(item) for item in printed]
    texts = re.split(between, value) if between else [value]
    return [text.strip() for text in texts if text.strip()]


def plain(item: object) -> object:
    """Return a number as text with all its digits, 4 for 4.0; anything else as it is."""
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return item
    return str(int(item)) if isinstance(item, float) and item.is_integer() and abs(item) < WHOLE else str(item)


def _printed(text: str) -> list[object] | None:
    """Return the items of a list as JSON, Python or numpy print it, or None where ``text`` is none.

    numpy puts no commas between strings, and Python would read such neighbours as one string.
    """
    with suppress(RecursionError, ValueError):
        return list(json.loads(text))
    items: list[object] = []
    try:
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in _LAYOUT]
        if not tokens or tokens[-1].string != "]":
            return None
        for token in tokens[1:-1]:
            if token.type in (tokenize.NUMBER, tokenize.STRING):
                items.append(ast.literal_eval(token.string))
            elif token.string != ",":
                return None
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    return items
