"""The site of `rageval play`."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from pytest_rageval.hooks.playing.project import PlayProject
from pytest_rageval.web.play.api import Api
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.chain_page import ChainPage
from pytest_rageval.web.play.code_changes import CodeChanges
from pytest_rageval.web.play.compare_pages import ComparePages
from pytest_rageval.web.play.pages import PlayPages
from pytest_rageval.web.play.state_file import StateFile
from pytest_rageval.web.play.stored_cases import StoredCases
from pytest_rageval.web.site import Site

__all__ = ["play_site"]

LARGEST_REQUEST = 20_000_000
"""Maximum size of a request in bytes; the passages of a question may be whole documents."""


def play_site(project: PlayProject, folder: Path, opens: str = "") -> Site:
    """Return the site of a project.

    Args:
        project: answers the questions; it may still be loading.
        folder: the folder of the project.
        opens: the path and query to open first, without a leading slash.
    """
    order = project.order
    subject = "\n".join((order.dataset or "", *order.systems))
    name = f"state-{sha256(subject.encode()).hexdigest()[:8]}.json" if subject.strip() else "state.json"
    board = Board(project, StateFile(folder / ".rageval" / "play" / name))
    api = Api(board, CodeChanges(folder))
    pages = PlayPages(board, StoredCases(folder), api)
    routes = [*pages.routes(), *ChainPage(board, pages).routes(), *ComparePages(board, pages).routes(), *api.routes()]
    return Site("play", folder, routes, __package__, subject.strip(), LARGEST_REQUEST, opens)
