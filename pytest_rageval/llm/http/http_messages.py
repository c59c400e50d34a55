"""HTTP requests and replies, in the same form for every HTTP library."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

__all__ = ["HttpReply", "HttpRequest", "decompress", "json_of", "readable_encodings"]

ENCODINGS = "gzip, deflate"
"""The compressions that this package reads."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class HttpRequest:
    """An HTTP request.

    Attributes:
        method: such as "POST", in upper case.
        url: the whole address, with its query.
        body: the bytes that are sent.
        content_type: the header ``content-type``; "" if there is none.
    """

    method: str
    url: str
    body: bytes = b""
    content_type: str = ""

    @property
    def path(self) -> str:
        """The path of the address."""
        return urlsplit(self.url).path or "/"

    @cached_property
    def content(self) -> bytes:
        """The body without gzip compression: the compressed bytes contain the time, so they always differ."""
        return (decompress(self.body, "gzip") or self.body) if self.body[:2] == _GZIP else self.body

    @cached_property
    def json(self) -> Any:
        """The body as a JSON value; None if it is not JSON."""
        return json_of(self.content)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An HTTP reply.

    Attributes:
        status: the status code, such as 200.
        headers: name in lower case -> value.
        chunks: the body, in the chunks of the stream; a single chunk without a stream.
    """

    status: int
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...] = ()

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.chunks)

    @property
    def content_type(self) -> str:
        """The media type of the body, in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json(self) -> bool:
        """Whether the body is one JSON value, which clients read as a whole."""
        return self.content_type == "application/json" or self.content_type.endswith("+json")


def json_of(body: bytes) -> Any:
    """Return the JSON value of a body; None if it is not JSON."""
    try:
        return json.loads(body, parse_constant=_refuse_constant) if body.strip() else None
    except (ValueError, RecursionError):
        return None


def decompress(body: bytes, encoding: str) -> bytes | None:
    """Return a decompressed body; None if the compression is unknown or the body is damaged."""
    try:
        if encoding in ("", "identity"):
            return body
        if encoding in ("gzip", "x-gzip"):
            return gzip.decompress(body)
        if encoding == "deflate":
            return zlib.decompress(body) if body[:1] == b"x" else zlib.decompress(body, -zlib.MAX_WBITS)
    except (OSError, EOFError, zlib.error):
        pass
    return None


def readable_encodings(accept_encoding: str | None) -> str | None:
    """Return the header ``accept-encoding`` to send, limited to the compressions that this package reads."""
    if accept_encoding is None or not any(name in accept_encoding for name in ("br", "zstd", "*")):
        return accept_encoding
    return ENCODINGS


def _refuse_constant(constant: str) -> float:
    raise ValueError(constant)
