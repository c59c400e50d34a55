"""Run a local page until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.importing import cause_text
from pytest_rageval.web.address import Address, claim_server
from pytest_rageval.web.application import application
from pytest_rageval.web.guard import LOCAL, Guard, Key
from pytest_rageval.web.site import Site

__all__ = ["listening_socket", "run_until_signal", "serve"]

GRACE_S = 0.3
"""Seconds that open requests may take after the server ends; then their connections are closed."""

PRINT = partial(print, flush=True)

OPENING_S = 5.0
"""Seconds that a second server waits for the browser to open the address."""

ANY = ("", "0.0.0.0", "::")  # noqa: S104


def serve(
    site: Site,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    know: bool = False,
    open_browser: bool = True,
    out: Callable[[str], object] = PRINT,
    begin: Callable[[], object] | None = None,
) -> int:
    """Run a site until Ctrl-C or SIGTERM, or open the page of the server that already runs; return 0.

    Args:
        site: the page.
        port: the port; 0 takes a free one.
        host: the address to listen on; an address other than 127.0.0.1 needs ``know``.
        know: whether the person accepts that others reach the page (``--i-know``).
        open_browser: whether to open the page; its address is printed anyway.
        out: prints one line.
        begin: called when this process listens; a second server does not call it.

    Raises:
        SettingError: the port is taken or invalid, the host is refused, another server does not answer, or the
            project's ``.rageval`` cannot be written.
    """
    if host not in LOCAL and not know:
        raise SettingError(
            f"--host {short_repr(host)} lets other machines reach the page, which shows and writes your files; "
            "leave it out, or add --i-know"
        )
    address = Address(site)
    with claim_server(address) as first:
        if not first:
            url = _page_url(address.wait_for_url(), site.opens)
            out(f"rageval {site.name} already runs: {url}")
            _open_browser(url, open_browser).join(OPENING_S)  # this process ends at once, and the thread with it
            return 0
        with listening_socket(host, port) as listener:
            key = Key(secrets.token_urlsafe(24))
            url = f"http://{_name(host)}:{listener.getsockname()[1]}/?token={key.token}"
            address.write(url)
            if begin is not None:
                begin()
            url = _page_url(url, site.opens)
            out(f"rageval {site.name}: {url} (Ctrl-C ends it)")
            _open_browser(url, open_browser)
            hosts = () if host in LOCAL else (host,)
            run_until_signal(Guard(application(site), key, site.max_body, hosts), listener, GRACE_S)
    return 0


def _page_url(url: str, opens: str) -> str:
    """Return the address of a server with the path and query of the page to open."""
    start, _, token = url.partition("?")
    path, _, query = opens.partition("?")
    return f"{start}{path}?{'&'.join(filter(None, (token, query)))}"


@contextmanager
def listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a listening socket."""
    if not 0 <= port <= 65_535:
        raise SettingError(f"--port {port} is outside 0..65535; leave it out for a free one")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        if os.name == "posix":
            listener.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # reuse the port of a server that has just ended
        try:
            listener.bind((host, port))
            listener.listen()
        except (OSError, TypeError, ValueError) as error:  # TypeError and ValueError mean an invalid host name
            raise SettingError(_problem(host, port, error)) from error
        yield listener


def _problem(host: str, port: int, error: Exception) -> str:
    """Return why a socket cannot listen; on this machine the port is the problem."""
    cause = getattr(error, "strerror", None) or cause_text(error)
    if host in LOCAL:
        return f"--port {port}: {cause}; choose another, or leave it out for a free one"
    return f"--host {short_repr(host)}, port {port}: {cause}; name an address of this machine and a free port"


def _name(host: str) -> str:
    if host in ANY:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def run_until_signal(app: ASGIApp, listener: socket.socket, grace: float | None) -> None:
    """Serve an application until Ctrl-C or SIGTERM.

    Args:
        app: the application.
        listener: a listening socket.
        grace: seconds that open requests may take after the signal; None waits for all of them.
    """
    config = uvicorn.Config(
        _without_answered_errors(app), http="h11", ws="none", lifespan="off", log_config=None, log_level="critical",
        access_log=False, server_header=False, proxy_headers=False,
    )  # fmt: skip
    asyncio.run(_Server(config, grace).serve(sockets=[listener]))


def _without_answered_errors(app: ASGIApp) -> ASGIApp:
    """Return the application without the errors that it has answered.

    Starlette raises an unexpected error again after its response, and uvicorn then closes the connection.
    """

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def send_and_note(message: Message) -> None:
            nonlocal is_answered
            await send(message)
            is_answered = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await app(scope, receive, send_and_note)
        except Exception:
            if not is_answered:
                raise

    return run


class _Server(uvicorn.Server):
    """Ends within the grace period; it does not raise the signal again, because Ctrl-C is the normal end."""

    def __init__(self, config: uvicorn.Config, grace: float | None) -> None:
        super().__init__(config)
        self._grace = grace

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._end) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _end(self, *_: object) -> None:
        self.force_exit = self.should_exit  # the second signal does not wait for requests
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        with suppress(asyncio.TimeoutError):  # a stream of events may stay open
            await asyncio.wait_for(super().shutdown(sockets), self._grace)


def _open_browser(url: str, enabled: bool) -> threading.Thread:
    """Open the page on a thread, in a graphical browser; a text browser would take over the terminal."""
    screen = sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    can_open = enabled and (screen or bool(os.environ.get("BROWSER")))
    thread = threading.Thread(target=webbrowser.open if can_open else str, args=(url,), daemon=True)
    thread.start()
    return thread
