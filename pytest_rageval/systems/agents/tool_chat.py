"""Build the messages of a model that calls tools, and check the tool that ends a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_rageval.environments.arguments import parse_arguments
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool
from pytest_rageval.errors import CaseError
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.model.plain import plain_text
from pytest_rageval.systems.agents.context_room import has_room, room_for_reply
from pytest_rageval.systems.agents.options import AgentOptions
from pytest_rageval.systems.agents.prompts import AgentPrompts
from pytest_rageval.systems.agents.run import AgentRun, RunEnded
from pytest_rageval.systems.embedded.turn import Turn
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.workflow import PlannedRun
from pytest_rageval.text.quoting import quote_lines

__all__ = [
    "PROMPT_KEYS",
    "arguments_of",
    "ask",
    "check_tool_names",
    "opening",
    "plan_of_run",
    "reply_message",
    "result_message",
    "tool_schemas",
]

PROMPT_KEYS: Mapping[str, tuple[str, ...]] = {
    "system": (),
    "user": ("question", "documents"),
    "documents": ("passages",),
}
"""The texts that `opening` needs, and the required placeholders of each."""

LONGEST_NAME = 64
"""Maximum length of a tool's name that servers accept."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def opening(query: Query, prompts: AgentPrompts, examples: int, **values: str) -> list[Message]:
    """Return the first messages: the task, the earlier turns, and the question with the supplied passages.

    Args:
        query: the case's query; its passages are quoted.
        prompts: the texts, with the keys of `PROMPT_KEYS`.
        examples: the number of worked examples.
        values: the values of further placeholders in the system text.
    """
    language = query.language
    examples_text = prompts.examples_text(language, examples)
    documents = ""
    if query.passages is not None:
        quotes = [quote_lines(f"{each.title}\n{each.text}") for each in query.passages]
        passages = "\n\n".join(f"[{number}]\n{text}" for number, text in enumerate(quotes, 1))
        documents = prompts.text("documents", language, {"passages": passages})
    contents = [("system", prompts.text("system", language, {**values, "examples": examples_text}))]
    for turn in query.history:
        contents += [("user", turn.question), ("assistant", turn.answer)]
    user_values = {"question": query.question, "documents": documents, "instructions": query.instructions}
    contents.append(("user", prompts.text("user", language, user_values)))
    return [{"role": role, "content": content} for role, content in contents if content.strip()]


async def ask(run: AgentRun, messages: Sequence[Message], turn: Turn, tools: Sequence[dict[str, Any]]) -> Completion:
    """Return a model's reply to messages and tools, in texts that UTF-8 can encode.

    Raises:
        RunEnded: messages, tools and reply exceed the context of the model, or its provider filters a later reply.
        ModelError: the call failed.
    """
    schemas = {"role": "system", "content": json.dumps(tools, default=str)}
    if not has_room(run.model, (schemas, *messages), room_for_reply(run.model)):
        raise RunEnded("context_limit", "the prompt no longer fits the model")
    reply = await run.ask(messages, turn, tools=tools, tool_choice="auto")
    calls = [ToolCall(*map(plain_text, (call.id, call.name, call.arguments))) for call in reply.tool_calls]
    return replace(reply, text=plain_text(reply.text), tool_calls=tuple(calls))


def tool_schemas(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the value of the request parameter ``tools``."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def plan_of_run(
    parts: SystemParts,
    agent: AgentOptions,
    messages: Sequence[Message],
    calls: int,
    ending: Sequence[Tool] = (),
    turns: int | None = None,
) -> PlannedRun:
    """Return the plan of a run: its first request, with the tools of the case's environment, and its request limit."""
    environments = parts.environments or Environments({})
    with environments.of_case(agent.environment).open() as tools:
        params = {"tools": tool_schemas((*tools.tools, *ending)), "tool_choice": "auto"}
    return PlannedRun(messages, calls, exact=calls == 1, params=params, turns=turns)


def arguments_of(call: ToolCall) -> Mapping[str, Any] | str:
    """Return the arguments of a call by name; their text if it is no JSON object."""
    try:
        return parse_arguments(call.arguments)
    except InvalidArgumentsError:
        return call.arguments


def reply_message(reply: Completion) -> Message:
    """Return a reply as a message of the next request; change its calls so that every server accepts them.

    Arguments that are no JSON object become ``{}``. Characters that servers reject in a name become ``_``, such as the
    dot in ``multi_tool_use.parallel``.
    """
    calls = [
        ToolCall(call.id, _sendable_name(call.name), call.arguments if _is_object(call.arguments) else "{}")
        for call in reply.tool_calls
    ]
    return replace(reply, tool_calls=tuple(calls)).message


def result_message(call: ToolCall, text: str) -> Message:
    """Return the result of a call as a message; the text is quoted."""
    return {"role": "tool", "tool_call_id": call.id, "content": quote_lines(text)}


def check_tool_names(tools: Sequence[Tool], ending: Tool, system: str) -> None:
    """Raise `CaseError` if an environment has a tool with the name of the tool that ends a run."""
    if any(tool.name == ending.name for tool in tools):
        message = (
            f"{system}: a call of {ending.name} ends the run, and the environment has a tool of that name; rename it"
        )
        raise CaseError("tool_name_taken", message)


def _sendable_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:LONGEST_NAME] or "_"


def _is_object(text: str) -> bool:
    """Return whether every server accepts a text as a JSON object; NaN is not accepted."""
    try:
        return isinstance(json.loads(text, parse_constant=_reject_constant), dict)
    except (ValueError, RecursionError):
        return False


def _reject_constant(constant: str) -> object:
    raise ValueError(constant)
