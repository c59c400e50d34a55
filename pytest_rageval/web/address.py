"""Allow one server per page of a project, with a lock file and a file of its address."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from pytest_rageval.errors import SettingError
from pytest_rageval.folders import atomic_files, make_ignored
from pytest_rageval.web.guard import Key
from pytest_rageval.web.site import Site

__all__ = ["Address", "claim_server", "token_of"]

ANSWER_TIMEOUT_S = 2.0
"""Seconds that a second process waits for the running server to answer."""


class Address:
    """The lock file of a site and the file of its address with the token, under ``.rageval/servers``.

    Raises:
        SettingError: the folder cannot be written.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        folder = site.project / ".rageval" / "servers"
        try:
            make_ignored(folder.parent)
            folder.mkdir(exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            problem = f"{folder}: the address of the page cannot be written here ({reason}); correct the rights"
            raise SettingError(problem, code="RAG212") from error
        stem = f"{site.name}-{sha256(site.subject.encode('utf-8', 'replace')).hexdigest()[:12]}"
        self.lock = FileLock(folder / f"{stem}.lock")
        self.file = folder / f"{stem}.json"

    def write(self, url: str) -> None:
        """Store the address, in a file that only the user who runs the server can read."""
        with atomic_files(self.file) as (part,):
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as stream:
                json.dump({"url": url, "pid": os.getpid()}, stream)

    def read(self) -> tuple[str, object]:
        """Return the stored address and the id of the server's process; "" and None if the file cannot be used."""
        try:
            value = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "", None
        if not isinstance(value, dict) or not isinstance(value.get("url"), str):
            return "", None
        return value["url"], value.get("pid")

    def wait_for_url(self) -> str:
        """Wait until the server that holds the lock answers, and return its address.

        Raises:
            SettingError: the server does not answer.
        """
        end = time.monotonic() + ANSWER_TIMEOUT_S
        while True:
            url, pid = self.read()
            if _answers(url):
                return url
            if time.monotonic() > end:
                raise SettingError(
                    f"another rageval {self.site.name} of this project runs and does not answer; "
                    f"end it first (process {pid or 'unknown'})"
                )
            time.sleep(0.1)


@contextmanager
def claim_server(address: Address) -> Iterator[bool]:
    """Yield whether this process may serve the site, because no other one does.

    The end of the block, or of the process, releases the lock.
    """
    try:
        address.lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        address.file.unlink(missing_ok=True)
        address.lock.release()


def token_of(url: str) -> str:
    """Return the token in the query of an address."""
    return urlsplit(url).query.partition("=")[2]


def _answers(url: str) -> bool:
    """Return whether a server of this package answers at an address: only it sets a cookie named by the token."""
    parts = urlsplit(url)
    if not parts.hostname:
        return False
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=1)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        cookie = connection.getresponse().getheader("set-cookie", "")
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return cookie.startswith(f"{Key(token_of(url)).cookie}=")
