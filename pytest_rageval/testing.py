"""Test doubles for tests of systems and plugins; usable without pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.llm.backends.scripted import Asked, ScriptedLLM

__all__ = ["Asked", "ScriptedLLM"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_rageval.llm.backends import scripted

    value: object = getattr(scripted, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
