"""Test doubles for tests of systems and plugins; usable without pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.llm.backends.scripted import Asked, ScriptedLLM
    from pytest_rageval.model.chat import Completion, ToolCall

__all__ = ["Asked", "Completion", "ScriptedLLM", "ToolCall"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_rageval.llm.backends import scripted
    from pytest_rageval.model import chat

    value: object = getattr(chat if name in ("Completion", "ToolCall") else scripted, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
