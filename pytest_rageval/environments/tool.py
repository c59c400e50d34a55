"""The types of tools: a tool, its result, and the agent's observation."""

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
    """The result of a tool with documents or with a search outcome.

    Attributes:
        result: a text or a JSON value, for the model.
        passages: the documents in the result, with the text that the model sees.
        found: False if the tool worked and found nothing; None if it does not search.
    """

    result: Any
    passages: tuple[ScoredPassage, ...] = ()
    found: bool | None = None


class InvalidArgumentsError(ValueError):
    """Raised by a tool for arguments that fit the schema but are invalid; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent observes after a tool call.

    Attributes:
        text: for the model, cut to the environment's length.
        result: the whole result, a text or a JSON value; None after an error.
        passages: the documents in the result.
        error: the error that the tool raised, as ``ValueError: no such page``; None if it worked.
        invalid: whether the tool is unknown or the arguments are invalid.
        found: False if the tool found nothing; None if it does not report this.
        seconds: how long the call took.
    """

    text: str
    result: Any = None
    passages: tuple[ScoredPassage, ...] = ()
    error: str | None = None
    invalid: bool = False
    found: bool | None = None
    seconds: float = 0.0
