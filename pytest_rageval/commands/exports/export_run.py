"""``rageval export RUN --as FORMAT``: write a run in another format."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.exports.formats import MLFLOW, STDOUT, TRACES, check_target
from pytest_rageval.commands.exports.traces import write_traces
from pytest_rageval.commands.runs import results_path, rootdir, runs_of, stored_run
from pytest_rageval.datasets.sheets import sheet_text
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import atomic_files
from pytest_rageval.report.export.code_quality import code_quality_of
from pytest_rageval.report.export.latex import matrices_latex
from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.export.mlflow.store import experiment_of, send, without_password
from pytest_rageval.report.export.outcome_table import outcome_table, write_parquet
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.run.json_text import json_lines

__all__ = ["export_run", "write_page"]


def export_run(run: str | None, name: str, out: str | None) -> Iterator[str]:
    """Write a run in a format, and yield one line about the file; or yield the text if it is printed.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        name: the format.
        out: the target of ``--out``: a path, the URI of an MLflow store, or ``-`` to print; None is the format's
            default.

    Raises:
        SettingError: the run is missing, the target would overwrite a run, or a file or store cannot be written.
        MissingDependencyError: the format needs a library that is not installed.
    """
    root = rootdir(Path.cwd())
    runs = runs_of(root)
    check_target(name, out, run, results_path(root, run), runs)
    stored = stored_run(root, run)
    run_id = ascii_safe(stored.results["run"]["id"] or "run")
    if name == TRACES:
        yield write_traces(stored, Path(out or f"traces-{run_id}"))
        return
    if name in TEXTS and out in (None, STDOUT):
        with doing(f"writing {name}"):
            text = TEXTS[name](stored).replace("\r\n", "\n").removesuffix("\n")
        yield from map(ascii_safe, text.split("\n")) if sys.stdout.isatty() else text.split("\n")
        return
    target = out or f"{run_id}.{name}"
    logged_before: list[str] = []
    with doing(f"writing {name} to {without_password(target)}"):
        if name == MLFLOW:
            logged_before = send(stored.results, target, experiment_of(root), runs)
        elif name == "html":
            write_page(stored, Path(target), runs)
        else:
            _write(name, stored, Path(target))
    note = f" (already logged: {', '.join(map(ascii_safe, logged_before))})" if logged_before else ""
    yield f"{without_password(target)}: {name} of {stored.head}{note}"


def write_page(stored: StoredRun, path: Path, runs: Path) -> None:
    """Write the HTML page of a run; ``runs`` is the folder of the project's runs.

    Raises:
        SettingError: the page cannot be written, or the results are incomplete.
        MissingDependencyError: jinja2 is not installed.
    """
    from pytest_rageval.report.html.page import write_html

    try:
        write_html(path, stored.results, runs)
    except OSError as error:
        raise SettingError(f"--out {path} cannot be written: {error.strerror or error}", code="RAG212") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{stored.head}: its results.json is incomplete; no page can be written") from error


def _write(name: str, stored: StoredRun, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files(path) as (part,):
            if name == "parquet":
                write_parquet(outcome_table(stored.results["outcomes"]), part)
            else:
                encoding = "utf-8-sig" if name == "csv" else "utf-8"  # Excel needs the byte-order mark
                part.write_text(TEXTS[name](stored), encoding=encoding, newline="")
    except OSError as error:
        raise SettingError(f"--out {path} cannot be written: {error.strerror or error}", code="RAG212") from error


def _csv(stored: StoredRun) -> str:
    table = outcome_table(stored.results["outcomes"])
    rows = ([_without_nul(value) if isinstance(value, str) else value for value in row] for row in table.rows)
    return sheet_text([_without_nul(column.name) for column in table.columns], rows)


def _without_nul(text: str) -> str:
    """Return the text of a cell with NUL characters escaped, because pandas truncates a cell at NUL."""
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
"""Text format -> the function that returns its text."""
