"""Tools in requests and replies: read a model's calls, recognize a server that refuses tools."""

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
"""What servers say that take no tools: Ollama, Groq, DeepSeek, Mistral, OpenAI, OpenRouter, vLLM, llama.cpp, ..."""
_REFUSING = ("bad_request", "not_found", "server_error")
"""The kinds of those errors."""


def has_tools(params: Mapping[str, object]) -> bool:
    """Return whether a call offers tools."""
    return bool(params.get("tools"))


def raise_if_tools_refused(error: ModelError, raised: BaseException, model: str, params: Mapping[str, object]) -> None:
    """Raise a `ModelError` of kind "no_tools" if a server refuses a call because of its tools.

    Args:
        error: the error of the call.
        raised: the exception that it was made from.
        model: the model's name.
        params: the parameters of the call.
    """
    if has_tools(params) and error.kind in _REFUSING and any(sign.search(str(raised)) for sign in _REFUSALS):
        raise ModelError("no_tools", f"the model {model} takes no tools; use react, which needs none") from None


def tool_calls_of(model: str, found: object) -> tuple[ToolCall, ...]:
    """Return the calls in a reply's field ``tool_calls``; raise `ModelError` if it is malformed.

    Some servers send no ids, or arguments as JSON instead of its text. Ids made here have the form that Mistral wants.
    """
    if not found:
        return ()
    if not isinstance(found, list):
        raise malformed(model, "'tool_calls' is not a list")
    return tuple(_call(model, call, number) for number, call in enumerate(found, 1))


def _call(model: str, call: object, number: int) -> ToolCall:
    function: Any = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise malformed(model, "a tool call without the name of a tool")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    given = call.get("id") if isinstance(call, Mapping) else None
    return ToolCall(given if isinstance(given, str) and given else f"call{number:05}", function["name"], text)
