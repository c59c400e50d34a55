"""Exceptions of HTTP clients and litellm become model errors, by status and by name."""

from __future__ import annotations

import json

import pytest

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.faults import is_of_http, model_error, retry_after


class _Response:
    def __init__(self, status: int, message: str = "", headers: dict[str, str] | None = None) -> None:
        self.status_code = status
        self.headers = headers or {}
        self._body = json.dumps({"error": {"message": message}})

    def json(self) -> object:
        return json.loads(self._body)


class HTTPStatusError(Exception):
    def __init__(self, response: _Response) -> None:
        super().__init__("an error status")
        self.response = response


def exception(name: str, message: str = "", status: object = None, base: type[Exception] = Exception) -> Exception:
    """Return an exception whose class has this name and is in litellm's module of exceptions."""
    error: Exception = type(name, (base,), {"__module__": "litellm.exceptions"})(message)
    if status is not None:
        error.status_code = status  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "bad_request"), (401, "auth"), (403, "auth"), (404, "not_found"), (408, "timeout"), (422, "bad_request"),
     (429, "rate_limited"), (500, "server_error"), (502, "server_error"), (503, "server_error"), (529, "server_error")],
)  # fmt: skip
def test_the_status_of_the_reply_overrides_the_class_of_litellms_error(status: int, kind: str) -> None:
    outer = exception("BadRequestError", "litellm.BadRequestError: invalid_request_error", status)
    outer.__cause__ = HTTPStatusError(_Response(status, "said so"))

    error = model_error(outer, "some/model")

    assert error.kind == kind
    assert ("(said so)" in str(error)) == (kind != "auth")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exception("ContextWindowExceededError", status=400), "context_length"),
        (exception("ContentPolicyViolationError", status=400), "content_filter"),
        (exception("BadRequestError", '{"code": "context_length_exceeded"}', 400), "context_length"),
        (exception("Timeout", status=408), "timeout"),
        (TimeoutError(), "timeout"),
        (ConnectionResetError("reset by peer"), "connection"),
        (ConnectionRefusedError("refused"), "connection"),
        (exception("ClientPayloadError"), "truncated"),
        (exception("RemoteProtocolError", "peer closed connection without sending complete message body"), "truncated"),
        (exception("RemoteProtocolError", "server disconnected", base=type("TransportError", (Exception,), {})),
         "connection"),
        (json.JSONDecodeError("bad", "{", 1), "malformed_response"),
        (exception("RateLimitError", status=429), "rate_limited"),
        (exception("ServiceUnavailableError", status=503), "server_error"),
        (exception("AuthenticationError", status=401), "auth"),
        (exception("NotFoundError", status=404), "not_found"),
        (exception("UnsupportedParamsError", "o9 does not take seed", 400), "bad_request"),
        (exception("APIConnectionError", "No module named 'mcp'", 500, ModuleNotFoundError), "connection"),
        (TypeError("unhashable"), "bad_request"),
    ],
)  # fmt: skip
def test_each_exception_has_the_right_error_kind(error: Exception, kind: str) -> None:
    assert model_error(error, "some/model").kind == kind


@pytest.mark.parametrize(
    ("error", "is_http"),
    [
        (HTTPStatusError(_Response(429)), True),
        (exception("RateLimitError", status=429), True),
        (exception("APITimeoutError", base=type("APIConnectionError", (Exception,), {})), True),
        (exception("ReadTimeout", base=type("TransportError", (Exception,), {})), True),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (exception("ValidationError"), False),
        (json.JSONDecodeError("bad", "{", 1), False),
        (KeyError("timeout"), False),
        (exception("MyError", status="429"), False),
    ],
)  # fmt: skip
def test_an_error_of_an_http_client_is_recognised_by_status_or_name(error: Exception, is_http: bool) -> None:
    assert is_of_http(error) is is_http


def test_a_truncated_reply_is_found_in_the_chain_below_litellms_error() -> None:
    outer = exception("InternalServerError", "Connection error.", 500)
    outer.__context__ = exception("APIConnectionError", "Connection error.")
    outer.__context__.__cause__ = exception("ClientPayloadError", "not completed")

    assert model_error(outer, "m").kind == "truncated"


def test_a_model_error_is_unchanged() -> None:
    error = ModelError("budget", "spent")

    assert model_error(error, "m") is error


def test_the_message_is_one_line_without_secrets_and_headers() -> None:
    response = _Response(400, "bad\nvalue for s3cret-value and sk-abcdef123456", {"authorization": "Bearer zzzzzzzz"})

    text = str(model_error(HTTPStatusError(response), "some/model", ["s3cret-value"]))

    assert text == (
        "the model some/model refused the request (bad value for [masked] and [masked]); "
        "change its parameters or messages"
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "2"}, 2.0), ({"Retry-After": "0.5"}, 0.5), ({"Retry-After": "-3"}, 0.0), ({}, None),
     ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0), ({"Retry-After": "soon"}, None)],
)  # fmt: skip
def test_retry_after_is_parsed(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_is_found_anywhere_in_the_chain() -> None:
    outer = exception("RateLimitError", status=429)
    outer.__context__ = HTTPStatusError(_Response(429, headers={"Retry-After": "4"}))

    assert model_error(outer, "m").retry_after == 4.0
