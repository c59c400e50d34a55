"""Parse values that hold several texts: a list, or a cell of a table with a list in it."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from contextlib import suppress

__all__ = ["listed", "plain", "value_in"]

WHOLE = 1e15
"""Floats below it represent whole numbers exactly."""

_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def listed(value: object, between: str | None = None, *, numbers: bool = False) -> list[object]:
    """Return the items of a list or of a string; numbers become text.

    Args:
        value: a list, a string, or None, which is empty.
        between: None if a string is one text. Otherwise the string is a cell of a table: a printed list, or several
            texts with this regular expression between them ("" for a single text).
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
    """Return a number as text with all its digits (4 for 4.0), also in a list; anything else unchanged."""
    if isinstance(item, list):
        return [plain(each) for each in item]
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return item
    return str(int(item)) if isinstance(item, float) and item.is_integer() and abs(item) < WHOLE else str(item)


def value_in(cell: object) -> object:
    """Return the list or object in a string, in JSON or Python notation; anything else unchanged."""
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

    numpy prints no commas between strings, and Python would join such strings into one.
    """
    with suppress(RecursionError, ValueError):
        return list(json.loads(text))
    try:
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in _LAYOUT]
        return _items([(token.type, token.string) for token in tokens])
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None


def _items(tokens: list[tuple[int, str]]) -> list[object] | None:
    """Return the items of the list that the tokens spell, with nested lists; None for anything else."""
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
