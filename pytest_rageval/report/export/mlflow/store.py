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

BATCH = 500  # MLflow's limit is a thousand metrics a request
PARAMS = 100  # MLflow's limit a request

_DIGEST_TAG = "rag.results"
"""Tag with the digest of the results that a run was made from."""

_COMPLETE = ("FINISHED", "KILLED")
"""States of MLflow runs that were sent completely."""

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

    A run that the store already has is not logged twice. The page needs jinja2.

    Args:
        results: a results.json, of builtins.
        uri: of the tracking server, the database (``sqlite:///mlflow.db``) or the folder.
        experiment: the experiment's name; it is created if it does not exist.
        runs_folder: the folder of other runs; the page can show answers of the baseline's run from it.
        page: the page, if it is already drawn.

    Returns:
        the systems that the store already has.

    Raises:
        MissingDependencyError: mlflow is not installed.
        SettingError: the results are of a shard, or the store cannot be reached or refuses the run.
    """
    if "shard" in results["run"]:
        raise SettingError("MLflow receives only whole runs; join the shards with rageval merge, then send that run")
    runs = system_runs(results)
    with _isolated():
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise MissingDependencyError("--rag-mlflow", "mlflow") from error
        try:
            _check_database(uri)
            client = MlflowClient(tracking_uri=uri)
            stored = client.get_experiment_by_name(experiment)
            experiment_id = stored.experiment_id if stored else client.create_experiment(experiment)
            text = "".join(json_lines(results))
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            known = _logged_systems(client, experiment_id, digest)
            with TemporaryDirectory() as folder:
                files = _draw_page(Path(folder), results, runs_folder) if page is None else [page]
                for run in runs:
                    if run.name not in known:
                        tags = {**run.tags, _DIGEST_TAG: digest}
                        _log(client, experiment_id, replace(run, tags=tags), results, text, files)
        except Exception as error:  # of MLflow, SQLAlchemy, the network or files: none is worth a traceback
            why = without_password(str(error).strip().partition("\n")[0]) or type(error).__name__
            raise SettingError(f"{without_password(uri)} took no run of MLflow: {ascii_safe(why)[:300]}") from error
    return [run.name for run in runs if run.name in known]


def experiment_of(root: Path) -> str:
    """Return the name of a project's experiment: ``MLFLOW_EXPERIMENT_NAME``, else the name of its folder."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or root.resolve().name or "rageval"


def without_password(text: str) -> str:
    """Return a text with the user and the password of each address in it masked."""
    return re.sub(r"(?<=://)[^/@\s]+@", "***@", text)


def _draw_page(folder: Path, results: Mapping[str, Any], runs: Path | None) -> list[Path]:
    """Return the page, if jinja2 is installed and results of an older version have all its data."""
    from pytest_rageval.report.html.page import check_jinja2, write_html

    with suppress(MissingDependencyError, AttributeError, KeyError, TypeError, ValueError):
        check_jinja2()
        write_html(folder / "report.html", results, runs)
    return list(folder.iterdir())


def _check_database(uri: str) -> None:
    """Open a database once; MLflow itself would retry for more than a minute if it cannot be opened."""
    if re.match(r"(postgresql|mysql|sqlite|mssql)(\+\w+)?://", uri) is None:
        return
    import sqlalchemy

    url = sqlalchemy.make_url(uri)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)  # as MLflow does
    engine = sqlalchemy.create_engine(url)
    try:
        sqlalchemy.inspect(engine).get_table_names()
    finally:
        engine.dispose()


def _logged_systems(client: MlflowClient, experiment: str, digest: str) -> set[str]:
    """Return the systems of these very results that are logged completely."""
    runs = client.search_runs([experiment], f"tags.`{_DIGEST_TAG}` = '{digest}'")
    return {run.info.run_name for run in runs if run.info.status in _COMPLETE}


def _log(
    client: MlflowClient,
    experiment: str,
    run: SystemRun,
    results: Mapping[str, Any],
    text: str,
    files: Sequence[Path],
) -> None:
    head = results["run"]
    started = int(datetime.fromisoformat(head["started"]).timestamp() * 1000)
    run_id = client.create_run(experiment, start_time=started, tags=dict(run.tags), run_name=run.name).info.run_id
    try:
        _fill(client, run_id, run, results, started)
        client.log_text(run_id, text, "results.json")
        for path in files:
            client.log_artifact(run_id, str(path))
    except BaseException:
        with suppress(Exception):  # the first error is reported
            client.set_terminated(run_id, "FAILED")
        raise
    ended = started + int(head["duration_s"] * 1000)
    client.set_terminated(run_id, "KILLED" if head["interrupted"] else "FINISHED", end_time=ended)


def _fill(client: MlflowClient, run_id: str, run: SystemRun, results: Mapping[str, Any], started: int) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(name, value) for name, value in run.params.items()]
    for at in range(0, len(params), PARAMS):
        client.log_batch(run_id, params=params[at : at + PARAMS])
    metrics = [Metric(name, value, started, 0) for name, value in run.metrics.items()]
    for at in range(0, len(metrics), BATCH):
        client.log_batch(run_id, metrics=metrics[at : at + BATCH])
    config = {key: results["run"][key] for key in ("settings", "versions", "fingerprint") if key in results["run"]}
    client.log_dict(run_id, {**config, "testbeds": results["testbeds"], "plan": results["plan"]}, "config.json")


@contextmanager
def _isolated() -> Iterator[None]:
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
