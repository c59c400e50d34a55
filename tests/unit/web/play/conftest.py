"""Fixtures for tests of `rageval play`: each test module has one project and one server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.projects.play_project import PlayPage, play_project, run_tests


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayPage]:
    """Yield a running page of a project with a stored run; the tests of a module share it."""
    project = play_project(tmp_path_factory.mktemp("town"))
    assert "1 failed" not in run_tests(project).stdout
    with PlayPage(project) as page:
        page.wait()
        yield page
