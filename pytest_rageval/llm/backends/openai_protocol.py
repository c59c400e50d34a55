"""OpenAI's HTTP protocol: addresses, request bodies, and parsing of replies."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pytest_rageval.llm.backends.faults import fault, malformed
from pytest_rageval.llm.backends.prices import entry, prices_of
from pytest_rageval.llm.backends.tool_calls import tool_calls_of
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings

__all__ = [
    "CHAT",
    "CONNECTION",
    "EMBEDDING",
    "Endpoint",
    "address_problem",
    "body_of",
    "completion_of",
    "embeddings_of",
    "error_in",
    "fits_a_header",
    "parse_reply",
]

CONNECTION = frozenset({
    "api_base", "api_key", "base_url", "extra_body", "extra_headers", "extra_query", "input_cost_per_token",
    "max_reply_bytes", "organization", "output_cost_per_token", "timeout",
})  # fmt: skip
"""Parameters of the connection; they are not sent as fields of the request."""
CHAT = frozenset({
    "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "n", "parallel_tool_calls",
    "presence_penalty", "response_format", "seed", "stop", "temperature", "tool_choice", "tools", "top_logprobs",
    "top_p",
})  # fmt: skip
"""Parameters of a chat completion that are sent unchanged."""
EMBEDDING = frozenset({"dimensions"})
"""Parameters of an embedding that are sent unchanged."""

_DEFAULT_BASE = "https://api.openai.com/v1"
_THOUGHT = re.compile(r"<(think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL)
"""A reply with the thoughts of a reasoning model before its answer."""
_REASONS = {
    "length": "length", "max_tokens": "length", "content_filter": "content_filter", "sensitive": "content_filter",
    "refusal": "content_filter", "tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "function_call",
}  # fmt: skip
"""A server's finish reason -> OpenAI's finish reason; any other reason becomes "stop"."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server, with the headers and the query of its requests.

    Attributes:
        base: its address, such as ``https://api.openai.com/v1``.
        headers: the headers of each request.
        query: the query parameters of each request.
        secrets: the key and the values of ``extra_headers``; messages never show them.
    """

    base: str
    headers: Mapping[str, str]
    query: Mapping[str, Any]
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, model: str, params: Mapping[str, Any]) -> Endpoint:
        """Return the endpoint from parameters, or else from the environment variables that litellm and openai read.

        Raise `ModelError` if there is no usable key, or if the address is invalid or contains a password.
        """
        base = params.get("api_base") or params.get("base_url") or _variable("OPENAI_BASE_URL", "OPENAI_API_BASE")
        base = str(base or _DEFAULT_BASE).rstrip("/")
        if problem := address_problem(base):
            raise fault("bad_address", model, problem)
        key = str(params.get("api_key") or _variable("OPENAI_API_KEY") or "")
        if not key or not fits_a_header(key):
            raise fault("auth", model)
        optional = {
            "OpenAI-Organization": params.get("organization") or _variable("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
            "OpenAI-Project": _variable("OPENAI_PROJECT_ID"),
        }
        extra = {str(name): str(value) for name, value in (params.get("extra_headers") or {}).items()}
        if invalid := next((name for name, value in extra.items() if not fits_a_header(name + value)), None):
            raise fault("bad_request", model, f"the header {invalid!a} has characters that HTTP does not allow")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "Accept-Encoding": "gzip"}
        headers.update((name, str(value)) for name, value in optional.items() if value)
        return cls(base, {**headers, **extra}, params.get("extra_query") or {}, (key, *filter(None, extra.values())))


def fits_a_header(text: str) -> bool:
    """Return whether HTTP allows the characters of a text in a header."""
    return text.isascii() and text.isprintable()


def address_problem(base: str) -> str:
    """Return the problem of an address, "" for none."""
    try:
        parts = urlsplit(base)
        _ = parts.port  # raises if out of range
    except ValueError as error:
        return str(error)
    if "@" in parts.netloc:
        return "it has credentials in its URL"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "it does not begin with http:// or https:// and a host"
    return ""


def _variable(*names: str) -> str | None:
    return next((value for name in names if (value := os.environ.get(name))), None)


def body_of(model: str, payload: Mapping[str, Any], params: Mapping[str, Any], sent: frozenset[str]) -> bytes:
    """Return the body of a request as JSON: ``payload``, and the ``params`` whose names are in ``sent``.

    A schema is sent only if litellm's map says that the model supports it; a tool choice only with tools.
    """
    sent_params = {name: params[name] for name in sorted(sent & params.keys()) if params[name] is not None}
    if "response_format" in sent_params and not entry(model).get("supports_response_schema"):
        del sent_params["response_format"]
    if not sent_params.get("tools"):
        sent_params.pop("tool_choice", None)
    body = {"model": model.partition("/")[2], **payload, **sent_params, **(params.get("extra_body") or {})}
    return json.dumps(body).encode()


def parse_reply(model: str, content: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a reply; raise `ModelError` for anything else."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise malformed(model, f"{type(error).__name__}: {error}") from None
    if not isinstance(body, dict):
        raise malformed(model, f"a JSON {type(body).__name__} instead of an object")
    return body


def completion_of(model: str, body: Mapping[str, Any], params: Mapping[str, Any], seconds: float) -> Completion:
    """Return the completion of a reply's first choice."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise malformed(model, "'choices' is not a list" if "choices" in body else "no 'choices'")
    if not choices:
        raise malformed(model, "no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise malformed(model, "a choice without a message")
    text, refusal = message.get("content") or "", message.get("refusal")
    if not isinstance(text, str):
        raise malformed(model, "a message whose content is no text")
    text = _answer(text, message)
    refused = isinstance(refusal, str) and bool(refusal) and not text.strip()
    reason = _REASONS.get(choice.get("finish_reason"), "stop")
    calls = tool_calls_of(model, message.get("tool_calls"))
    if reason == "stop" and calls:
        reason = "tool_calls"
    usage, name = _usage(model, body, params, seconds), str(body.get("model") or "")
    return Completion(str(refusal) if refused else text, usage, reason, name, refused=refused, tool_calls=calls)


def _answer(text: str, message: Mapping[str, Any]) -> str:
    """Return the text without the model's thoughts; only needed if the server does not separate them."""
    thought = None if message.keys() & {"reasoning", "reasoning_content"} else _THOUGHT.match(text)
    return text if thought is None else thought[2]


def embeddings_of(
    model: str, body: Mapping[str, Any], params: Mapping[str, Any], texts: Sequence[str], seconds: float
) -> Embeddings:
    """Return the vectors in a reply, in the order of the texts."""
    usage = _usage(model, body, params, seconds)
    try:
        rows = sorted(body["data"], key=lambda row: int(row["index"]))
        embeddings = Embeddings(tuple(row["embedding"] for row in rows), usage, str(body.get("model") or ""))
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(model, f"no vectors ({error})") from None
    if len(embeddings.vectors) != len(texts):
        raise malformed(model, f"{len(embeddings.vectors)} vectors of {len(texts)} texts")
    return embeddings


def _usage(model: str, body: Mapping[str, Any], params: Mapping[str, Any], seconds: float) -> Usage:
    """Return tokens and price; both are unknown if the reply has no token counts."""
    usage = body.get("usage")
    if not isinstance(usage, dict) or not usage.get("prompt_tokens"):
        return Usage(latency_s=seconds)
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    try:
        sent, received, stored = (
            int(count or 0) for count in (usage["prompt_tokens"], usage.get("completion_tokens"), cached)
        )
    except (TypeError, ValueError) as error:
        raise malformed(model, f"token counts that are no numbers ({error})") from None
    return Usage(sent, received, prices_of(model, params).cost(sent, received, stored), seconds)


def error_in(body: Mapping[str, Any]) -> tuple[int, str] | None:
    """Return status and message if a reply with HTTP status 200 contains an error, else None."""
    error = body.get("error")
    fields = error if isinstance(error, dict) else {"message": error}
    message, code = fields.get("message"), fields.get("code")
    if not message and code is None:
        return None
    status = code if isinstance(code, int) and 400 <= code < 600 else 422
    return status, str(message or code)
