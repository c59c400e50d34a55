"""``--rag-mlflow``: one MLflow run per system; an unreachable store loses no result."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec

import pytest
from support.projects.rag_project import RIGHT, WRONG, Project, cases

needs_mlflow = pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow, of the extra mlflow, is not installed")

SYSTEMS = """
    def says(query):
        return query.question.partition(" ")[2]

    def knows(query):
        return "Paris"
"""


@needs_mlflow
def test_two_systems_are_two_mlflow_runs(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, topic="Funds"), 'gates=["accuracy >= 0.5"]')
    project.file("two.py", SYSTEMS)
    system_options = ("--rag-system", "two:says", "--rag-system", "two:knows")
    run = project.run(*system_options, "--rag-mlflow", "runs", forked=True)
    assert run.status == 0
    run.said("logged to MLflow: runs")
    folders = [path.parent for path in project.path.glob("runs/*/*/artifacts")]
    means = {(f / "tags" / "rag.system").read_text(): (f / "metrics" / "accuracy").read_text() for f in folders}
    assert {system: float(line.split()[1]) for system, line in means.items()} == {"two:says": 0.5, "two:knows": 1.0}
    for folder in folders:
        assert json.loads((folder / "artifacts" / "results.json").read_text(encoding="utf-8")) == run.results
        assert (folder / "artifacts" / "report.html").is_file()
    assert (folders[0].parent / "meta.yaml").read_text().count(f"name: {project.path.name}\n") == 1
    show = "from pytest_rageval.cli import main; main(['export', '--as', 'mlflow', '--out', 'runs'])"
    again = project.pytester.run(sys.executable, "-c", show)
    again.stdout.fnmatch_lines(["runs: mlflow of run * (already logged: two:says, two:knows)"])


@needs_mlflow
def test_a_shard_is_not_logged(project: Project) -> None:
    project.says(cases(RIGHT, RIGHT))
    run = project.run("--rag-shard", "1/2", "--rag-mlflow", "runs")
    assert run.status == 0
    run.said("warning: MLflow receives only whole runs; join the shards with rageval merge, then send that run")
    assert not (project.path / "runs").exists()


@needs_mlflow
def test_an_unreachable_store_is_a_warning(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    project.says(cases(RIGHT))
    run = project.run("--rag-mlflow", "http://127.0.0.1:9", forked=True)
    assert run.status == 0
    run.said(
        "warning: cannot log the run to http://127.0.0.1:9: *; the results are kept, "
        f"send them with: rageval export {run.results['run']['id']} --as mlflow --out http://127.0.0.1:9"
    )


def test_without_mlflow_no_test_runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    project.says(cases(RIGHT))
    run = project.run("--rag-mlflow", "runs")
    assert run.status == 4
    run.result.stderr.fnmatch_lines(["*pip install 'pytest-rageval?mlflow?'*"])
    assert run.results is None
