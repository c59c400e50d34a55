"""Access to a local page over HTTP: token, cookie, Host, Origin, size limit and headers."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from support.servers.page_process import PageProcess


@pytest.fixture
def stranger(served: PageProcess) -> Iterator[httpx.Client]:
    """Yield a client without the cookie."""
    with httpx.Client(base_url=served.base) as client:
        yield client


def test_the_token_becomes_a_cookie_and_is_removed_from_the_address(
    served: PageProcess, stranger: httpx.Client
) -> None:
    answer = stranger.get(f"/?case=a%20b&token={served.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?case=a+b"
    name, _, flags = answer.headers["set-cookie"].partition(f"={served.token}; ")
    assert name.startswith("rageval-")
    assert sorted(flags.lower().split("; ")) == ["httponly", "path=/", "samesite=strict"]
    assert stranger.get("/").status_code == 200


def test_a_redirect_never_leads_to_another_host(served: PageProcess, stranger: httpx.Client) -> None:
    for path in ("//evil.example/x", "/\\evil.example", "/%2f%2fevil.example", "/%5Cevil.example"):
        answer = stranger.get(httpx.URL(served.origin + path + f"?token={served.token}"))
        assert httpx.URL(served.base).join(answer.headers["location"]).host == "127.0.0.1"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_from_another_page_opens_the_page_without_a_redirect(
    served: PageProcess, stranger: httpx.Client, site: str
) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    answer = stranger.get(f"/?token={served.token}", headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert 'content="0; url=/"' in answer.text
    assert served.token not in answer.text
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/assets/site.js", "/api/events", "/nowhere"])
def test_nothing_is_shown_without_the_cookie(stranger: httpx.Client, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert answer.text == "open the address that the command printed; it ends with a token\n"
    assert "set-cookie" not in answer.headers


def test_another_cookie_does_not_open_the_page(served: PageProcess, stranger: httpx.Client) -> None:
    (name,) = served.client.cookies
    for line in (f"{name}=wrong", f"other={served.token}", f"{name}", f"{name}=\xff"):
        answer = stranger.get("/", headers=[(b"Cookie", line.encode("latin-1"))])
        assert answer.status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.1:{port}", "[::1", "", "0"]
)
def test_a_request_with_another_host_is_refused(served: PageProcess, host: str) -> None:
    """DNS rebinding: the name of another site resolves to 127.0.0.1, and the browser sends that name as Host."""
    headers = {"Host": host.format(port=served.port), "Origin": f"http://{host.format(port=served.port)}"}
    for answer in (
        served.client.get("/", headers=headers),
        served.client.get(f"/?token={served.token}", headers=headers),
        served.client.post("/api/echo", json={}, headers=headers),
    ):
        assert answer.status_code == 403
        assert answer.text == "the request names another host than this machine\n"
        assert "set-cookie" not in answer.headers


def test_localhost_and_a_forwarded_port_are_accepted(served: PageProcess) -> None:
    for host in (f"localhost:{served.port}", "localhost:8000", "127.0.0.1"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert served.client.post("/api/echo", json={"a": 1}, headers=headers).json() == {"a": 1}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1", "https://{host}", "", None]
)
def test_a_request_of_another_page_is_refused(served: PageProcess, method: str, origin: str | None) -> None:
    request = served.client.build_request(method, "/api/echo", json={})
    if origin is None:
        del request.headers["Origin"]
    else:
        request.headers["Origin"] = origin.format(host=f"127.0.0.1:{served.port}")
    answer = served.client.send(request)
    assert (answer.status_code, answer.text) == (403, "the request does not come from this page\n")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_requests_with_a_foreign_sec_fetch_site_are_refused(served: PageProcess) -> None:
    for site in ("cross-site", "same-site"):
        assert served.client.post("/api/echo", json={}, headers={"Sec-Fetch-Site": site}).status_code == 403
        embedded = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        assert served.client.get("/assets/site.js", headers=embedded).status_code == 403
    assert served.client.post("/api/echo", json={}, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_large_body_is_refused(served: PageProcess) -> None:
    fits, over = {"a": "x" * 1_992}, {"a": "x" * 1_993}  # 2,000 and 2,001 bytes
    assert served.client.post("/api/echo", json=fits).json() == fits
    declared = served.client.post("/api/echo", json=over)
    chunked = served.client.post("/api/echo", content=iter([b"x" * 1_500] * 2))
    for answer in (declared, chunked):
        assert (answer.status_code, answer.text) == (413, "the request is larger than 2,000 bytes\n")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/nowhere", 404), ("/fail/fault", 500), ("/api/echo", 405), ("/assets/page.css", 200)],
)
def test_each_response_has_the_security_headers(served: PageProcess, path: str, status: int) -> None:
    answers = [served.client.get(path), httpx.get(served.origin + path)]
    assert [answer.status_code for answer in answers] == [status, 403]
    for answer in answers:
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
