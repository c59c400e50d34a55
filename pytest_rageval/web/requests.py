"""Parse the body of a request; raise `DataError` for a malformed body."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from pytest_rageval.errors import DataError
from pytest_rageval.model.stored_json import parse_json

__all__ = ["form_of", "json_of"]


async def json_of(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises:
        DataError: the body is not declared as ``application/json``, or is not a JSON object.
    """
    body = await _body(request, "application/json")
    try:
        value = parse_json(body, finite=True)
    except ValueError as error:
        raise DataError("the request", f"its body is malformed JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataError("the request", f"its body is a JSON {type(value).__name__}, not an object")
    return value


async def form_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form, each with all of its values.

    Raises:
        DataError: the body is not declared as ``application/x-www-form-urlencoded``, or is not UTF-8.
    """
    body = await _body(request, "application/x-www-form-urlencoded")
    fields: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise DataError("the request", f"its form is malformed: {error}") from error
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


async def _body(request: Request, media: str) -> bytes:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != media:
        raise DataError("the request", f"its Content-Type is {content_type or 'missing'}; send {media}")
    return await request.body()
