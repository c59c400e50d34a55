"""Host patterns of ``rag_record_http``."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.llm.http.hosts import Hosts


@pytest.mark.parametrize(
    ("pattern", "host", "port", "name"),
    [
        ("api.openai.com", "api.openai.com", 443, "api.openai.com"),
        ("api.openai.com", "API.openai.com", 80, "api.openai.com"),
        ("api.openai.com", "api.openai.com", 8443, None),
        ("api.openai.com", "evil-api.openai.com", 443, None),
        ("*.anthropic.com", "api.anthropic.com", 443, "api.anthropic.com"),
        ("*.anthropic.com", "anthropic.com", 443, None),
        ("localhost:8000", "localhost", 8000, "localhost:8000"),
        ("localhost:8000", "localhost", 8001, None),
        ("127.0.0.1:*", "127.0.0.1", 40123, "127.0.0.1"),
        ("[::1]:*", "::1", 40123, "[::1]"),
    ],
)
def test_a_pattern_matches_a_host_and_its_ports(pattern: str, host: str, port: int, name: str | None) -> None:
    assert Hosts.parse([pattern], "rag_record_http").name(host, port) == name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("https://api.openai.com", "write a host and its port without scheme and path"),
        ("api.openai.com/v1", "write a host and its port without scheme and path"),
        ("localhost", r"has localhost without a port; write localhost:8000, or localhost:\* for any port"),
        ("127.0.0.1", r"127.0.0.1:\* for any port"),
        ("localhost:80000", "write a host and its port"),
        ("localhost:0", "write a host and its port"),
    ],
)
def test_a_malformed_host_is_refused(text: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        Hosts.parse([text], "rag_record_http")
