"""Parse model calls: model and prompt of a request; text, tool calls, tokens of a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.llm.http.http_messages import HttpRequest, json_of

__all__ = ["ModelCall", "ModelReply", "events_of", "is_complete", "model_call_of", "reply_to"]

_CALLS = re.compile(
    r"(?:/(?P<protocol>chat/completions|completions|responses|messages|embeddings|embed|api/chat|api/generate"
    r"|v\d/chat|rerank))$"
    r"|/(?:models|publishers/[^/]+/models)/(?P<model>[^/:]+):(?P<method>generateContent|streamGenerateContent"
    r"|embedContent|batchEmbedContents)$"
)
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)/")
_DATA = re.compile(rb"^data:[ ]?(.*)$", re.MULTILINE)
_PROMPT_COUNTS = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count", "total_tokens")
_REPLY_COUNTS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
_PROMPTS = ("messages", "input", "contents", "prompt")
"""Fields of a request that may contain the prompt."""
_ENDS = {
    "chat/completions": re.compile(rb"^data:[ ]?\[DONE\]|\"finish_reason\":[ ]?\"", re.MULTILINE),
    "messages": re.compile(rb"\"message_stop\""),
    "responses": re.compile(rb"\"response\.(?:completed|incomplete|failed)\""),
}
"""Protocol -> pattern of the last event of a complete stream. Other streams are complete if the server ends them."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A request to a model.

    Attributes:
        protocol: the end of the path, such as ``chat/completions``.
        model: the name of the model.
        body: the JSON of the request.
    """

    protocol: str
    model: str
    body: Mapping[str, Any]

    @property
    def is_embedding(self) -> bool:
        """Whether it asks an embedding model."""
        return "embed" in self.protocol.lower()

    @property
    def prompt(self) -> Any:
        """The prompt, such as messages or texts, as it was sent."""
        return next((self.body[name] for name in _PROMPTS if name in self.body), None)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The reply of a model; a field is None if the reply does not contain it.

    Attributes:
        prompt_tokens: tokens of the prompt, with those from the provider's cache.
        cached_tokens, cache_writes: prompt tokens that were read from the cache, and written to it.
        failed: whether the body is an error, even if the status is a success.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    cache_writes: int = 0
    text: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str | None = None
    model: str = ""
    failed: bool = False


def model_call_of(call: HttpRequest) -> ModelCall | None:
    """Return the request as a model call; None if it is not a request to a model."""
    match = _CALLS.search(call.path) if call.method == "POST" else None
    body = call.json if match is not None else None
    if match is None or not isinstance(body, dict):
        return None
    deployment = _DEPLOYMENT.search(call.path)
    model = match["model"] or body.get("model") or (deployment[1] if deployment else "")
    return ModelCall(match["protocol"] or match["method"], str(model), body)


def events_of(body: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of a body: a single object, or those in the events or lines of a stream."""
    whole = json_of(body)
    if whole is not None:
        return [each for each in (whole if isinstance(whole, list) else [whole]) if isinstance(each, dict)]
    lines = [match[1] for match in _DATA.finditer(body)] or body.splitlines()
    return [event for line in lines if isinstance(event := json_of(line), dict)]


def is_complete(model_call: ModelCall | None, body: bytes, *, ended: bool) -> bool:
    """Return whether a stream is complete. ``ended``: whether the server ended it, not the client."""
    end = _ENDS.get(model_call.protocol) if model_call is not None else None
    return end.search(body) is not None if end is not None else ended


def reply_to(model_call: ModelCall, body: bytes) -> ModelReply:
    """Parse the reply to a model call; the body must be decompressed."""
    events = events_of(body)
    usage: dict[str, Any] = {}
    for event in events:
        for each in _usages(event):
            usage.update({name: value for name, value in each.items() if value is not None})
    cached, writes = _count(usage, "cache_read_input_tokens"), _count(usage, "cache_creation_input_tokens")
    prompt, completion = _first_count(usage, _PROMPT_COUNTS), _first_count(usage, _REPLY_COUNTS)
    if prompt is not None:  # Anthropic counts the tokens of its cache separately
        prompt += (cached or 0) + (writes or 0)
    if cached is None:
        cached = next((found for each in _details(usage) if (found := _count(each, "cached_tokens"))), 0)
    if completion is None and prompt is not None and model_call.is_embedding:
        completion = 0
    if completion is not None:
        completion += _count(usage, "thoughtsTokenCount") or 0
    builder = _ReplyBuilder()
    for event in events:
        builder.add(event)
    return ModelReply(
        prompt_tokens=prompt if completion is not None else None,
        completion_tokens=completion if prompt is not None else None,
        cached_tokens=cached,
        cache_writes=writes or 0,
        text="".join(builder.texts),
        tool_calls=tuple(builder.tool_calls.values()),
        finish_reason=builder.reason,
        model=next((str(event["model"]) for event in events if event.get("model")), ""),
        failed=not events or any(_is_error(event) for event in events),
    )


def _is_error(event: Mapping[str, Any]) -> bool:
    inner = event.get("response")
    failed = event.get("type") in ("error", "response.failed")
    return failed or bool(event.get("error")) or (isinstance(inner, dict) and bool(inner.get("error")))


def _usages(event: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the token counts of an event; each provider has another place for them."""
    places = [event.get("usage"), event.get("usageMetadata")]
    places += [inner.get("usage") for name in ("message", "response") if isinstance(inner := event.get(name), dict)]
    if "prompt_eval_count" in event or "eval_count" in event:
        places.append(event)
    yield from (place for place in places if isinstance(place, dict))


def _details(usage: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    names = ("prompt_tokens_details", "input_tokens_details")
    yield from (each for name in names if isinstance(each := usage.get(name), dict))


def _first_count(usage: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((count for name in names if (count := _count(usage, name)) is not None), None)


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class _ReplyBuilder:
    """Joins the text, the tool calls and the finish reason of a reply from its events."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.tool_calls: dict[object, dict[str, Any]] = {}
        self.reason: str | None = None

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event of any protocol."""
        for choice in _dicts(event.get("choices")):
            part = choice.get("message") or choice.get("delta") or {}
            if isinstance(part, dict):
                self._text(part.get("content"))
                for at, call in enumerate(_dicts(part.get("tool_calls"))):
                    function = call.get("function")
                    if isinstance(function, dict):
                        self._tool(call.get("index", at), function.get("name"), function.get("arguments"))
            self._text(choice.get("text"))
            self._reason(choice.get("finish_reason"))
        self._anthropic(event)
        self._responses(event)
        self._others(event)

    def _anthropic(self, event: Mapping[str, Any]) -> None:
        for at, block in enumerate(_dicts(event.get("content"))):
            self._text(block.get("text"))
            if block.get("type") == "tool_use":
                self._tool(at, block.get("name"), block.get("input"))
        self._reason(event.get("stop_reason"))
        block_start, delta = event.get("content_block"), event.get("delta")
        if isinstance(block_start, dict) and block_start.get("type") == "tool_use":
            self._tool(event.get("index"), block_start.get("name"), "")
        if isinstance(delta, dict) and event.get("type") in ("content_block_delta", "message_delta"):
            self._text(delta.get("text"))
            if "partial_json" in delta:
                self._tool(event.get("index"), None, delta["partial_json"])
            self._reason(delta.get("stop_reason"))

    def _responses(self, event: Mapping[str, Any]) -> None:
        done = event.get("response") if event.get("type") in ("response.completed", "response.incomplete") else event
        if not isinstance(done, dict):
            return
        for at, item in enumerate(_dicts(done.get("output"))):
            for part in _dicts(item.get("content")):
                self._text(part.get("text"))
            if item.get("type") == "function_call":
                self._tool(at, item.get("name"), item.get("arguments"))
        if done.get("object") == "response":
            self._reason(done.get("status"))

    def _others(self, event: Mapping[str, Any]) -> None:
        message = event.get("message")
        if isinstance(message, dict) and "done" in event:  # Ollama
            self._text(message.get("content"))
            self._reason(event.get("done_reason"))
        for candidate in _dicts(event.get("candidates")):  # Gemini
            content = candidate.get("content")
            for part in _dicts(content.get("parts") if isinstance(content, dict) else None):
                self._text(part.get("text"))
            self._reason(candidate.get("finishReason"))

    def _text(self, text: object) -> None:
        if isinstance(text, str):
            self.texts.append(text)

    def _reason(self, reason: object) -> None:
        if isinstance(reason, str) and reason:
            self.reason = reason

    def _tool(self, key: object, name: object, arguments: object) -> None:
        call = self.tool_calls.setdefault(str(key), {"name": "", "arguments": ""})
        call["name"] = name or call["name"]
        is_continued = isinstance(arguments, str) and isinstance(call["arguments"], str)
        call["arguments"] = call["arguments"] + arguments if is_continued else arguments


def _dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
