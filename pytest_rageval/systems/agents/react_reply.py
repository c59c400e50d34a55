"""Split a reply in ReAct's format into its thought and its action."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.trace.actions import Action, read_action

__all__ = ["STOP", "ReactReply", "finish_text", "read_reply"]

STOP = "\nObservation"
"""Stop sequence: without it, the model would invent an observation."""

_OBSERVATION = re.compile(r"^[ \t]*Observation", re.MULTILINE)
_THOUGHT = re.compile(r"Thought(?:[ \t]*\d+)?[ \t]*:")
_ACTION = re.compile(r"^[ \t]*Action(?:[ \t]*\d+)?[ \t]*:", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*(?:Thought|Action)(?:[ \t]*\d+)?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReactReply:
    """One reply.

    Attributes:
        thought: its text before the action.
        action_text: the action as the model wrote it.
        action: the parsed action; None if there is none.
    """

    thought: str
    action_text: str
    action: Action | None


def read_reply(text: str, tools: Sequence[str]) -> ReactReply:
    """Return the first thought and the first action of a reply; ignore the rest."""
    end = _OBSERVATION.search(text)
    text = text[: end.start()] if end else text
    label = _ACTION.search(text)
    action = read_action(text, tools)
    if label is None:
        if action is not None:
            return ReactReply("", _first(text), action)
        return ReactReply(_first(_unlabelled(text)), "", None)
    return ReactReply(_unlabelled(text[: label.start()]), _first(text[label.end() :]), action)


def finish_text(arguments: Mapping[str, Any] | str) -> str:
    """Return the answer in the arguments of ``Finish``."""
    if isinstance(arguments, str):
        return arguments.strip()
    value = arguments.get("answer", next(iter(arguments.values()), ""))
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unlabelled(text: str) -> str:
    """Return a thought without its label."""
    text = text.strip()
    label = _THOUGHT.match(text)
    return text[label.end() :].strip() if label else text


def _first(text: str) -> str:
    """Return the text before the next label."""
    following = _LABEL.search(text.strip())
    return (text.strip()[: following.start()] if following else text).strip()
