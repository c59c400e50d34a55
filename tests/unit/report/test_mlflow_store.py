"""Sending MLflow runs: a real folder, a real database, and stores that fail."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.samples.run_samples import FINISHED, finished_run

from pytest_rageval.errors import MissingDependencyError, SettingError
from pytest_rageval.report.export.mlflow.store import experiment_of, send, without_password
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.summary_data import MatrixChoice

needs_mlflow = pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow, of the extra mlflow, is not installed")


@pytest.fixture
def results() -> dict[str, Any]:
    run = finished_run()
    run.settings = {"rag_model": "openai/m"}
    return decode_results(results_of(run, "r1", FINISHED, MatrixChoice()))


@pytest.fixture
def quick_database() -> Iterator[None]:
    """Turn off SQLite's disk syncs: MLflow's tables take about a hundred transactions."""
    sqlalchemy = pytest.importorskip("sqlalchemy")

    def turn_off_sync(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "connect", turn_off_sync)
    yield
    sqlalchemy.event.remove(sqlalchemy.engine.Engine, "connect", turn_off_sync)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored_runs(uri: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Path]]:
    """Return the experiment's runs in a store, with the folders of their artifacts."""

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow.tracking import MlflowClient

        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name("mine")
        assert experiment is not None
        runs = client.search_runs([experiment.experiment_id])
        return [(run, Path(run.info.artifact_uri.removeprefix("file://"))) for run in runs]


@needs_mlflow
@pytest.mark.parametrize("uri", ["mlruns-here", "sqlite:///mlflow.db"])
@pytest.mark.usefixtures("quick_database")
def test_a_store_contains_everything_that_was_sent(
    folder: Path, results: dict[str, Any], uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = folder / "report.html"
    page.write_text("<p>")
    before = dict(os.environ)
    assert send(results, uri, "mine", page=page) == []
    assert send(results, uri, "mine") == ["mine"]  # already stored
    assert dict(os.environ) == before
    ((run, artifacts),) = stored_runs(uri, monkeypatch)
    assert (artifacts / "report.html").read_text() == "<p>"
    assert (run.info.run_name, run.info.status) == ("mine", "FINISHED")
    assert run.info.end_time - run.info.start_time == 1500
    assert run.data.params["rag_model"] == "openai/m"
    assert run.data.metrics["sec per query"] == 0.5
    assert run.data.metrics["cells/f1/topic.B/task.chat"] == 0.5
    assert run.data.tags["rag.run"] == "r1"
    assert json.loads((artifacts / "results.json").read_text(encoding="utf-8")) == results
    assert json.loads((artifacts / "config.json").read_text(encoding="utf-8"))["settings"] == {"rag_model": "openai/m"}


@needs_mlflow
def test_a_missing_page_is_generated_if_jinja2_is_installed(
    folder: Path, results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jinja2", reason="jinja2, of the extra html, is not installed")
    send(results, "drawn-here", "mine")
    ((_, artifacts),) = stored_runs("drawn-here", monkeypatch)
    assert "<html" in (artifacts / "report.html").read_text(encoding="utf-8")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    results["run"]["id"] = "r2"
    send(results, "drawn-here", "mine")
    pages = [(artifacts / "report.html").exists() for _, artifacts in stored_runs("drawn-here", monkeypatch)]
    assert sorted(pages) == [False, True]


@needs_mlflow
def test_a_run_that_fails_half_way_is_reported_and_can_be_sent_again(
    folder: Path, results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingError, match=r"cannot log the run to .*: .*no-page"):
        send(results, "halves-here", "mine", page=folder / "no-page.html")
    assert send(results, "halves-here", "mine") == []
    assert sorted(run.info.status for run, _ in stored_runs("halves-here", monkeypatch)) == ["FAILED", "FINISHED"]


@needs_mlflow
@pytest.mark.usefixtures("folder")
def test_many_settings_are_stored(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    results["run"]["settings"] = {f"rag_setting_{number}": "x" for number in range(250)}
    send(results, "many-here", "mine")
    ((run, _),) = stored_runs("many-here", monkeypatch)
    assert len(run.data.params) > 250


@needs_mlflow
def test_a_database_that_cannot_be_opened_is_reported_at_once(
    folder: Path, results: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail_on_sleep(seconds: float) -> None:
        raise AssertionError(f"waits {seconds} s")

    pytest.importorskip("sqlalchemy")
    monkeypatch.setattr("time.sleep", fail_on_sleep)
    (folder / "text.db").write_text("no database " * 100)
    (folder / "folder.db").mkdir()
    for uri in ("sqlite:///text.db", "sqlite:///folder.db", "postgresql+nodriver://127.0.0.1:9/db"):
        with pytest.raises(SettingError, match=f"^cannot log the run to {re.escape(uri)}: "):
            send(results, uri, "mine")
    assert capfd.readouterr() == ("", "")


def test_a_shard_is_not_sent(results: dict[str, Any]) -> None:
    results["run"]["shard"] = {"number": 1, "of": 2}
    with pytest.raises(SettingError, match="join the shards with rageval merge"):
        send(results, "mlruns-here", "mine")


@needs_mlflow
def test_an_unreachable_server_is_reported_in_one_sentence(
    results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    before = dict(os.environ)
    with pytest.raises(SettingError, match=r"^cannot log the run to http://\*\*\*@127\.0\.0\.1:9: ") as caught:
        send(results, "http://user:secret@127.0.0.1:9", "mine")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert dict(os.environ) == before


def test_without_mlflow_the_message_names_the_extra(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pytest-rageval\[mlflow\]'"):
        send(results, "mlruns-here", "mine")


def test_the_environment_may_name_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    assert experiment_of(tmp_path / "desk") == "desk"
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "all desks")
    assert experiment_of(tmp_path / "desk") == "all desks"


def test_no_password_is_shown() -> None:
    assert without_password("postgresql://me:pw@db/x at http://h/") == "postgresql://***@db/x at http://h/"
