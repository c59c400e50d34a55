"""Send runs to an MLflow server, database or folder, without side effects on this process."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe
from pytest_rageval.report.export.mlflow.runs import SystemRun, system_runs
from pytest_rageval.report.run.json_text import json_lines

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

__all__ = ["experiment_of", "send", "without_password"]

METRICS_PER_REQUEST = 500  # MLflow's limit is 1,000
PARAMS_PER_REQUEST = 100  # MLflow's limit

_DIGEST_TAG = "rag.results"
"""Tag with the digest of the results.json behind a run."""

_COMPLETE = ("FINISHED", "KILLED")
"""States of MLflow runs that were logged completely."""

_ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_ALLOW_FILE_STORE": "true",  # the user chose a folder
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_CONFIGURE_LOGGING": "false",
}
"""Defaults of MLflow's environment variables while it runs; the user's environment has priority."""


def send(
    results: Mapping[str, Any], uri: str, experiment: str, runs_folder: Path | None = None, page: Path | None = None
) -> list[str]:
    """Log each system of a results.json as a run, with the file, its settings and its page as artifacts.

    A run that the store already has is not logged again. The page needs jinja2.

    Args:
        results: the content of a results.json.
        uri: the address of the tracking server, the database (``sqlite:///mlflow.db``) or the folder.
        experiment: the experiment's name; it is created if it does not exist.
        runs_folder: the folder of other runs; the page can show answers of the baseline's run from it.
        page: the HTML page, if it already exists.

    Returns:
        the systems that the store already has.

    Raises:
        MissingDependencyError: mlflow is not installed.
        SettingError: the results are of a shard, or the store cannot be reached or refuses the run.
    """
    if "shard" in results["run"]:
        raise SettingError("MLflow receives only whole runs; join the shards with rageval merge, then send that run")
    runs = system_runs(results)
    with _isolated_environment():
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise MissingDependencyError("--rag-mlflow", "mlflow") from error
        try:
            _check_database(uri)
            client = MlflowClient(tracking_uri=uri)
            existing = client.get_experiment_by_name(experiment)
            experiment_id = existing.experiment_id if existing else client.create_experiment(experiment)
            text = "".join(json_lines(results))
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            logged_systems = _logged_systems(client, experiment_id, digest)
            with TemporaryDirectory() as folder:
                files = _draw_page(Path(folder), results, runs_folder) if page is None else [page]
                for run in runs:
                    if run.name not in logged_systems:
                        tags = {**run.tags, _DIGEST_TAG: digest}
                        _log_run(client, experiment_id, replace(run, tags=tags), results, text, files)
        except Exception as error:  # from MLflow, SQLAlchemy, the network or files; a traceback would not help
            cause = without_password(str(error).strip().partition("\n")[0]) or type(error).__name__
            raise SettingError(f"cannot log the run to {without_password(uri)}: {ascii_safe(cause)[:300]}") from error
    return [run.name for run in runs if run.name in logged_systems]


def experiment_of(root: Path) -> str:
    """Return the name of a project's experiment: ``MLFLOW_EXPERIMENT_NAME``, else the name of its folder."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or root.resolve().name or "rageval"


def without_password(text: str) -> str:
    """Mask the user and the password in each address of a text."""
    return re.sub(r"(?<=://)[^/@\s]+@", "***@", text)


def _draw_page(folder: Path, results: Mapping[str, Any], runs: Path | None) -> list[Path]:
    """Draw the page, and return its path; empty without jinja2, or if old results lack some of its data."""
    from pytest_rageval.report.html.page import check_jinja2, write_html

    with suppress(MissingDependencyError, AttributeError, KeyError, TypeError, ValueError):
        check_jinja2()
        write_html(folder / "report.html", results, runs)
    return list(folder.iterdir())


def _check_database(uri: str) -> None:
    """Open a database once, because MLflow itself would retry for more than a minute."""
    if re.match(r"(postgresql|mysql|sqlite|mssql)(\+\w+)?://", uri) is None:
        return
    import sqlalchemy

    url = sqlalchemy.make_url(uri)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)  # MLflow does the same
    engine = sqlalchemy.create_engine(url)
    try:
        sqlalchemy.inspect(engine).get_table_names()
    finally:
        engine.dispose()


def _logged_systems(client: MlflowClient, experiment: str, digest: str) -> set[str]:
    """Return the systems whose runs of these results are already logged completely."""
    runs = client.search_runs([experiment], f"tags.`{_DIGEST_TAG}` = '{digest}'")
    return {run.info.run_name for run in runs if run.info.status in _COMPLETE}


def _log_run(
    client: MlflowClient,
    experiment: str,
    run: SystemRun,
    results: Mapping[str, Any],
    text: str,
    files: Sequence[Path],
) -> None:
    run_head = results["run"]
    started = int(datetime.fromisoformat(run_head["started"]).timestamp() * 1000)
    run_id = client.create_run(experiment, start_time=started, tags=dict(run.tags), run_name=run.name).info.run_id
    try:
        _log_data(client, run_id, run, results, started)
        client.log_text(run_id, text, "results.json")
        for path in files:
            client.log_artifact(run_id, str(path))
    except BaseException:
        with suppress(Exception):  # the first error is reported
            client.set_terminated(run_id, "FAILED")
        raise
    ended = started + int(run_head["duration_s"] * 1000)
    client.set_terminated(run_id, "KILLED" if run_head["interrupted"] else "FINISHED", end_time=ended)


def _log_data(client: MlflowClient, run_id: str, run: SystemRun, results: Mapping[str, Any], started: int) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(name, value) for name, value in run.params.items()]
    for at in range(0, len(params), PARAMS_PER_REQUEST):
        client.log_batch(run_id, params=params[at : at + PARAMS_PER_REQUEST])
    metrics = [Metric(name, value, started, 0) for name, value in run.metrics.items()]
    for at in range(0, len(metrics), METRICS_PER_REQUEST):
        client.log_batch(run_id, metrics=metrics[at : at + METRICS_PER_REQUEST])
    config = {key: results["run"][key] for key in ("settings", "versions", "fingerprint") if key in results["run"]}
    client.log_dict(run_id, {**config, "testbeds": results["testbeds"], "plan": results["plan"]}, "config.json")


@contextmanager
def _isolated_environment() -> Iterator[None]:
    """Keep MLflow's timeouts short and its warnings silent, and restore the environment afterwards."""
    before = dict(os.environ)
    os.environ.update({name: value for name, value in _ENVIRONMENT.items() if name not in before})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name in os.environ.keys() - before.keys():
            if "MLFLOW_" in name:
                del os.environ[name]
