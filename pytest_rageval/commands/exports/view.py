"""``rageval view``: write the page of a run, and open it in the browser."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN

__all__ = ["add_to"]

DESCRIPTION = """\
Write the page of a run, by default the newest, and open it in the browser. The file is report.html in the run's folder.
For a results.json outside of .rageval/runs, it is in the folder for temporary files. The page needs no network. Needs
the extra html.
"""

PAGE = "report.html"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``view``."""
    parser.description = DESCRIPTION
    parser.add_argument("run", nargs="?", metavar="RUN", help=f"{RUN} (default: the newest)")
    parser.add_argument("--out", metavar="PATH", help="write the page to this file")
    parser.add_argument("--no-browser", action="store_true", help="only print the path of the page")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.exports.export_run import write_page
    from pytest_rageval.commands.exports.formats import check_target
    from pytest_rageval.commands.runs import results_path, rootdir, runs_of, stored_run
    from pytest_rageval.errors import ascii_safe
    from pytest_rageval.report.html.page import check_jinja2

    check_jinja2()
    root = rootdir(Path.cwd())
    results, runs = results_path(root, arguments.run), runs_of(root)
    check_target("html", arguments.out, arguments.run, results, runs)
    stored = stored_run(root, arguments.run)
    page = _page(results, runs) if arguments.out is None else Path(arguments.out)
    write_page(stored, page, runs)
    yield ascii_safe(str(page))
    if not arguments.no_browser and not _open_in_browser(page):
        yield "No browser was found; open this file in one."


def _page(results: Path, runs: Path) -> Path:
    """Return the path of the page: next to the results of a stored run, else in a temporary folder."""
    if results.resolve().parent.parent == runs.resolve():
        return results.with_name(PAGE)
    return Path(tempfile.mkdtemp(prefix="rageval-")) / PAGE


def _open_in_browser(page: Path) -> bool:
    """Open the page in a graphical browser, never in one that runs in the terminal; return whether one was found."""
    import webbrowser

    has_screen = sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    return bool(has_screen or os.environ.get("BROWSER")) and webbrowser.open(page.resolve().as_uri())
