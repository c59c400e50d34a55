"""The model ``embedded``: deterministic replies to the requests of built-in systems."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import EMBEDDED, Completion, Message, ToolCall
from pytest_rageval.systems.embedded.policy import next_move
from pytest_rageval.systems.embedded.programs import write_program
from pytest_rageval.systems.embedded.turn import TURN, Turn
from pytest_rageval.systems.extractive import extractive
from pytest_rageval.trace.actions import Action, read_action

__all__ = ["EmbeddedModel"]


class EmbeddedModel:
    """A `ChatModel` that needs no API key. It reads `TURN`, and never the texts of the messages.

    A call costs nothing, and its tokens are unknown.

    Attributes:
        name: the name in ``rag_model``.
        computes_here: whether it runs on this machine, so a repeated call costs nothing.
    """

    name = EMBEDDED
    computes_here = True

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to a request of a built-in system.

        Raises:
            ModelError: the request does not come from a built-in agent or chain.
        """
        turn = TURN.get()
        reply_to = _REPLY_FUNCTIONS.get(turn.dialect) if turn is not None else None
        if turn is None or reply_to is None:
            raise ModelError("bad_request", "the model embedded answers only the built-in agents and chains")
        return reply_to(turn)


def _answer(turn: Turn) -> Completion:
    """Return the answer of `extractive` from the passages; without passages, the question itself."""
    if turn.passages is None:
        return _reply(turn.question)
    return _reply(extractive(Query(turn.question, turn.passages, (), turn.language, "")).text)


def _react(turn: Turn) -> Completion:
    """Return a thought and an action.

    The action is JSON if brackets would cut the text, or would pass it to another parameter.
    """
    move = next_move(turn)
    name = move.tool or turn.finish
    action_text = f"{name}[{move.text}]"
    if not move.is_first or read_action(action_text) != Action(name, move.text):
        arguments = {move.parameter or "answer": move.text}
        action_text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return _reply(f"{move.thought}\nAction {len(turn.uses) + 1}: {action_text}")


def _tools(turn: Turn) -> Completion:
    """Return a call of a tool, or the answer: as plain text, or as a call of the tool that ends the run."""
    move = next_move(turn)
    name = move.tool or turn.finish
    if not name:
        return _reply(move.text)
    arguments = {move.parameter: move.text} if move.tool else turn.finish_arguments(move.text)
    call = ToolCall(f"c{len(turn.uses) + 1}", name, json.dumps(arguments, ensure_ascii=False))
    return Completion("", Usage(cost_usd=0.0), "tool_calls", EMBEDDED, tool_calls=(call,))


def _reply(text: str) -> Completion:
    """Return a reply that costs nothing."""
    return Completion(text, Usage(cost_usd=0.0), "stop", EMBEDDED)


_REPLY_FUNCTIONS: Mapping[str, Callable[[Turn], Completion]] = MappingProxyType(
    {"answer": _answer, "react": _react, "tools": _tools, "program": lambda turn: _reply(write_program(turn))}
)
"""Dialect of a request -> the function that replies to it."""
