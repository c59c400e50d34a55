"""Errors of tools that a program catches by their class; others come as a `RuntimeError`."""

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


def error_of(name: str, message: str) -> Exception:
    """Return the error of this class, or a `RuntimeError` that names the class."""
    kind = TOOL_ERRORS.get(name)
    return RuntimeError(f"{name}: {message}") if kind is None else kind(message)
