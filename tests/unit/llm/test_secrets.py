from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from pytest_rageval.llm.secrets import mask, name_secrets, redact, redact_json

KEY = "sk-a+b(c)[d]*e?f.g-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DESK_API_KEY", KEY)
    yield
    name_secrets(())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"Bearer {KEY}.", "Bearer <DESK_API_KEY>."),
        (f"{KEY[:9]}\n    {KEY[9:]}", "<DESK_API_KEY>"),
        ("sk-a%2Bb%28c%29%5Bd%5D%2Ae%3Ff.g-0123456789", "<DESK_API_KEY>"),
        (KEY[:-1], KEY[:-1]),
        ("nothing secret", "nothing secret"),
    ],
)
def test_a_secret_is_masked_in_every_spelling(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("http://ann:pw@h.test/v1", "http://<masked>@h.test/v1"),
        ("https://h.test/?q=1&api_key=abc&k=2", "https://h.test/?q=1&api_key=<masked>&k=2"),
        ("https://h.test/?token=abc'", "https://h.test/?token=<masked>'"),
        ("write to ann@h.test", "write to ann@h.test"),
        (f"'say {KEY[:8]}...{KEY[-6:]}'", "'say <DESK_API_KEY>...<DESK_API_KEY>'"),
        ("well... 89", "well... 89"),
    ],
)
def test_redact_masks_credentials_in_urls_and_shortened_secrets(text: str, masked: str) -> None:
    assert redact(text) == masked
    assert redact_json({text: [text, 1, None]}) == {masked: [masked, 1, None]}


def test_a_variable_named_in_the_ini_is_always_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_ROOM", "room")
    assert mask("room 12") == "room 12"
    name_secrets(["DESK_*"])
    assert mask("room 12") == "<DESK_ROOM> 12"


def test_each_long_line_of_a_multiline_secret_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_PRIVATE_KEY", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n-----END KEY-----")
    assert mask("File x: MIIEvQIBADANBgkqhkiG") == "File x: <DESK_PRIVATE_KEY>"
    assert mask("short") == "short"


def test_masking_works_while_a_thread_changes_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-0123456789")
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            os.environ["RAGEVAL_CHANGING"] = "1"
            os.environ.pop("RAGEVAL_CHANGING")

    thread = threading.Thread(target=change)
    thread.start()
    try:
        assert {mask("it is sk-0123456789") for _ in range(2000)} == {"it is <DESK_KEY>"}
    finally:
        stop.set()
        thread.join()
