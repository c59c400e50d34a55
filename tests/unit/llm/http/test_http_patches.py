"""Patches of HTTP libraries: applied at import and removed at the end of the session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SCRIPT = """
    import sys
    from pytest_rageval.llm.http.hosts import Hosts
    from pytest_rageval.llm.http.patches import Patches
    from pytest_rageval.llm.http.http_recorder import HttpRecorder

    watched = {"httpx", "httpx2", "urllib3", "aiohttp"}
    patches = Patches(HttpRecorder(Hosts.parse(["127.0.0.1:*"], "rag_record_http")))
    patches.install()
    assert not watched & set(sys.modules), watched & set(sys.modules)
    import NAME
    method = NAME.METHOD
    assert method.__wrapped__
    assert NAME.__spec__.loader.__class__.__name__ == "SourceFileLoader"
    patches.undo()
    assert NAME.METHOD is method.__wrapped__
    assert patches not in sys.meta_path
"""


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("httpx", "HTTPTransport.handle_request"),
        ("httpx2", "AsyncHTTPTransport.handle_async_request"),
        ("urllib3.connectionpool", "HTTPConnectionPool.urlopen"),
        ("aiohttp.client", "ClientSession._request"),
    ],
)
def test_a_library_is_patched_when_it_is_imported_and_not_imported_by_the_patches(name: str, method: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    script = dedent(SCRIPT).replace("NAME", name).replace("METHOD", method)
    root = Path(__file__).parents[4]
    process = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
