"""Protect a local page: check host, origin, token and size of requests; add headers."""

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
"""Headers of every response: the page loads nothing from other sites, and no site frames, reads or stores it."""

SAFE = ("GET", "HEAD")
LOCAL = ("127.0.0.1", "localhost")
TOKEN = "token"  # noqa: S105
_PAGES = Pages("pytest_rageval.web")


@dataclass(frozen=True)
class Key:
    """The secret of one server: a token in the printed address; the first request moves it to a cookie."""

    token: str

    @property
    def cookie(self) -> str:
        """Return the cookie's name; it differs between the servers of this machine, because they share cookies."""
        return f"rageval-{sha256(self.token.encode()).hexdigest()[:12]}"

    def opens(self, token: str) -> bool:
        """Return whether a text is the token, in constant time."""
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
    """ASGI middleware: passes on the requests of the user's own page, and refuses others with 403 or 413.

    Attributes:
        app: the application that gets the requests.
        key: the secret of the server.
        max_body: the largest body of a request, in bytes.
        hosts: valid host names in addition to 127.0.0.1 and localhost. If there are any, IP addresses are valid, too.
    """

    app: ASGIApp
    key: Key
    max_body: int
    hosts: Collection[str] = field(default=())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        send = _with_headers(send)
        headers = Headers(scope=scope)
        response = self._refusal(scope, headers) or self._login(scope, headers)
        if response is None and not self.key.held_by(headers):
            response = _refuse("open the address that the command printed; it ends with a token")
        if response is not None:
            await response(scope, receive, send)
        elif scope["method"] in SAFE:
            await self.app(scope, _replay(b"", receive), send)
        else:
            await self._pass_with_body(scope, receive, send)

    async def _pass_with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may change something, after its whole body arrived."""
        try:
            body = await _body_of(Headers(scope=scope), receive, self.max_body)
        except ClientDisconnect:  # an incomplete text must not be stored
            return
        if body is None:
            await _refuse(f"the request is larger than {self.max_body:,} bytes", 413)(scope, receive, send)
        else:
            await self.app(scope, _replay(body, receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the refusal of a request with a wrong host or origin, or None."""
        host = headers.get("host", "")
        if not self._is_valid_host(host):
            return _refuse("the request names another host than this machine")
        if scope["method"] in SAFE:
            is_navigation = headers.get("sec-fetch-mode") == "navigate"
            return (
                _refuse("the request comes from another page")
                if _is_cross_site(headers) and not is_navigation
                else None
            )
        if headers.get("origin") != f"{scope['scheme']}://{host}" or _is_cross_site(headers):
            return _refuse("the request does not come from this page")
        return None

    def _is_valid_host(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in LOCAL or name in self.hosts or (bool(self.hosts) and _is_address(name))

    def _login(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the redirect that moves the token from the address to a cookie; None without a valid token."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] not in SAFE or not any(name == TOKEN and self.key.opens(value) for name, value in pairs):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != TOKEN])
        target = quote("/" + scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
        response: Response = RedirectResponse(target, 303)
        if _is_cross_site(headers):  # browsers would follow the redirect without the cookie
            response = _PAGES.page("enter.html", target=target)
        response.set_cookie(self.key.cookie, self.key.token, path="/", httponly=True, samesite="strict")
        return response


def _refuse(sentence: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)


def _is_cross_site(headers: Headers) -> bool:
    """Return whether the browser reports that a page of another site made the request; not for a typed address."""
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


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that starts with a body that was already read."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return send_with_headers
