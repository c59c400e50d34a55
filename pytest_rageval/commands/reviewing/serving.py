"""Serve the page of ``rageval review``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import pytest_rageval.web  # noqa: F401 - first, because it names the extra that is missing
from pytest_rageval.commands.reviewing.page import ReviewPage
from pytest_rageval.commands.runs import rootdir
from pytest_rageval.generation.review.session import ReviewSession
from pytest_rageval.web.serving import serve
from pytest_rageval.web.site import Site

__all__ = ["review_site", "run_page"]

MAX_FORM_BYTES = 20_000_000
"""Maximum size of a form. Answer and evidence may be whole sections, and a form encodes a character in nine bytes."""


def run_page(session: ReviewSession, arguments: argparse.Namespace) -> Iterator[str]:
    """Serve the page until Ctrl-C; yield nothing, because the server prints its address.

    Raises:
        MissingDependencyError: the extra ``ui`` is not installed.
        SettingError: the port is in use, or the host is not allowed without ``--i-know``.
    """
    serve(
        review_site(session),
        port=arguments.port,
        host=arguments.host,
        know=arguments.i_know,
        open_browser=not arguments.no_browser,
    )
    yield from ()


def review_site(session: ReviewSession) -> Site:
    """Return the site of a session; each reviewer has a separate server."""
    folder = Path(os.path.realpath(session.folder.path))
    root = rootdir(Path.cwd())
    project = root if folder.is_relative_to(os.path.realpath(root)) else folder
    subject = f"{folder}\n{session.reviewer}"
    return Site(
        "review", project, ReviewPage(session).routes(), package=__package__, subject=subject, max_body=MAX_FORM_BYTES
    )
