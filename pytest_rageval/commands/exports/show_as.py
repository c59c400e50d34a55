"""``rageval show RUN --csv PATH``: export a run in other formats."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pytest_rageval.commands.exports.formats import MLFLOW, STDOUT, check_targets
from pytest_rageval.commands.runs import results_path, rootdir, runs_of, stored_run
from pytest_rageval.datasets.sheets import sheet_text
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import whole_files
from pytest_rageval.report.export.code_quality import code_quality_of
from pytest_rageval.report.export.latex import matrices_latex
from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.export.mlflow.store import experiment_of, send, without_password
from pytest_rageval.report.export.outcome_table import outcome_table, write_parquet
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.run.json_text import json_lines

__all__ = ["show_as"]


def show_as(run: str | None, paths: Mapping[str, str]) -> Iterator[str]:
    """Write a run in each format, and yield one line per file, or the text of the printed format.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        paths: format -> target path, or MLflow's store.

    Raises:
        SettingError: the run is missing, several formats would be printed, a target would overwrite a run, or a file or
            store cannot be written.
        MissingDependencyError: a format needs a library that is not installed.
    """
    printed = [name for name, path in paths.items() if path == STDOUT]
    if len(printed) > 1 or not TEXTS.keys() >= set(printed):
        what = "only one text format can be printed, never Parquet or HTML"
        raise SettingError(f"{what}; give --{printed[-1]} the path of a file")
    root = rootdir(Path.cwd())
    check_targets(run, results_path(root, run), runs_of(root), paths)
    stored = stored_run(root, run)
    for name, path in paths.items():
        if path != STDOUT:
            sent_before: list[str] = []
            if name == MLFLOW:
                sent_before = send(stored.results, path, experiment_of(root), runs_of(root))
            elif name == "html":
                _write_page(stored, Path(path), runs_of(root))
            else:
                _write(name, stored, Path(path))
            if not printed:
                twice = f" (already logged: {', '.join(map(ascii_safe, sent_before))})" if sent_before else ""
                yield f"{without_password(path)}: {name} of {stored.head}{twice}"
    for name in printed:
        text = TEXTS[name](stored).replace("\r\n", "\n").removesuffix("\n")
        yield from map(ascii_safe, text.split("\n")) if sys.stdout.isatty() else text.split("\n")


def _write_page(stored: StoredRun, path: Path, runs: Path) -> None:
    from pytest_rageval.report.html.page import write_html

    try:
        write_html(path, stored.results, runs)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror or error}", code="RAG212") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{stored.head}: its results.json is incomplete; no page can be written") from error


def _write(name: str, stored: StoredRun, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_files(path) as (part,):
            if name == "parquet":
                write_parquet(outcome_table(stored.results["outcomes"]), part)
            else:
                encoding = "utf-8-sig" if name == "csv" else "utf-8"  # Excel needs the byte-order mark
                part.write_text(TEXTS[name](stored), encoding=encoding, newline="")
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror or error}", code="RAG212") from error


def _csv(stored: StoredRun) -> str:
    table = outcome_table(stored.results["outcomes"])
    rows = ([_without_nul(value) if isinstance(value, str) else value for value in row] for row in table.rows)
    return sheet_text([_without_nul(column.name) for column in table.columns], rows)


def _without_nul(text: str) -> str:
    """Return a cell without NUL: pandas truncates a cell there."""
    return text.replace("\0", "\\x00")


def _latex(stored: StoredRun) -> str:
    run, choice = stored.run, stored.choice
    return matrices_latex([*run.matrices(choice), *run.differences(choice), *run.gains(choice)])


def _json(stored: StoredRun) -> str:
    return "".join(json_lines(json.loads(json.dumps(stored.results, sort_keys=True))))


def _markdown(stored: StoredRun) -> str:
    return markdown_of(stored.run, stored.choice)


def _code_quality(stored: StoredRun) -> str:
    return code_quality_of(stored.run, stored.choice)


TEXTS: Mapping[str, Callable[[StoredRun], str]] = {
    "csv": _csv,
    "latex": _latex,
    "markdown": _markdown,
    "codequality": _code_quality,
    "json": _json,
}
