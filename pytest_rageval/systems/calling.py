"""Inspect a system under test, and convert its return value to an `Answer`."""

from __future__ import annotations

import functools
import inspect
import re

from pytest_rageval.errors import SystemContractError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.systems.library_answers import answer_of_library

__all__ = ["is_async", "system_name", "to_answer"]

_ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")
"""A memory address; messages leave it out, because it differs between runs."""


def is_async(system: object) -> bool:
    """Return whether ``system`` is async.

    Detect coroutine functions and methods, objects with an async ``__call__``, and a `functools.partial` of any.
    """
    while isinstance(system, functools.partial):
        system = system.func
    if inspect.iscoroutinefunction(system):
        return True
    return not inspect.isclass(system) and inspect.iscoroutinefunction(getattr(type(system), "__call__", None))  # noqa: B004


def system_name(system: object) -> str:
    """Return the name of a function or method, or the class name of an object."""
    while isinstance(system, functools.partial):
        system = system.func
    return str(getattr(system, "__name__", type(system).__name__))


def to_answer(value: object, name: str, part: str = "rag_system") -> Answer:
    """Convert the return value of a system to an `Answer`.

    Args:
        value: an `Answer`, a string, a message or chain dict of LangChain, or a Response of LlamaIndex.
        name: the system's name, for messages.
        part: the fixture or option that supplied the system, for messages.

    Raises:
        SystemContractError: ``value`` is none of these.
    """
    if isinstance(value, str):
        return Answer(value)
    if not isinstance(value, Answer):
        answer = answer_of_library(value, name)
        if answer is not None:
            return answer
        raise SystemContractError(
            f"{part} {name!r} returned {_describe(value)}; it must return a str or an Answer{_hint(value)}"
        )
    if not isinstance(value.text, str):
        raise SystemContractError(
            f"{part} {name!r} returned an Answer whose text is {_describe(value.text)}; the text must be a str"
        )
    return value


def _describe(value: object) -> str:
    if value is None:
        return "None"
    return f"{type(value).__name__} {_ADDRESS.sub('', short_repr(value))}"


def _hint(value: object) -> str:
    if not inspect.iscoroutine(value):
        return ""
    value.close()  # Python would warn that it was never awaited
    return "; declare it with async def to have it awaited"
