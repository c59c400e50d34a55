"""Several texts in one value: a list, or a cell of a table that holds one."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from contextlib import suppress

from pytest_rageval.model.facets import facet_text

__all__ = ["listed"]

_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)


def listed(value: object, between: str = "", *, numbers: bool = False) -> list[object]:
    """Return the items of a list, of a list that was printed into a string, or of a string with several texts.

    Numbers become text, as facets do.

    Args:
        value: a list, a string, or None, which is empty.
        between: what stands between several texts, as a regular expression; "" is nothing.
        numbers: take a string like "[1, 2]" for a list too, as ids are printed, but not texts.
    """
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value is None:
        return []
    if not isinstance(value, str):
        return [_plain(value)]
    printed = _printed(value.strip()) if value.strip().startswith("[") else None
    if printed is not None and (numbers or all(isinstance(item, str) for item in printed)):
        return [_plain(item) for item in printed]
    texts = re.split(between, value) if between else [value]
    return [text.strip() for text in texts if text.strip()]


def _plain(item: object) -> object:
    return facet_text(item) if isinstance(item, (int, float)) and not isinstance(item, bool) else item


def _printed(text: str) -> list[object] | None:
    """Return the items of a list as JSON, Python or numpy print it, or None where ``text`` is none.

    numpy puts no commas between strings, and Python would read such neighbours as one string.
    """
    with suppress(ValueError):
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
