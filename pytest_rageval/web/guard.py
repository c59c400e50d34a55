"""Who may ask a local page, what a request may carry, and which headers an answer has."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pytest_rageval.web.pages import Pages

__all__ = ["HEADERS", "Guard", "Key"]

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer, a form of the page itself would send "Origin: null"
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every answer: the page loads nothing from elsewhere, and nobody frames, reads or stores it."""

SAFE = ("GET", "HEAD")
LOCAL = ("127.0.0.1", "localhost")
TOKEN = "token"  # noqa: S105
_PAGES = Pages("pytest_rageval.web")


@dataclass(frozen=True)
class Key:
    """The secret of one server: a token in the address that it prints, a cookie from then on."""

    token: str

    @property
    def cookie(self) -> str:
        """Return the cookie's name: servers on other ports of this machine have names of their own."""
        return f"rageval-{sha256(self.token.encode()).hexdigest()[:12]}"

    def opens(self, token: str) -> bool:
        """Return whether this is the token, in a time that does not depend on the text."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def held_by(self, headers: Headers) -> bool:
        """Return whether the cookies of a request hold the token."""
        for line in headers.getlist("cookie"):
            for pair in line.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self.cookie and self.opens(value):
                    return True
        return False


@dataclass(frozen=True)
class Guard:
    """ASGI middleware: answers 403 or 413 itself, and passes on what the person's own page asks.

    Attributes:
        app: the application behind it.
        key: the secret of the server.
        max_body: the largest body of a request, in bytes.
        hosts: other names than 127.0.0.1 and localhost that the server may be called by; then any IP address, too.
    """

    app: ASGIApp
    key: Key
    max_body: int
    hosts: Collection[str] = field(default=())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answer = _with_headers(send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers) or self._entry(scope, headers)
        if refusal is None and not self.key.held_by(headers):
            refusal = _refused("open the address that the command printed; it ends with a token")
        if refusal is not None:
            await refusal(scope, receive, answer)
        elif scope["method"] in SAFE:
            await self.app(scope, _again(b"", receive), answer)
        else:
            await self._act(scope, receive, answer)

    async def _act(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may change something, once its whole body is here."""
        try:
            body = await _body_of(Headers(scope=scope), receive, self.max_body)
        except ClientDisconnect:  # half of a text must not pass for a whole one
            return
        if body is None:
            await _refused(f"the request is larger than {self.max_body:,} bytes", 413)(scope, receive, send)
        else:
            await self.app(scope, _again(body, receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._is_known(host):
            return _refused("the request names another host than this machine")
        if scope["method"] in SAFE:
            leads_here = headers.get("sec-fetch-mode") == "navigate"
            return _refused("another page asks for this") if _comes_from_elsewhere(headers) and not leads_here else None
        if headers.get("origin") != f"{scope['scheme']}://{host}" or _comes_from_elsewhere(headers):
            return _refused("the request does not come from this page")
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in LOCAL or name in self.hosts or (bool(self.hosts) and _is_address(name))

    def _entry(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the redirect that turns the token of the address into a cookie; None if it has no right token."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] not in SAFE or not any(name == TOKEN and self.key.opens(value) for name, value in pairs):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != TOKEN])
        target = quote("/" + scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
        response: Response = RedirectResponse(target, 303)
        if _comes_from_elsewhere(headers):  # browsers would follow the redirect without the cookie
            response = _PAGES.page("enter.html", target=target)
        response.set_cookie(self.key.cookie, self.key.token, path="/", httponly=True, samesite="strict")
        return response


def _refused(sentence: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)


def _comes_from_elsewhere(headers: Headers) -> bool:
    """Return whether the browser says that another page made the request; a typed address is from nowhere."""
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _body_of(headers: Headers, receive: Receive, limit: int) -> bytes | None:
    """Return the body of a request; None if it is larger than the limit.

    Raises:
        ClientDisconnect: the connection ended before the body.
    """
    declared = headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        return None
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > limit:
            return None
    return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives the body, which has been read, once more."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return send_with_headers
