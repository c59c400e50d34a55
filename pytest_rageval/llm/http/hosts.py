"""The host patterns of ``rag_record_http``, and the pattern that a request matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["Hosts"]

ANY = "*"
_PATTERN = re.compile(r"(?P<host>\[[0-9a-f:.*]+\]|[a-z0-9*._-]+)(?::(?P<port>\d{1,5}|\*))?")
_LOCAL = re.compile(r"localhost|\[.*\]|[\d.*]*\d[\d.*]*")
"""Hosts such as localhost or IP addresses: their services seldom use the ports 80 and 443, so a port is required."""

LAST_PORT = 65_535
_DEFAULT_PORTS = ("80", "443")


@dataclass(frozen=True, slots=True)
class _Pattern:
    host: str
    port: str


@dataclass(frozen=True, slots=True)
class Hosts:
    """Patterns of hosts; ``*`` stands for any characters of a host, or for any port.

    A pattern without a port matches the ports 80 and 443.
    """

    patterns: tuple[_Pattern, ...]

    @classmethod
    def parse(cls, texts: Sequence[str], where: str) -> Hosts:
        """Parse patterns such as ``api.openai.com`` or ``localhost:8000``; raise `SettingError` for an invalid one."""
        return cls(tuple(dict.fromkeys(_pattern(text.strip().lower(), where) for text in texts if text.strip())))

    @classmethod
    def none(cls) -> Hosts:
        """Return a value without patterns, which matches no host."""
        return cls(())

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def name(self, host: str, port: int | None) -> str | None:
        """Return the name of a host in recordings; None if no pattern matches it.

        The name has a port only if the pattern names one, because a test server gets a new port in each session.
        """
        host = host.lower()
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        for pattern in self.patterns:
            if not fnmatchcase(host.replace("[", "").replace("]", ""), pattern.host):
                continue
            if pattern.port == ANY or (not pattern.port and (port is None or str(port) in _DEFAULT_PORTS)):
                return host
            if pattern.port and str(port or "") == pattern.port:
                return f"{host}:{pattern.port}"
        return None


def _pattern(text: str, where: str) -> _Pattern:
    match = _PATTERN.fullmatch(text)
    if match is None or not _is_port(match["port"]):
        problem = f"{where} has {short_repr(text)}; write a host and its port without scheme and path"
        raise SettingError(f"{problem}, for instance api.openai.com, *.anthropic.com or localhost:8000")
    host, port = match["host"], match["port"] or ""
    if not port and _LOCAL.fullmatch(host):
        raise SettingError(f"{where} has {host} without a port; write {host}:8000, or {host}:* for any port")
    return _Pattern(host.strip("[]"), port)


def _is_port(text: str | None) -> bool:
    return text is None or text == ANY or 0 < int(text) <= LAST_PORT
