"""The process of a local page: its address, its end, and two processes for one project."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.servers.page_process import PageProcess, start_page

from pytest_rageval import web
from pytest_rageval.errors import MissingDependencyError, SettingError
from pytest_rageval.web.address import Address, claim_server
from pytest_rageval.web.serving import serve
from pytest_rageval.web.site import Site

EVERYWHERE = "0.0.0.0"  # noqa: S104
needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="this system lists no sockets in /proc")


def run_to_end(project: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = start_page(project, *arguments, environment=environment)
    out, err = process.communicate(timeout=20)
    return process.wait(), out, err


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site("sample", tmp_path, [])


def address_file(project: Path) -> Path:
    (file,) = (project / ".rageval" / "servers").glob("*.json")
    return file


@needs_proc
def test_the_server_listens_only_on_127_0_0_1(served: PageProcess) -> None:
    sockets = {os.readlink(each) for each in Path(f"/proc/{served.process.pid}/fd").iterdir() if each.is_symlink()}
    listening = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in sockets and fields[3] in ("0A", "07"):
                listening.append((table, fields[1]))
    assert listening == [("tcp", f"0100007F:{served.port:04X}")]


def test_only_the_user_can_read_the_address_file(served: PageProcess) -> None:
    file = address_file(served.project)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {"url": served.url, "pid": served.process.pid}
    assert (file.parents[1] / ".gitignore").read_text().endswith("*\n")


def test_ctrl_c_ends_the_server_at_once_even_with_open_connections(tmp_path: Path) -> None:
    with PageProcess(tmp_path) as page:
        with (
            page.client.stream("GET", "/api/events") as stream,
            socket.create_connection(("127.0.0.1", page.port)) as idle,
            socket.create_connection(("127.0.0.1", page.port)) as busy,
        ):
            assert next(stream.iter_lines()) == "data: {}"
            idle.sendall(b"GET / HTTP/1.1\r\n")
            (cookie,) = page.client.cookies.items()
            host = f"Host: 127.0.0.1\r\nCookie: {'='.join(cookie)}\r\n"
            busy.sendall(f"GET /api/hang HTTP/1.1\r\n{host}\r\n".encode())
            page.client.get("/")  # after this reply the hanging request is being handled
            assert page.end(signal.SIGINT) < 1
        assert page.process.returncode == 0
    assert list((tmp_path / ".rageval" / "servers").glob("*.json")) == []


def test_a_second_server_opens_the_page_of_the_first(served: PageProcess, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    status, out, err = run_to_end(served.project, BROWSER=str(browser))
    assert (status, out, err) == (0, f"rageval sample already runs: {served.url}\n", "")
    assert opened.read_text().strip() == served.url
    assert served.client.get("/").status_code == 200


def test_pages_for_two_subjects_run_at_the_same_time(tmp_path: Path) -> None:
    sites = [Site("sample", tmp_path, [], subject=subject) for subject in ("a", "b")]
    with (
        claim_server(Address(sites[0])) as one,
        claim_server(Address(sites[1])) as other,
        claim_server(Address(sites[0])) as again,
    ):
        assert (one, other, again) == (True, True, False)


def test_a_new_server_starts_after_a_killed_one(tmp_path: Path) -> None:
    with PageProcess(tmp_path) as page:
        page.end(signal.SIGKILL)
    assert json.loads(address_file(tmp_path).read_text())["url"] == page.url
    with PageProcess(tmp_path) as again:
        assert again.client.get("/").status_code == 200
        assert json.loads(address_file(tmp_path).read_text())["url"] == again.url
        assert again.end(signal.SIGTERM) < 1
        assert again.process.returncode == 0


@pytest.mark.parametrize("content", ["{", "[]", '{"url": 5}', "", "\udcff"])
def test_a_malformed_address_file_is_ignored(site: Site, content: str) -> None:
    address = Address(site)
    address.file.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert address.read() == ("", None)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{closed}/?token=x", "{other}?token=x"])
def test_a_server_that_does_not_answer_is_reported(
    served: PageProcess, site: Site, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is closed, or a server with another token answers there."""
    monkeypatch.setattr("pytest_rageval.web.address.ANSWER_TIMEOUT_S", 0.15)
    with socket.socket() as closed, claim_server(Address(site)):
        closed.bind(("127.0.0.1", 0))
        Address(site).write(url.format(closed=closed.getsockname()[1], other=served.base))
        with pytest.raises(SettingError) as raised:
            serve(site)
    assert str(raised.value) == (
        f"another rageval sample of this project runs and does not answer; end it first (process {os.getpid()})"
    )


def refusal(site: Site, **settings: Any) -> str:
    lines: list[str] = []
    with pytest.raises(SettingError) as raised:
        serve(site, **settings, out=lines.append)
    assert lines == []
    return str(raised.value)


def test_a_port_in_use_is_reported(served: PageProcess, site: Site) -> None:
    message = refusal(site, port=served.port)
    assert message == f"--port {served.port}: Address already in use; choose another, or leave it out for a free one"


@pytest.mark.parametrize("port", [-1, 65_536, 99_999_999_999])
def test_a_port_outside_the_range_is_refused(site: Site, port: int) -> None:
    assert refusal(site, port=port) == f"--port {port} is outside 0..65535; leave it out for a free one"


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "", "192.168.0.1", "example.org", "127.0.0.2\n"])
def test_a_host_for_other_machines_is_refused(site: Site, host: str) -> None:
    assert refusal(site, host=host) == (
        f"--host {host!r} lets other machines reach the page, which shows and writes your files; "
        "leave it out, or add --i-know"
    )


@pytest.mark.parametrize("host", ["192.0.2.7", "\0", "a" * 70, "2001:db8::7"])
def test_an_invalid_or_foreign_host_is_refused(site: Site, host: str) -> None:
    assert refusal(site, host=host, know=True).startswith("--host ")


def test_a_project_that_cannot_be_written_is_reported(site: Site) -> None:
    (site.project / ".rageval").write_text("a file")
    assert refusal(site) == (
        f"{site.project / '.rageval' / 'servers'}: the address of the page cannot be written here (File exists); "
        "correct the rights"
    )


def test_i_know_allows_requests_from_other_machines(tmp_path: Path) -> None:
    with PageProcess(tmp_path, "--host", EVERYWHERE, "--i-know") as page:
        assert page.base.startswith("http://127.0.0.1:")
        for host, status in (("10.1.2.3:80", 200), ("127.0.0.1", 200), ("evil.example", 403)):
            assert page.client.get("/", headers={"Host": host}).status_code == status
        assert httpx.get(page.base).status_code == 403


def test_without_the_extra_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(MissingDependencyError) as raised:
        importlib.reload(web)
    assert str(raised.value) == "a local page needs an optional dependency: pip install 'pytest-rageval[ui]'"
