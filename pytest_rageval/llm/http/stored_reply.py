"""Store a reply in a recording, and read it again."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_rageval.llm.http.exchange_values import Call, Reply, decoded, json_of
from pytest_rageval.llm.http.request_identity import without_secrets
from pytest_rageval.llm.secrets import masked, redact

__all__ = ["is_recordable", "plain_body", "reply_of", "to_record"]

KEPT = ("content-type", "location", "openai-version", "request-id", "x-request-id")
"""Headers that clients read; others may hold keys, cookies or what changes with each reply."""

_FOUND_NOTHING = (404, 410)
"""Statuses that are an answer if a page was asked for."""

_EVENT_END = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\r\r)")
_LINE_END = re.compile(r"(?<=\n)")


def is_recordable(call: Call, status: int) -> bool:
    """Return whether a status is an answer: below 400, or "not found" to a GET."""
    return status < 400 or (status in _FOUND_NOTHING and call.method in ("GET", "HEAD"))


def to_record(reply: Reply, *, of_model: bool) -> dict[str, Any]:
    """Return a reply as plain JSON values, decompressed if possible.

    Secrets such as ``access_token`` are masked in JSON, but not in what a model says.
    """
    headers = {name: redact(reply.headers[name]) for name in KEPT if name in reply.headers}
    body = plain_body(reply)
    if body is None:
        headers["content-encoding"] = reply.headers["content-encoding"]
        body = reply.body
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"status": reply.status, "headers": headers, "base64": base64.b64encode(body).decode("ascii")}
    if reply.content_type == "text/event-stream":
        return {"status": reply.status, "headers": headers, "events": _pieces(text, _EVENT_END)}
    if "ndjson" in reply.content_type or "jsonl" in reply.content_type:
        return {"status": reply.status, "headers": headers, "events": _pieces(text, _LINE_END)}
    value = json_of(body) if reply.is_json else None
    shown = masked(value if of_model else without_secrets(value))
    if shown != value:  # a secret may be spelled with JSON's escapes
        text = json.dumps(shown, ensure_ascii=False)
    return {"status": reply.status, "headers": headers, "body": text}


def reply_of(response: Mapping[str, Any]) -> Reply:
    """Return a recorded reply; raise `KeyError` with the name of a missing field."""
    status, headers = int(response["status"]), dict(response["headers"])
    if "events" in response:
        return Reply(status, headers, tuple(_encoded(piece) for piece in response["events"]))
    if "base64" in response:
        return Reply(status, headers, (base64.b64decode(response["base64"]),))
    return Reply(status, headers, (_encoded(response["body"]),))


def plain_body(reply: Reply) -> bytes | None:
    """Return the content of a reply without its compression; None if it cannot be read."""
    return decoded(reply.body, reply.headers.get("content-encoding", "").strip().lower())


def _pieces(text: str, end: re.Pattern[str]) -> list[str]:
    return [piece for piece in end.split(text) if piece]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
