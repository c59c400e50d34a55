"""Check a Python expression of a chain without running it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from pytest_rageval.errors import ascii_safe

__all__ = ["LISTS", "free_names", "syntax_problem"]

LISTS = ("prompt", "response", "wiki_id_title")
"""Lists that every expression may read, with one item per earlier action: prompts, outputs, titles and ids."""

_BINDERS = ("name", "arg", "asname", "rest")
"""Fields of syntax nodes that bind a name: functions, arguments, imports, patterns."""


def syntax_problem(code: str) -> str:
    """Return why a text is no valid Python expression; "" if it is valid."""
    try:
        body = _parse(code).body
    except SyntaxError as error:
        return f"this is not valid Python: {ascii_safe(str(error.msg))}"
    except (ValueError, MemoryError, RecursionError) as error:  # a NUL character, or too many levels of nesting
        return f"this is not valid Python: {ascii_safe(str(error)) or 'it is nested too deep'}"
    if not body or not isinstance(body[-1], ast.Expr):
        return "the last line must be an expression; its value is the output"
    return ""


def free_names(code: str) -> Collection[str]:
    """Return the names that valid code reads without setting them, in order; leave out builtins."""
    nodes = list(ast.walk(_parse(code)))
    binding = [node for node in nodes if not isinstance(node, ast.keyword)]
    bound_names = {
        str(getattr(node, key)).split(".")[0] for node in binding for key in _BINDERS if getattr(node, key, None)
    }
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound_names |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    names_read = [node.id for node in names if isinstance(node.ctx, ast.Load)]
    return list(dict.fromkeys(name for name in names_read if name not in bound_names and not hasattr(builtins, name)))


def _parse(code: str) -> ast.Module:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an invalid escape in a user's text
        return ast.parse(code.strip())
