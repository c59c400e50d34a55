"""``rageval play``: a local page to ask the system, change its input and save cases."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pytest_rageval.errors import SettingError, short_repr

if TYPE_CHECKING:
    from pytest_rageval.hooks.playing.project import PlayProject

__all__ = ["add_to"]

LOOK_S = 0.05
"""Seconds between two looks whether the project is read."""

DESCRIPTION = """\
Ask the system of this project on a local page: any question, a case of the tests, or a case of a stored run; leave
passages out, move and edit them, and ask again. The project's ini, fixtures, models and recordings are those of
pytest; PYTEST_ADDOPTS gives further options, such as --rag-budget-usd. Ctrl-C ends the page.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``play``."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "chain", nargs="?", metavar="CHAIN.toml", help="a chain's file, a built-in chain, or an alias of rag_systems"
    )
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME", help="a system, as in --rag-system; repeatable"
    )
    parser.add_argument(
        "--dataset", metavar="FORMAT:FILE", help="offer the records of this dataset instead of the tests' cases"
    )
    parser.add_argument("--run", metavar="RUN", help="open the cases of this run, such as latest")
    parser.add_argument("--case", metavar="ID", help="open this case: the node id of its test, or its id")
    parser.add_argument(
        "--port", type=int, default=0, metavar="PORT", help="the port of the page (default: a free one)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    import pytest_rageval.web  # noqa: F401 - first, because its error names a missing extra
    from pytest_rageval.commands.runs import rootdir
    from pytest_rageval.hooks.playing.orders import PlayOrder
    from pytest_rageval.hooks.playing.project import PlayProject
    from pytest_rageval.web.play.site import play_site
    from pytest_rageval.web.serving import serve

    root = rootdir(Path.cwd())
    _check_dataset(arguments.dataset, root)
    project = PlayProject(PlayOrder(arguments.chain, tuple(arguments.system), arguments.dataset))
    site = play_site(project, root, _first_page(arguments))
    begin = partial(_start, project, root, arguments.run, arguments.case)
    try:
        serve(site, port=arguments.port, open_browser=not arguments.no_browser, begin=begin)
    finally:
        project.close()
    yield from ()


def _start(project: PlayProject, root: Path, run: str | None, case: str | None) -> None:
    """Start reading the project; raise `UnknownNameError` if ``--case`` names no case of the run or of the tests.

    Why a project cannot be read is on the page.
    """
    from pytest_rageval.web.play.stored_cases import StoredCases

    if run is not None and case is not None:
        StoredCases(root).case(run, case)
    project.start()
    if run is None and case is not None:
        while not (project.ready or project.problem):
            time.sleep(LOOK_S)
        if project.ready:
            project.case(case)


def _check_dataset(dataset: str | None, root: Path) -> None:
    """Raise `SettingError` if the file of ``--dataset`` is missing; the format is checked when the project loads."""
    name, _, text = (dataset or "").partition(":")
    if not text:
        return
    try:
        if Path(text).exists() or (root / text).exists():
            return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"--dataset: path {short_repr(text)} cannot be used: {reason}", code="RAG105") from None
    missing = f"no such file or folder as {short_repr(text)} in the current folder or the rootdir"
    raise SettingError(f"--dataset: {missing}{_unknown_format(name)}", code="RAG105")


def _unknown_format(name: str) -> str:
    """Return an addition to the message about a missing file if the format is not built in, else "".

    An unknown format alone is no error here, because the project may register it.
    """
    from pytest_rageval.datasets import BUILTIN

    formats = ", ".join(sorted(BUILTIN))
    return "" if name in BUILTIN else f"; {short_repr(name)} is no built-in dataset format either ({formats})"


def _first_page(arguments: argparse.Namespace) -> str:
    """Return the path of the page that the arguments name, without the leading slash."""
    if arguments.chain is not None and arguments.case is None and arguments.run is None:
        return f"chain?{urlencode({'chain': arguments.chain})}"
    query = {name: value for name in ("run", "case") if (value := getattr(arguments, name)) is not None}
    return f"{'run' if 'run' in query else ''}?{urlencode(query)}" if query else ""
