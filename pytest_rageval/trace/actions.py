"""Parse the action in a model's reply: ``Name[...]``, ``Name(...)`` or a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_rageval.trace.literals import as_json, keyword_arguments, parse_json, parse_literal

__all__ = ["FINISH", "Action", "read_action"]

FINISH = "Finish"
"""The action that ends a run with an answer."""

_LABEL = re.compile(r"^[ \t]*Action(?:[ \t]*\d+)?[ \t]*:", re.MULTILINE)
_NEXT_LABEL = re.compile(r"^[ \t]*(?:Thought|Action|Observation)(?:[ \t]*\d+)?[ \t]*:", re.MULTILINE)
_NAME = re.compile(r"[ \t]*(\w+)")
_PAIR = re.compile(r"[^\W\d]\w*\s*=(?!=)")
_BRACKETS = {"[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a model.

    Attributes:
        name: the name of the tool, in the spelling of the tool if the tools are known.
        arguments: values by parameter, or a text for the tool's only (or first) parameter.
        trailing: the rest of the line after the action, which is ignored.
        fault: why the action is invalid, as a sentence for the model; "" if it is valid.
    """

    name: str
    arguments: str | dict[str, Any]
    trailing: str = ""
    fault: str = ""

    @property
    def is_finish(self) -> bool:
        """Whether the action ends the run."""
        return self.name.casefold() == FINISH.casefold()


def read_action(reply: str, tools: Sequence[str] = ()) -> Action | None:
    """Return the action of a model's reply; None if it has none.

    The action follows the first ``Action:`` or ``Action 3:`` at the start of a line. A reply without such a line must
    begin with the action. An argument ends at the matching bracket, possibly on a later line; brackets in quotes do not
    count. In ``Name[...]`` the whole text is one argument. ``Name(...)`` has ``key=value`` pairs with JSON or Python
    literals, one JSON object, or one text. Literals are parsed and never evaluated.

    Args:
        reply: any text.
        tools: the names of the tools, compared without case; an action with another name is invalid. Without tools, any
            name is valid.
    """
    label = _LABEL.search(reply)
    text = reply[label.end() :] if label else reply.lstrip()
    following = _NEXT_LABEL.search(text, 1)
    text = text[: following.start()] if following else text
    action = _parse_object(text.strip()) if text.lstrip().startswith("{") else _parse_call(text)
    return action and _check_name(action, tools)


def _parse_call(text: str) -> Action | None:
    match = _NAME.match(text)
    if match is None:
        return None
    name, at = match[1], match.end()
    if text[at : at + 1] not in _BRACKETS or at == len(text):
        bare = Action(name, "")
        return bare if bare.is_finish and not _rest_of_line(text, at) else None
    end = _closing(text, at)
    if end is None:
        return Action(name, _rest_of_line(text, at + 1), fault=f"The bracket after {name} is not closed.")
    inner, trailing = text[at + 1 : end].strip(), _rest_of_line(text, end + 1)
    if text[at] == "[":
        return Action(name, inner, trailing)
    arguments = _parse_arguments(inner)
    if arguments is None:
        problem = f'The arguments of {name} cannot be read; write {name}(key="value") or {name}({{"key": "value"}}).'
        return Action(name, inner, trailing, problem)
    return Action(name, arguments, trailing)


def _rest_of_line(text: str, at: int) -> str:
    return text[at:].partition("\n")[0].strip(" \t\r.")


def _closing(text: str, opening: int) -> int | None:
    """Return the index of the bracket that closes the bracket at ``opening``; None if it is never closed.

    A quote without an end is an ordinary character.
    """
    for respect_quotes in (True, False):
        end = _find_closing(text, opening, respect_quotes=respect_quotes)
        if end is not None:
            return end
    return None


def _find_closing(text: str, opening: int, *, respect_quotes: bool) -> int | None:
    bracket, closing = text[opening], _BRACKETS[text[opening]]
    depth, quote, escaped = 0, "", -1
    for match in re.finditer(rf"[\\\"'{re.escape(bracket + closing)}]", text[opening:]):
        at, mark = opening + match.start(), match[0]
        if at == escaped:
            continue
        if mark == "\\":
            escaped = at + 1 if quote else -1
        elif quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":  # an apostrophe within a word does not open a quote
            quote = mark if respect_quotes and not text[at - 1].isalnum() else ""
        else:
            depth += 1 if mark == bracket else -1
            if depth == 0:
                return at
    return None


def _parse_arguments(inner: str) -> str | dict[str, Any] | None:
    """Return the arguments in ``(...)``; None if they are neither a text nor named literals."""
    if inner.startswith("{"):
        value = parse_json(inner) or parse_literal(inner)
        return value if isinstance(value, dict) else None
    if _PAIR.match(inner):
        return keyword_arguments(inner)
    quoted = parse_literal(inner) if inner[:1] in ("'", '"') else None
    return quoted if isinstance(quoted, str) else inner


def _parse_object(text: str) -> Action | None:
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"].strip():
        return None
    name, arguments = value["name"].strip(), value.get("arguments", {})
    inner = parse_json(arguments) if isinstance(arguments, str) else as_json(arguments)
    if isinstance(inner, dict):
        return Action(name, inner, _rest_of_line(text, end))
    fault = "" if isinstance(arguments, str) else f"The arguments of {name} are no JSON object."
    return Action(name, arguments if isinstance(arguments, str) else text[:end], _rest_of_line(text, end), fault)


def _check_name(action: Action, tools: Sequence[str]) -> Action:
    if not tools:
        return action
    names = list(dict.fromkeys((*tools, FINISH)))
    tool = next((name for name in names if name.casefold() == action.name.casefold()), None)
    if tool is not None:
        return replace(action, name=tool)
    listed = f"there are {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"there is only {FINISH}"
    return replace(action, fault=f"There is no tool {action.name}; {listed}.")
