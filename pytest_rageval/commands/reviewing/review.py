"""Run ``rageval review``: serve the page, write a sheet, or import one."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.reviewing.reviewer_agreement import agreement_lines
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError
from pytest_rageval.generation.review.acceptance import acceptance_lines
from pytest_rageval.generation.review.folder import parse_cell
from pytest_rageval.generation.review.session import ReviewSession
from pytest_rageval.generation.review.sheet import import_sheet, write_sheet

__all__ = ["review", "status_lines"]


def review(arguments: argparse.Namespace) -> Iterator[str]:
    """Review a folder as the arguments say; yield lines for the terminal.

    Raises:
        RagEvalError: the folder, the sheet or an argument is invalid.
    """
    name = _account() if arguments.reviewer is None else arguments.reviewer
    session = ReviewSession(arguments.folder, name, parse_cell(arguments.cell), arguments.second)
    if arguments.sheet is not None:
        yield from _write(session, arguments.sheet)
    elif arguments.filled is not None:
        yield from _import(session, arguments.filled)
    else:
        from pytest_rageval.commands.reviewing.serving import run_page

        yield from run_page(session, arguments)
        session.refresh()
    yield from status_lines(session)


def status_lines(session: ReviewSession) -> Iterator[str]:
    """Yield the reviewer's progress, the acceptance, the agreement of reviewers, and the next command."""
    progress = session.progress
    yield f"{session.reviewer}: {progress.done:,} of {progress.total:,} cases of the sample decided"
    yield from acceptance_lines(session.drafts_with_decisions())
    yield from agreement_lines(session.folder, session.decisions)
    if progress.done == progress.total:
        yield f"next: rageval generate PLAN.toml --out {shown_path(session.folder.path)} --finish"


def _write(session: ReviewSession, path: Path) -> Iterator[str]:
    if path.suffix.lower() != ".csv":
        raise SettingError(f"--sheet {shown_path(path)}: wanted a name that ends in .csv")
    try:
        n = write_sheet(session, path)
    except FileExistsError:
        problem = f"{shown_path(path)} already exists and may contain people's work; name another file"
        raise SettingError(problem) from None
    except OSError as error:
        raise SettingError(f"{shown_path(path)} cannot be written: {error.strerror or error}", code="RAG212") from None
    yield f"{shown_path(path)}: {n:,} case{'' if n == 1 else 's'} to grade"
    folder = shown_path(session.folder.path)
    yield f"Fill in the columns from grade on, then: rageval review {folder} --from {shown_path(path)}"


def _import(session: ReviewSession, path: Path) -> Iterator[str]:
    result = import_sheet(session, path)
    counts = f"{result.stored:,} new decisions, {result.already_stored:,} known, {result.blank:,} without a grade"
    yield f"{shown_path(path)}: {counts}"
    for name in result.changed:
        yield f"changed since the sheet was written, not stored: {name}; write the sheet again"


def _account() -> str:
    """Return the name of the user's account."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        raise SettingError("your account has no name; write --reviewer NAME") from None
