"""Which reports are wanted, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.errors import SettingError, found

__all__ = ["ReportsAsked", "reports_asked"]


@dataclass(frozen=True, slots=True)
class ReportsAsked:
    """Where reports are written besides the run's own folder; None where one is not wanted.

    Attributes:
        json: results.json.
        html: the page of the run.
        markdown: the report as Markdown.
        mlflow: the store that runs of MLflow go to.
    """

    json: Path | None = None
    html: Path | None = None
    markdown: Path | None = None
    mlflow: str | None = None


def reports_asked(option: object, here: Path) -> ReportsAsked:
    """Return what the command line asks for, checked; a `RagEvalError` says what cannot be written.

    Args:
        option: the parsed options.
        here: the folder that paths are relative to.
    """
    json, html, markdown = (_file(option, name, here) for name in ("json", "html", "markdown"))
    if html is not None:
        from pytest_rageval.report.html.page import check_jinja2

        check_jinja2()
    mlflow: str | None = getattr(option, "rag_mlflow", None)
    if mlflow is not None and not mlflow.strip():
        raise SettingError("--rag-mlflow names no store; name a server, a database or a folder")
    return ReportsAsked(json, html, markdown, mlflow)


def _file(option: object, name: str, here: Path) -> Path | None:
    given: str | None = getattr(option, f"rag_{name}", None)
    if given is None:
        return None
    if not given.strip():
        raise SettingError(f"--rag-{name} names no file; name one")
    if (here / given).is_dir():
        raise SettingError(f"--rag-{name} names the directory {found(given)}; name a file")
    return here / given
