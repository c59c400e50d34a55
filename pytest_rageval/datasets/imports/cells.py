"""Parse values with several texts: lists, and table cells that contain lists."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from contextlib import suppress

__all__ = ["list_items", "plain", "value_in"]

MAX_EXACT = 1e15
"""Floats below this limit represent whole numbers exactly."""

_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def list_items(value: object, between: str | None = None, *, numbers: bool = False) -> list[object]:
    """Return the items of a list or of a string; numbers become text.

    Args:
        value: a list, a string, or None for an empty list.
        between: None if a string is a single text. Otherwise the string is a table cell: a printed list, or texts that
            this regular expression separates ("" for a single text).
        numbers: whether a cell such as "[1, 2]" is a list: True for ids, False for texts.
    """
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None:
        return []
    if not isinstance(value, str):
        return [plain(value)]
    printed = _parse_printed(value.strip()) if between is not None and value.strip().startswith("[") else None
    if printed is not None and (numbers or all(map(_is_text, printed))):
        return [plain(item) for item in printed]
    texts = re.split(between, value) if between else [value]
    return [text.strip() for text in texts if text.strip()]


def plain(item: object) -> object:
    """Convert numbers to text with all digits (4 for 4.0), also inside lists; return other values unchanged."""
    if isinstance(item, list):
        return [plain(each) for each in item]
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return item
    return str(int(item)) if isinstance(item, float) and item.is_integer() and abs(item) < MAX_EXACT else str(item)


def value_in(cell: object) -> object:
    """Parse a string with a list or an object in JSON or Python notation; return other values unchanged."""
    text = cell.strip() if isinstance(cell, str) else ""
    if text.startswith(("[", "{")):
        with suppress(RecursionError, ValueError):
            return json.loads(text)
        with suppress(MemoryError, RecursionError, SyntaxError, TypeError, ValueError):
            return ast.literal_eval(text)
    return cell


def _is_text(item: object) -> bool:
    return isinstance(item, str) or (isinstance(item, list) and all(isinstance(each, str) for each in item))


def _parse_printed(text: str) -> list[object] | None:
    """Return the items of a list in JSON, Python or numpy notation; None if ``text`` is not a list.

    numpy prints lists without commas, and Python would join the strings of such a list.
    """
    with suppress(RecursionError, ValueError):
        return list(json.loads(text))
    try:
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in _LAYOUT]
        return _items([(token.type, token.string) for token in tokens])
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None


def _items(tokens: list[tuple[int, str]]) -> list[object] | None:
    """Return the items of the list in some tokens, with nested lists; None if the tokens are not a list."""
    stack: list[list[object]] = [[]]
    for place, (kind, text) in enumerate(tokens):
        if text == "[" and (len(stack) > 1 or place == 0):
            stack.append([])
        elif text == "]" and len(stack) > 1:
            closed = stack.pop()
            stack[-1].append(closed)
        elif kind in (tokenize.NUMBER, tokenize.STRING) and len(stack) > 1:
            stack[-1].append(ast.literal_eval(text))
        elif text != "," or len(stack) == 1:
            return None
    whole = stack[0][0] if len(stack) == 1 and stack[0] else None
    return whole if isinstance(whole, list) else None
