"""Turn exceptions of litellm, openai, httpx and aiohttp into `ModelError`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from pytest_rageval.errors import ModelError, ascii_safe
from pytest_rageval.llm.secrets import mask

__all__ = [
    "HttpFault",
    "fault",
    "http_fault",
    "is_of_http",
    "malformed",
    "model_error",
    "no_longest",
    "no_price",
    "retry_after",
]

_LONGEST = 200
_MASK = "[masked]"
_KEY = re.compile(r"\b(?:sk|pk|gsk|key|Bearer)[-_ ][\w*.+/=-]{6,}", re.IGNORECASE)
_USER_INFO = re.compile(r"//[^/@\s]+@")
_CLIENT_SIDE = ("bad_address", "bad_protocol", "malformed_response", "too_large")
"""Kinds that the client raises: the exception has more detail than the provider's reply."""
_WRAPPED = re.compile("Invalid response object Traceback")
_STATUSES = {401: "auth", 403: "auth", 404: "not_found", 408: "timeout", 429: "rate_limited"}
_MESSAGES = {
    "rate_limited": ("refused the call: too many requests", "lower rag_concurrency or wait"),
    "timeout": ("did not reply in time", "raise the parameter timeout or lower rag_concurrency"),
    "connection": ("could not be reached, or broke the connection", "check its address and the network"),
    "server_error": ("failed on its own side", "try again later"),
    "bad_address": ("has an invalid address", "correct api_base"),
    "bad_protocol": ("did not reply in valid HTTP", "check that api_base is the address of its API"),
    "too_large": ("sent more than max_reply_bytes", "raise max_reply_bytes, or ask for a shorter reply"),
    "truncated": ("broke off in the middle of its reply", "try again later"),
    "malformed_response": ("gave a reply that cannot be used", "check that its address speaks its provider's API"),
    "auth": ("refused the credentials, or has none", "set the provider's API key, and check that it may use the model"),
    "not_found": ("is not known", "check its name and provider, as in openai/gpt-4o-mini, and its address"),
    "bad_request": ("refused the request", "change its parameters or messages"),
    "context_length": ("was sent more than fits into its context", "send fewer or shorter passages, or ask another"),
    "content_filter": ("filtered the content", "change the question or its passages, or ask another"),
}
_SIGNS = {
    "context_length": re.compile(
        r"context_length_exceeded|ContextWindowExceeded|maximum context length|(?<!buffer )too long", re.I
    ),
    "content_filter": re.compile(r"content_filter|content_policy|ContentPolicyViolation|ResponsibleAIPolicy", re.I),
}
_NAMES: tuple[tuple[str, frozenset[str]], ...] = (
    ("too_large", frozenset({"ReplyTooLargeError"})),
    ("bad_address", frozenset({"NonHttpUrlClientError", "InvalidURL", "UnsupportedProtocol", "TooManyRedirects"})),
    ("bad_address", frozenset({"RedirectError", "UnusableClientError"})),
    ("bad_protocol", frozenset({"BadStatusLine", "LineTooLong", "ContentEncodingError", "DecodingError"})),
    ("timeout", frozenset({"TimeoutError", "TimeoutException", "APITimeoutError", "Timeout"})),
    ("truncated", frozenset({"ClientPayloadError", "ContentLengthError", "IncompleteRead", "IncompleteReadError"})),
    ("bad_protocol", frozenset({"BadHttpMessage", "HttpProcessingError"})),
    ("malformed_response", frozenset({"JSONDecodeError", "UnicodeDecodeError", "RecursionError"})),
    ("malformed_response", frozenset({"APIResponseValidationError", "ValidationError"})),
    ("connection", frozenset({"ConnectionError", "APIConnectionError", "ClientConnectionError", "TransportError"})),
    ("connection", frozenset({"ClientOSError"})),
)
"""Class names, matched against an exception and its causes; the first kind with a match counts."""
_TEXTS = {
    "bad_address": re.compile(r"credentials encoded in URL|Port out of range|Invalid (?:IPv6 URL|port)", re.I),
    "malformed_response": re.compile(r"provider returned .*'choices'|invalid response (?:object|from)", re.I),
    "auth": re.compile(r"missing credentials|api_key client option|AuthenticationError|missing .*api.?key", re.I),
    "not_found": re.compile(r"LLM Provider NOT provided|Unmapped LLM provider|(?<!Module)NotFoundError", re.I),
    "bad_protocol": re.compile(r"illegal (?:status|header|chunk)|receive buffer too long|bad content-length", re.I),
    "truncated": re.compile(r"without sending complete message body|payload is not completed", re.I),
}


class HttpFault(NamedTuple):
    """Why a request failed.

    Attributes:
        kind: the kind of its `ModelError`.
        detail: the server's message, in brackets after a space; "" without one.
        retry_after: seconds to wait; None if the server does not say.
    """

    kind: str
    detail: str
    retry_after: float | None


def model_error(error: BaseException, model: str, secrets: Iterable[str] = ()) -> ModelError:
    """Return the `ModelError` of an exception: its kind, the provider's message, and the requested wait.

    Status and class names decide the kind, so no library is imported. The message contains no headers and none of
    ``secrets``. For a refused key it also omits the provider's message, because some providers repeat the key.
    """
    if isinstance(error, ModelError):
        return error
    http = http_fault(error, secrets)
    cause, advice = _MESSAGES[http.kind]
    return ModelError(http.kind, f"the model {model} {cause}{http.detail}; {advice}", retry_after=http.retry_after)


def http_fault(error: BaseException, secrets: Iterable[str] = ()) -> HttpFault:
    """Return the kind of an exception, the server's message and the requested wait; see `model_error`."""
    chain = tuple(_chain(error))
    kind = _kind(chain)
    wait = next((seconds for each in chain if (seconds := retry_after(_headers(each))) is not None), None)
    return HttpFault(kind, "" if kind == "auth" else _provider_text(chain, kind, secrets), wait)


def is_of_http(error: BaseException) -> bool:
    """Return whether an HTTP client raised an exception: it has a status, or the class name of a fault."""
    if isinstance(getattr(error, "status_code", None), int) or _status(error) is not None:
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return any(names & class_names for kind, class_names in _NAMES if kind in ("timeout", "connection", "truncated"))


def fault(kind: str, model: str, detail: str = "") -> ModelError:
    """Return the error of a kind, with optional detail."""
    cause, advice = _MESSAGES[kind]
    return ModelError(kind, f"the model {model} {cause}{f' ({detail})' if detail else ''}; {advice}")


def malformed(model: str, what: str) -> ModelError:
    """Return the error of an unusable reply."""
    return fault("malformed_response", model, what)


def retry_after(headers: Mapping[str, Any]) -> float | None:
    """Return the wait in seconds from the header Retry-After (seconds or a date); None without it."""
    value = next((text for name, text in headers.items() if str(name).lower() == "retry-after"), None)
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _kind(chain: tuple[BaseException, ...]) -> str:
    status = next((status for each in chain if (status := _status(each)) is not None), None)
    texts = "\n".join(f"{type(each).__name__} {each}" for each in chain)
    if status in (None, 400, 413, 422):
        signs = "\n".join((texts, *(_code(each) for each in chain)))
        for kind, sign in _SIGNS.items():
            if sign.search(signs):
                return kind
    if status is not None:
        return _STATUSES.get(status, "server_error" if status >= 500 else "bad_request")
    names = {kind.__name__ for each in chain for kind in type(each).__mro__}
    for kind, class_names in _NAMES:
        if kind == "connection" and (by_text := next((k for k, text in _TEXTS.items() if text.search(texts)), None)):
            return by_text
        if names & class_names:
            return kind
    return _guess(chain[0])


def _guess(error: BaseException) -> str:
    """Return the kind from the status that litellm assigns to its own errors."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or status < 400:
        return "bad_request"
    return _STATUSES.get(status, "server_error" if status >= 500 else "bad_request")


def _status(error: BaseException) -> int | None:
    """Return the status of the provider's reply; litellm also assigns one to errors without a reply."""
    if type(error).__module__.startswith("litellm"):
        return None
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) and status >= 400 else None


def _headers(error: BaseException) -> Mapping[str, Any]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _provider_text(chain: tuple[BaseException, ...], kind: str, secrets: Iterable[str]) -> str:
    """Return the provider's message, or else the exception's, in brackets and without secrets."""
    text = next((text for each in chain if (text := _message(each))), "")
    if not text and kind in _CLIENT_SIDE:
        text = next((line for each in reversed(chain) if (line := _first_line(each))), "")
    if not text and kind == "bad_request":
        text = re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception): )*", "", str(chain[0]))
    for secret in secrets:
        text = text.replace(secret, _MASK)
    text = _USER_INFO.sub(f"//{_MASK}@", text)
    text = ascii_safe(" ".join(_KEY.sub(_MASK, mask(text)).split()).rstrip("."))
    return f" ({text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'})" if text else ""


def _first_line(error: BaseException) -> str:
    """Return an exception's name and first line; "" if it has no text of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    if lines and re.fullmatch(r"\d+, message:", lines[0]):  # aiohttp puts the text on the next line
        lines = lines[1:]
    if not lines or type(error) is StopIteration or _WRAPPED.match(lines[0]):
        return ""
    name = type(error).__name__
    return lines[0] if type(error).__module__.startswith("litellm") else f"{name}: {' '.join(lines[:2])}"


def _message(error: BaseException) -> str:
    """Return the message in the JSON of a provider's reply, or ""."""
    reply_error = _error_of_reply(error)
    if isinstance(reply_error, Mapping):
        return str(reply_error.get("message") or reply_error.get("reason") or "")
    return str(reply_error or "")


def _code(error: BaseException) -> str:
    """Return the code in the JSON of a provider's reply, or ""; the text of some exceptions lacks it."""
    reply_error = _error_of_reply(error)
    return str(reply_error.get("code") or "") if isinstance(reply_error, Mapping) else ""


def _error_of_reply(error: BaseException) -> object:
    """Return the value of ``error`` in the JSON of a provider's reply, or None."""
    if _status(error) is None:
        return None
    try:
        reply_error: object = error.response.json()["error"]  # type: ignore[attr-defined]
    except Exception:  # a provider's reply may have any shape
        return None
    return reply_error


def no_price(model: str, setting: str, rates: str) -> str:
    """Return the message for a model without a price under a budget."""
    return f"the budget cannot be kept because the price of {model} is unknown; give {rates} in {setting}"


def no_longest(model: str, setting: str) -> str:
    """Return the message for a model without a reply limit under a budget."""
    unknown = f"the budget cannot be kept because it is unknown how long a reply of {model} may be"
    return f"{unknown}; give max_tokens in {setting}"
