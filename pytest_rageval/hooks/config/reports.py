"""Parse the options for reports and their paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["ReportTargets", "parse_reports"]


@dataclass(frozen=True, slots=True)
class ReportTargets:
    """Where to write reports in addition to the run folder; None for no report.

    Attributes:
        json: results.json.
        html: the page of the run.
        markdown: the report as Markdown.
        mlflow: the MLflow store for runs.
    """

    json: Path | None = None
    html: Path | None = None
    markdown: Path | None = None
    mlflow: str | None = None


def parse_reports(option: object, here: Path) -> ReportTargets:
    """Parse the report options; raise `RagEvalError` if a report cannot be written.

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
    return ReportTargets(json, html, markdown, mlflow)


def _file(option: object, name: str, here: Path) -> Path | None:
    path: str | None = getattr(option, f"rag_{name}", None)
    if path is None:
        return None
    if not path.strip():
        raise SettingError(f"--rag-{name} names no file; name one")
    if (here / path).is_dir():
        raise SettingError(f"--rag-{name} names the directory {short_repr(path)}; name a file")
    return here / path
