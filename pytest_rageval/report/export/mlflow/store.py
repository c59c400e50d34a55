"""Where runs of MLflow go: a server, a database or a folder, without a mark on this process."""

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

BATCH = 500  # MLflow takes a thousand metrics at once
PARAMS = 100  # and so many params

_SENT = "rag.results"
"""The tag that tells which results a run is of, by their digest."""

_WHOLE = ("FINISHED", "KILLED")
"""The states of runs that have all that was sent."""

_ASKED_LIKE_THIS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_ALLOW_FILE_STORE": "true",  # who names a folder wants it
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_CONFIGURE_LOGGING": "false",
}
"""MLflow's own settings while it is at work, unless the environment says otherwise."""


def send(
    results: Mapping[str, Any], uri: str, experiment: str, runs_folder: Path | None = None, page: Path | None = None
) -> list[str]:
    """Log each system of a results.json as a run, with the file itself, its settings and its page as artifacts.

    A run that the store has already, as it was sent before, is not logged twice. There is a page where jinja2 is
    installed.

    Args:
        results: a results.json, of builtins.
        uri: of the tracking server, the database (``sqlite:///mlflow.db``) or the folder.
        experiment: the experiment's name; it is made where there is none.
        runs_folder: where other runs lie, that the page may show beside this one.
        page: the page, where it is drawn already.

    Returns:
        the systems that the store has a run of already.

    Raises:
        MissingDependencyError: mlflow is not installed.
        SettingError: the results are those of a shard, or the store cannot be reached, or does not take it; says which.
    """
    if "shard" in results["run"]:
        raise SettingError("MLflow is told of whole runs only; join the shards with rageval merge, then send that run")
    runs = system_runs(results)
    with _unmarked():
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise MissingDependencyError("--rag-mlflow", "mlflow") from error
        try:
            _open_once(uri)
            client = MlflowClient(tracking_uri=uri)
            found = client.get_experiment_by_name(experiment)
            into = found.experiment_id if found else client.create_experiment(experiment)
            text = "".join(json_lines(results))
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            known = _logged(client, into, digest)
            with TemporaryDirectory() as folder:
                files = _drawn(Path(folder), results, runs_folder) if page is None else [page]
                for run in runs:
                    if run.name not in known:
                        tags = {**run.tags, _SENT: digest}
                        _log(client, into, replace(run, tags=tags), results, text, files)
        except Exception as error:  # MLflow's own, of SQLAlchemy, of the network, of files: none is worth a traceback
            why = without_password(str(error).strip().partition("\n")[0]) or type(error).__name__
            raise SettingError(f"{without_password(uri)} took no run of MLflow: {ascii_safe(why)[:300]}") from error
    return [run.name for run in runs if run.name in known]


def experiment_of(root: Path) -> str:
    """Return the name of a project's experiment: ``MLFLOW_EXPERIMENT_NAME``, else that of its folder."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or root.resolve().name or "rageval"


def without_password(text: str) -> str:
    """Return a text with the user and the password of each address in it masked."""
    return re.sub(r"(?<=://)[^/@\s]+@", "***@", text)


def _drawn(folder: Path, results: Mapping[str, Any], runs: Path | None) -> list[Path]:
    """Return the page, where jinja2 is installed and an older version's results have all that it shows."""
    from pytest_rageval.report.html.page import check_jinja2, write_html

    with suppress(MissingDependencyError, AttributeError, KeyError, TypeError, ValueError):
        check_jinja2()
        write_html(folder / "report.html", results, runs)
    return list(folder.iterdir())


def _open_once(uri: str) -> None:
    """Open a database, as MLflow would try ten times, for more than a minute, where it cannot be opened."""
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


def _logged(client: MlflowClient, experiment: str, digest: str) -> set[str]:
    """Return the systems that these very results are logged of, as a whole."""
    found = client.search_runs([experiment], f"tags.`{_SENT}` = '{digest}'")
    return {run.info.run_name for run in found if run.info.status in _WHOLE}


def _log(
    client: MlflowClient,
    experiment: str,
    run: SystemRun,
    results: Mapping[str, Any],
    text: str,
    files: Sequence[Path],
) -> None:
    told = results["run"]
    started = int(datetime.fromisoformat(told["started"]).timestamp() * 1000)
    made = client.create_run(experiment, start_time=started, tags=dict(run.tags), run_name=run.name).info.run_id
    try:
        _fill(client, made, run, results, started)
        client.log_text(made, text, "results.json")
        for path in files:
            client.log_artifact(made, str(path))
    except BaseException:
        with suppress(Exception):  # what went wrong is told already
            client.set_terminated(made, "FAILED")
        raise
    ended = started + int(told["duration_s"] * 1000)
    client.set_terminated(made, "KILLED" if told["interrupted"] else "FINISHED", end_time=ended)


def _fill(client: MlflowClient, made: str, run: SystemRun, results: Mapping[str, Any], started: int) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(name, value) for name, value in run.params.items()]
    for at in range(0, len(params), PARAMS):
        client.log_batch(made, params=params[at : at + PARAMS])
    metrics = [Metric(name, value, started, 0) for name, value in run.metrics.items()]
    for at in range(0, len(metrics), BATCH):
        client.log_batch(made, metrics=metrics[at : at + BATCH])
    config = {key: results["run"][key] for key in ("settings", "versions", "fingerprint") if key in results["run"]}
    client.log_dict(made, {**config, "testbeds": results["testbeds"], "plan": results["plan"]}, "config.json")


@contextmanager
def _unmarked() -> Iterator[None]:
    """Have MLflow wait for no server long, warn of nothing, and leave the environment as it was."""
    before = dict(os.environ)
    os.environ.update({name: value for name, value in _ASKED_LIKE_THIS.items() if name not in before})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name in os.environ.keys() - before.keys():
            if "MLFLOW_" in name:
                del os.environ[name]
