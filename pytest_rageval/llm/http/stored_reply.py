"""Store a reply in a recording, and read it again."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest, decompress, json_of
from pytest_rageval.llm.http.request_identity import without_secrets
from pytest_rageval.llm.secrets import mask_json, redact

__all__ = ["is_recordable", "plain_body", "reply_of", "to_record"]

STORED_HEADERS = ("content-type", "location", "openai-version", "request-id", "x-request-id")
"""Headers that clients read; other headers may contain keys, cookies or values that change with each reply."""

_NOT_FOUND = (404, 410)
"""Statuses that are a valid answer to a request for a page."""

_EVENT_END = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\r\r)")
_LINE_END = re.compile(r"(?<=\n)")


def is_recordable(call: HttpRequest, status: int) -> bool:
    """Return whether to record a reply with this status: below 400, or "not found" for GET and HEAD."""
    return status < 400 or (status in _NOT_FOUND and call.method in ("GET", "HEAD"))


def to_record(reply: HttpReply, *, of_model: bool) -> dict[str, Any]:
    """Return a reply as plain JSON values, decompressed if possible.

    Secrets under names such as ``access_token`` are masked in JSON, but not in the reply of a model.
    """
    headers = {name: redact(reply.headers[name]) for name in STORED_HEADERS if name in reply.headers}
    body = plain_body(reply)
    if body is None:
        headers["content-encoding"] = reply.headers["content-encoding"]
        body = reply.body
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"status": reply.status, "headers": headers, "base64": base64.b64encode(body).decode("ascii")}
    if reply.content_type == "text/event-stream":
        return {"status": reply.status, "headers": headers, "events": _split(text, _EVENT_END)}
    if "ndjson" in reply.content_type or "jsonl" in reply.content_type:
        return {"status": reply.status, "headers": headers, "events": _split(text, _LINE_END)}
    value = json_of(body) if reply.is_json else None
    masked_value = mask_json(value if of_model else without_secrets(value))
    if masked_value != value:  # the text may contain a secret with JSON escapes
        text = json.dumps(masked_value, ensure_ascii=False)
    return {"status": reply.status, "headers": headers, "body": text}


def reply_of(response: Mapping[str, Any]) -> HttpReply:
    """Return a recorded reply; raise `KeyError` with the name of a missing field."""
    status, headers = int(response["status"]), dict(response["headers"])
    if "events" in response:
        return HttpReply(status, headers, tuple(_encode(piece) for piece in response["events"]))
    if "base64" in response:
        return HttpReply(status, headers, (base64.b64decode(response["base64"]),))
    return HttpReply(status, headers, (_encode(response["body"]),))


def plain_body(reply: HttpReply) -> bytes | None:
    """Return the decompressed body of a reply; None if it cannot be decompressed."""
    return decompress(reply.body, reply.headers.get("content-encoding", "").strip().lower())


def _split(text: str, end: re.Pattern[str]) -> list[str]:
    return [piece for piece in end.split(text) if piece]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
