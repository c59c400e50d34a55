"""Parse JSON and Python literals in the text of a model, without evaluating code."""

from __future__ import annotations

import ast
import json
import math
import re
from contextlib import suppress
from typing import Any

__all__ = ["as_json", "keyword_arguments", "parse_json", "parse_literal"]

_FAULTS = (MemoryError, RecursionError, SyntaxError, TypeError, ValueError)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = frozenset("\n\\'\"abfnrtv01234567xNuU")
_JSON_NAMES = {"true": True, "false": False, "null": None}


def as_json(value: Any) -> Any:
    """Return a value in JSON types (a tuple becomes a list); None if JSON cannot represent it."""
    with suppress(*_FAULTS):
        return _plain(value)
    return None


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; None if it is invalid, or has NaN, an infinity or half a surrogate pair."""
    with suppress(*_FAULTS):
        return _plain(json.loads(text))
    return None


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal, also with ``true``, ``false`` and ``null``; None if it is invalid."""
    with suppress(*_FAULTS):
        return _value(ast.parse(_with_valid_escapes(text.strip()), mode="eval").body)
    return None


def keyword_arguments(text: str) -> dict[str, Any] | None:
    """Return the values of ``key=value, key=value``; None if a value is not a literal, or for any other text."""
    with suppress(*_FAULTS):
        call = ast.parse(f"f({_with_valid_escapes(text)}\n)", mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return {_key(word): _value(word.value) for word in call.keywords}
    return None


def _key(word: ast.keyword) -> str:
    if word.arg is None:
        raise ValueError("** is not a key")
    return word.arg


def _value(node: ast.expr) -> Any:
    return _plain(ast.literal_eval(_JsonNames().visit(node)))


class _JsonNames(ast.NodeTransformer):
    """Replaces JSON's names of constants with Python's."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_JSON_NAMES[node.id]) if node.id in _JSON_NAMES else node


def _with_valid_escapes(text: str) -> str:
    r"""Return Python source with the backslash of invalid escapes doubled, because Python warns about ``\d``."""
    return _ESCAPE.sub(lambda match: match[0] if match[1] in _ESCAPES else "\\" + match[0], text)


def _plain(value: Any) -> Any:
    """Return a literal in JSON types; raise ValueError or TypeError if JSON cannot represent it."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16")  # joins surrogate pairs, raises for half a pair
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_name(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("JSON has no such number")
    if value is not None and not isinstance(value, (bool, int, float)):
        raise TypeError("JSON has no such value")
    return value


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError("JSON has only texts for keys")
    return str(_plain(key))
