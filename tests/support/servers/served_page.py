"""A fixture with a running local page, for tests of its server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.servers.page_process import PageProcess

__all__ = ["served"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageProcess]:
    """Return a running page, shared by the tests of a module."""
    with PageProcess(tmp_path_factory.mktemp("project")) as page:
        yield page
