"""The values of tools: a tool, what it returns, and what the agent observes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.model.ranking import ScoredPassage

__all__ = ["InvalidArgumentsError", "Observation", "Tool", "ToolResult"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that an agent may call.

    Attributes:
        name: a letter or ``_``, then letters, digits and ``_``; at most 64 characters.
        description: what it does, for the model.
        parameters: JSON schema of the arguments, an object.
        call: takes the arguments by name, sync or async; returns text, a JSON value, documents or a `ToolResult`.

    Raises:
        SettingError: the name is invalid.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[..., Any]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(str(self.name)):
            wanted = "a letter or _, then at most 63 letters, digits and _"
            raise SettingError(f"the tool {short_repr(self.name)} needs another name: {wanted}")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns if its text alone does not say everything.

    Attributes:
        result: a text or a JSON value, for the model.
        passages: the documents in it, with the text that is shown.
        found: False if the tool worked and found nothing; None if it does not search.
    """

    result: Any
    passages: tuple[ScoredPassage, ...] = ()
    found: bool | None = None


class InvalidArgumentsError(ValueError):
    """Raised by a tool whose arguments fit the schema and are invalid; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one call of a tool showed.

    Attributes:
        text: for the model, cut to the environment's length.
        result: the whole result, a text or a JSON value; None after an error.
        passages: the documents in the result.
        error: what the tool raised, as ``ValueError: no such page``; None if it worked.
        invalid: whether there is no such tool, or the arguments do not fit; then the tool was not called.
        found: False if the tool found nothing; None if it does not say.
        seconds: how long the call took.
    """

    text: str
    result: Any = None
    passages: tuple[ScoredPassage, ...] = ()
    error: str | None = None
    invalid: bool = False
    found: bool | None = None
    seconds: float = 0.0
