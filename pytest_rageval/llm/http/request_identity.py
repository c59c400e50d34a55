"""What identifies a request: method, address without secrets, and canonical content."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pytest_rageval.llm.http.exchange_values import Call
from pytest_rageval.llm.recordings.request import Request

__all__ = ["KIND", "request_of", "without_secrets"]

KIND = "http"
"""The kind of these calls in recordings."""

_SECRET = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|subscription[_-]?key|auth(?:orization)?|passw(?:or)?d|secret"
    r"|(?:access|auth|bearer|id|refresh|session)[_-]?token|client[_-]?secret|credentials?)$",
    re.IGNORECASE,
)
_SECRET_QUERY = re.compile(r"^(?:key|token|sig(?:nature)?|x-(?:amz|goog)-.*)$", re.IGNORECASE)
"""Names in an address that are secrets there, although they may be plain data in a body."""

_LOOKED_UP = re.compile(r"^(?:key|token)$", re.IGNORECASE)
"""Those of them that also name what is looked up or the next page, as in ``GET /pages?key=prices``."""

_LIKE_A_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=:-]{16,}")

_ID_NAME = re.compile(
    r"^(?:(?:tool_)?call|tool_use|run|trace|span|request|message|idempotency|correlation)_?(?:id|key)$"
)
_GENERATED = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}"
    r"|(?:call|toolu|msg|run|chatcmpl|fc|rs|req|lc_run-)[_-]{1,2}[\w-]{6,}",
    re.IGNORECASE,
)
_PARTS_WITH_ID = frozenset({"function", "function_call", "function_call_output", "message", "tool_call", "tool_use"})
"""Types of the parts of a conversation whose ``id`` a client or a provider makes up."""

_GOOGLE = ".googleapis.com"
"""Hosts that take an API key in an address."""

_MASK = "<masked>"
_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)


def request_of(call: Call, host: str, repeat: int) -> Request:
    """Return the recordable form of a request to ``host``.

    Equal are: another order of keys and of the query, another key, another boundary of a multipart body, and other
    ids that clients make up.
    """
    parts = urlsplit(call.url)
    params: dict[str, Any] = {"method": call.method, "path": parts.path or "/"}
    may_look_up = call.method != "POST" and not host.endswith(_GOOGLE)
    query = sorted(
        [name, _shown(name, value, may_look_up=may_look_up)]
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    if query:
        params["query"] = query
    return Request(KIND, host, params, _content(call), repeat)


def _shown(name: str, value: str, *, may_look_up: bool) -> str:
    """Return a value of an address, masked if it is a secret.

    What may be looked up gets a digest: another value gets another reply, and a short key is not stored.
    """
    if not _SECRET.search(name) and not _SECRET_QUERY.match(name):
        return value
    if not may_look_up or not _LOOKED_UP.match(name) or _LIKE_A_KEY.fullmatch(value):
        return _MASK
    return f"<masked {hashlib.sha256(value.encode()).hexdigest()[:8]}>"


def _content(call: Call) -> Any:
    """Return a body as JSON."""
    if not call.body:
        return None
    value = call.json
    if value is not None:
        return _StableIds().applied(without_secrets(value))
    kind = call.content_type.partition(";")[0].strip().lower()
    body = call.content
    if kind == "application/x-www-form-urlencoded":
        fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        return {"form": [[name, _MASK if _SECRET.search(name) else value] for name, value in fields]}
    boundary = _BOUNDARY.search(call.content_type) if kind.startswith("multipart/") else None
    if boundary is not None:
        body = body.replace(boundary[1].encode(), b"boundary")
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def without_secrets(value: Any) -> Any:
    """Return a JSON value with each text under the name of a secret masked."""
    if isinstance(value, dict):
        return {
            name: _MASK if isinstance(item, str) and _SECRET.search(name) else without_secrets(item)
            for name, item in value.items()
        }
    return [without_secrets(item) for item in value] if isinstance(value, list) else value


class _StableIds:
    """Names generated ids ``id1``, ``id2``, ... in the order in which they appear."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def applied(self, value: Any, *, free: bool = False) -> Any:
        """Return a JSON value with stable ids.

        Only fields that hold an id change, never a text of the conversation. In ``free`` parts, such as metadata,
        every generated id changes.
        """
        if isinstance(value, dict):
            has_id = "role" in value or "function" in value or str(value.get("type")) in _PARTS_WITH_ID
            return {
                name: self._name(item)
                if isinstance(item, str) and (free or _ID_NAME.match(name) or (name == "id" and has_id))
                else self.applied(item, free=free or name == "metadata")
                for name, item in sorted(value.items())
            }
        return [self.applied(item, free=free) for item in value] if isinstance(value, list) else value

    def _name(self, text: str) -> str:
        if not _GENERATED.fullmatch(text):
            return text
        return self._names.setdefault(text, f"id{len(self._names) + 1}")
