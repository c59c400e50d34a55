"""Responses of a local page over HTTP: assets, errors and malformed requests."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from http.client import HTTPConnection
from select import select

import pytest
from support.servers.page_process import PageProcess


@pytest.mark.parametrize(
    ("how", "status", "error", "hint"),
    [
        ("setting", 400, "rag_model 'x' is unknown", "name a model [RAG101]"),
        ("changed", 409, "cases.jsonl: it changed [RAG212]", ""),
        ("missing", 500, "FileNotFoundError: [Errno 2] No such file or directory: 'gone.jsonl'", ""),
        ("fault", 500, "KeyError: 'fault\\u202e'", ""),
    ],
)
def test_an_error_is_one_sentence(served: PageProcess, how: str, status: int, error: str, hint: str) -> None:
    answer = served.client.get(f"/api/fail/{how}")
    assert (answer.status_code, answer.json()) == (status, {"error": error, "hint": hint})
    page = served.client.get(f"/fail/{how}")
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "It did not work" in page.text
    assert "Traceback" not in page.text
    assert served.client.get("/").status_code == 200


def test_an_unexpected_error_leaves_the_connection_open(served: PageProcess) -> None:
    """A browser repeats a GET that finds its connection closed, but not a POST."""
    cookies = "; ".join(f"{name}={value}" for name, value in served.client.cookies.items())
    connection = HTTPConnection("127.0.0.1", served.port, timeout=10)
    for path, status in (("/api/fail/fault", 500), ("/fail/fault", 500), ("/", 200)):
        connection.request("GET", path, headers={"Cookie": cookies})
        answer = connection.getresponse()
        answer.read()
        assert (path, answer.status) == (path, status)
        assert not select([connection.sock], [], [], 0.2)[0]  # the server closes a connection by sending its end
    connection.close()


def test_an_unknown_path_or_method_is_reported(served: PageProcess) -> None:
    assert served.client.get("/api/nowhere").json() == {"error": "GET /api/nowhere: Not Found", "hint": ""}
    assert served.client.get("/api/echo").json()["error"] == "GET /api/echo: Method Not Allowed"
    assert "&lt;b&gt;" in served.client.get("/<b>").text


@pytest.mark.parametrize(
    ("media", "body", "error"),
    [
        ("text/plain", b"{}", "the request: its Content-Type is text/plain"),
        ("application/json", b"{", "the request: its body is malformed JSON"),
        ("application/json", b"\xff", "the request: its body is malformed JSON"),
        ("application/json", b"[" * 1_900, "the request: its body is malformed JSON"),
        ("application/json", b'{"a": NaN}', "the request: its body is malformed JSON"),
        ("application/json", b"[1]", "the request: its body is a JSON list, not an object"),
    ],
)
def test_a_malformed_body_is_reported(served: PageProcess, media: str, body: bytes, error: str) -> None:
    answer = served.client.post("/api/echo", content=body, headers={"Content-Type": media})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)


def test_a_malformed_form_is_reported(served: PageProcess) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"text=%ff", b"text=\xff"):
        answer = served.client.post("/keep", content=body, headers=form)
        assert answer.status_code == 400
        assert "its form is malformed" in answer.text


def test_a_truncated_body_changes_nothing(served: PageProcess) -> None:
    (cookie,) = served.client.cookies.items()
    head = {
        "Host": f"127.0.0.1:{served.port}",
        "Origin": served.origin,
        "Cookie": "=".join(cookie),
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": "40",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(f"POST /keep HTTP/1.1\r\n{lines}\r\ntext=half+of+a+text".encode())
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(2)
        with suppress(OSError):
            connection.recv(1_000)
    assert "half of a text" not in served.client.get("/").text


def test_the_assets_of_all_sites_and_of_the_page_are_served(served: PageProcess) -> None:
    style = served.client.get("/assets/page.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "light-dark(" in style.text
    for name, part in (("site.js", "export {"), ("site.css", "#message"), ("sample.js", "import {")):
        assert part in served.client.get(f"/assets/{name}").text


@pytest.mark.parametrize("name", ["other.js", "..%2froutes.py", "%2e%2e", "%2e%2e%2f__init__.py", "a%00b", "%2fx", ""])
def test_other_files_are_not_served_as_assets(served: PageProcess, name: str) -> None:
    assert served.client.get(f"/assets/{name}").status_code == 404


def test_a_page_holds_no_invisible_character(served: PageProcess) -> None:
    page = served.client.get("/").text
    assert not [each for each in page if not each.isprintable() and each != "\n"]
    assert "&lt;script&gt;document.title" in page
    assert '<span class="unseen">U+202E</span>' in page
    assert json.dumps("U+0000") not in page  # by name, not as a value
    assert "\\u{0}" in page
