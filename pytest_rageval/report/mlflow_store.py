"""Where runs of MLflow go: a server, a database or a folder, without a mark on this process."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe
from pytest_rageval.report.json_text import json_lines
from pytest_rageval.report.mlflow_runs import SystemRun, system_runs

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

__all__ = ["experiment_of", "send", "without_password"]

BATCH = 500  # MLflow takes a thousand metrics at once
PARAMS = 100  # and so many params

_ASKED_LIKE_THIS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_ALLOW_FILE_STORE": "true",  # who names a folder wants it
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_CONFIGURE_LOGGING": "false",
}
"""MLflow's own settings while it is at work, unless the environment says otherwise."""


def send(results: Mapping[str, Any], uri: str, experiment: str, files: Sequence[Path] = ()) -> None:
    """Log each system of a results.json as a run, with the file itself and its settings as artifacts.

    Args:
        results: a results.json, of builtins.
        uri: of the tracking server, the database (``sqlite:///mlflow.db``) or the folder.
        experiment: the experiment's name; it is made where there is none.
        files: what else becomes an artifact.

    Raises:
        MissingDependencyError: mlflow is not installed.
        SettingError: the store cannot be reached, or does not take it; says which.
    """
    runs = system_runs(results)
    with _unmarked():
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise MissingDependencyError("--rag-mlflow", "mlflow") from error
        try:
            client = MlflowClient(tracking_uri=uri)
            found = client.get_experiment_by_name(experiment)
            into = found.experiment_id if found else client.create_experiment(experiment)
            for run in runs:
                _log(client, into, run, results, files)
        except Exception as error:  # MLflow's own, of SQLAlchemy, of the network, of files: none is worth a traceback
            why = without_password(str(error).strip().partition("\n")[0]) or type(error).__name__
            raise SettingError(f"{without_password(uri)} took no run of MLflow: {ascii_safe(why)[:300]}") from error


def experiment_of(root: Path) -> str:
    """Return the name of a project's experiment: ``MLFLOW_EXPERIMENT_NAME``, else that of its folder."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or root.resolve().name or "rageval"


def without_password(text: str) -> str:
    """Return a text with the user and the password of each address in it masked."""
    return re.sub(r"(?<=://)[^/@\s]+@", "***@", text)


def _log(
    client: MlflowClient, experiment: str, run: SystemRun, results: Mapping[str, Any], files: Sequence[Path]
) -> None:
    from mlflow.entities import Metric, Param

    told = results["run"]
    started = int(datetime.fromisoformat(told["started"]).timestamp() * 1000)
    made = client.create_run(experiment, start_time=started, tags=dict(run.tags), run_name=run.name).info.run_id
    metrics = [Metric(name, value, started, 0) for name, value in run.metrics.items()]
    params = [Param(name, value) for name, value in run.params.items()]
    for at in range(0, len(params), PARAMS):
        client.log_batch(made, params=params[at : at + PARAMS])
    for at in range(0, len(metrics), BATCH):
        client.log_batch(made, metrics=metrics[at : at + BATCH])
    client.log_text(made, "".join(json_lines(results)), "results.json")
    config = {key: told[key] for key in ("settings", "versions", "fingerprint") if key in told}
    client.log_dict(made, {**config, "testbeds": results["testbeds"], "plan": results["plan"]}, "config.json")
    for path in files:
        client.log_artifact(made, str(path))
    ended = started + int(told["duration_s"] * 1000)
    client.set_terminated(made, "KILLED" if told["interrupted"] else "FINISHED", end_time=ended)


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
