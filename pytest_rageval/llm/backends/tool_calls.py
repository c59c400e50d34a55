"""Read the tool calls in replies, and recognize servers that refuse tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.faults import malformed
from pytest_rageval.model.chat import ToolCall

__all__ = ["has_tools", "raise_if_tools_refused", "tool_calls_of"]

_TOOLS = r"(?:tools|tool[ -]use|tool[ -]call(?:s|ing)?|function[ -]call(?:s|ing)?)\b"
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:not|n.t|n\\u2019t) support(?: (?!parallel)[\w:]+)?:? ?[\['\"`]*{_TOOLS}(?!\[)",
        rf"(?<!parallel ){_TOOLS}['\"`]? (?:is|are) (?:not |un)(?:supported|enabled|available|allowed|implemented)",
        r"(?:unrecognized|unknown|unsupported|unexpected)\b[^.\n]{0,40}?\btools\b(?![\[.])",
        r"\btools\b['\"\])]*[,:\s]+(?:['\"]?msg['\"]?:\s*['\"])?extra (?:inputs|fields)",
        r"no endpoints found that support tool use|tool choice requires --enable-auto-tool-choice"
        r"|tools param requires --jinja",
    )
)
"""Messages of servers that refuse tools: Ollama, Groq, DeepSeek, Mistral, OpenAI, OpenRouter, vLLM, llama.cpp."""
_REFUSAL_KINDS = ("bad_request", "not_found", "server_error")
"""Kinds of the errors with such a message."""


def has_tools(params: Mapping[str, object]) -> bool:
    """Return whether a call offers tools."""
    return bool(params.get("tools"))


def raise_if_tools_refused(error: ModelError, raised: BaseException, model: str, params: Mapping[str, object]) -> None:
    """Raise a `ModelError` of kind "no_tools" if a server refuses a call because of its tools.

    Args:
        error: the error of the call.
        raised: the original exception, with the server's message.
        model: the model's name.
        params: the parameters of the call.
    """
    if has_tools(params) and error.kind in _REFUSAL_KINDS and any(sign.search(str(raised)) for sign in _REFUSALS):
        raise ModelError("no_tools", f"the model {model} takes no tools; use react, which needs none") from None


def tool_calls_of(model: str, raw_calls: object) -> tuple[ToolCall, ...]:
    """Return the calls in a reply's field ``tool_calls``; raise `ModelError` if it is malformed.

    Some servers send no ids, or arguments as a JSON object instead of its text. Generated ids have the form that
    Mistral requires.
    """
    if not raw_calls:
        return ()
    if not isinstance(raw_calls, list):
        raise malformed(model, "'tool_calls' is not a list")
    return tuple(_call(model, call, number) for number, call in enumerate(raw_calls, 1))


def _call(model: str, call: object, number: int) -> ToolCall:
    function: Any = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise malformed(model, "a tool call without the name of a tool")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    call_id = call.get("id") if isinstance(call, Mapping) else None
    return ToolCall(call_id if isinstance(call_id, str) and call_id else f"call{number:05}", function["name"], text)
