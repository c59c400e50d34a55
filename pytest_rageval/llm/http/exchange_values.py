"""A request and a reply, as every transport gives and takes them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Call", "Reply", "decoded", "json_of", "negotiable"]

ENCODINGS = "gzip, deflate"
"""The compressions that this package reads."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Call:
    """A request on its way.

    Attributes:
        method: in upper case.
        url: the whole address.
        body: its content.
        content_type: the value of that header, "" if there is none.
    """

    method: str
    url: str
    body: bytes = b""
    content_type: str = ""

    @property
    def path(self) -> str:
        """The path of its address."""
        return urlsplit(self.url).path or "/"

    @cached_property
    def content(self) -> bytes:
        """Its body without gzip, which writes the time into it."""
        return (decoded(self.body, "gzip") or self.body) if self.body[:2] == _GZIP else self.body

    @cached_property
    def json(self) -> Any:
        """Its JSON; None if it has none."""
        return json_of(self.content)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server replied.

    Attributes:
        status: such as 200.
        headers: names in lower case -> values.
        chunks: its content, in the pieces to pass on.
    """

    status: int
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...] = ()

    @property
    def body(self) -> bytes:
        """Its content."""
        return b"".join(self.chunks)

    @property
    def content_type(self) -> str:
        """The media type of its content, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json(self) -> bool:
        """Whether its content is one JSON value, which a client reads as a whole."""
        return self.content_type == "application/json" or self.content_type.endswith("+json")


def json_of(body: bytes) -> Any:
    """Return a JSON value; None if the content is none."""
    try:
        return json.loads(body, parse_constant=_no_number) if body.strip() else None
    except (ValueError, RecursionError):
        return None


def decoded(body: bytes, encoding: str) -> bytes | None:
    """Return a body without its compression; None if it cannot be read."""
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


def negotiable(accept_encoding: str | None) -> str | None:
    """Return the header ``accept-encoding`` to send: a reply in another compression could not be read here."""
    if accept_encoding is None or not any(name in accept_encoding for name in ("br", "zstd", "*")):
        return accept_encoding
    return ENCODINGS


def _no_number(constant: str) -> float:
    raise ValueError(constant)
