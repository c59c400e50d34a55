"""The classes of errors that tools can raise in a program; others become a `RuntimeError`."""

from __future__ import annotations

__all__ = ["TOOL_ERRORS", "error_of"]

TOOL_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (
        *(ArithmeticError, AssertionError, FileNotFoundError, IndexError, KeyError, LookupError, NotImplementedError),
        *(OSError, OverflowError, PermissionError, RuntimeError, TimeoutError, TypeError, ValueError),
        ZeroDivisionError,
    )
}
"""Name of a class -> the class."""


def error_of(name: str, message: str) -> Exception:
    """Return an error of the class ``name``; for a class not in `TOOL_ERRORS`, a `RuntimeError` that names it."""
    error_class = TOOL_ERRORS.get(name)
    return RuntimeError(f"{name}: {message}") if error_class is None else error_class(message)
