"""Check whether an address speaks HTTP/2, like a gRPC server."""

from __future__ import annotations

import socket
import time

__all__ = ["http2_problem"]

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""An empty SETTINGS frame. The first frame of a server is also SETTINGS: its fourth byte is the type, 4."""
_TYPE_AT = 3


def http2_problem(host: str, port: int, seconds: float) -> str | None:
    """Return why an address does not answer as an HTTP/2 server; None if it does.

    Args:
        host: its host.
        port: its port.
        seconds: how long to wait in all.

    Source: RFC 9113, 3.4, the connection preface.
    """
    end = time.monotonic() + seconds
    try:
        with socket.create_connection((host, port), seconds) as connection:
            connection.sendall(_PREFACE + _SETTINGS)
            start = b""
            while len(start) <= _TYPE_AT:
                connection.settimeout(max(0.001, end - time.monotonic()))
                more = connection.recv(64)
                if not more:
                    return "it closed the connection"
                start += more
    except TimeoutError:
        return f"it did not answer within {seconds:g} s"
    except OSError as error:
        return error.strerror or str(error)
    return None if start[_TYPE_AT] == _SETTINGS[_TYPE_AT] else "it answers, but not as Ray's head does"
