"""``rageval doctor`` checks the installation, the ini, components and, on demand, models."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest
from support.projects.model_projects import KEY, asks, rows
from support.projects.rag_project import RUNS, Project, cases
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.cli import main

Doctor = Callable[..., tuple[int, dict[str, tuple[str, str]]]]


@pytest.fixture
def doctor(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Return a function that runs ``rageval doctor``: it returns the exit status and name -> (state, text)."""
    monkeypatch.chdir(project.path)
    project.data(cases("say Paris"))

    def call(*lines: str, ask: bool = False) -> tuple[int, dict[str, tuple[str, str]]]:
        if lines:
            project.file("pytest.ini", "\n".join(["[pytest]", *lines]))
        capsys.readouterr()
        status = main(["doctor", "--json", *(["--models"] if ask else [])])
        checks: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        return status, {each["name"]: (each["state"], each["text"]) for each in checks}

    return call


def test_a_sound_project_has_no_problem(project: Project, doctor: Doctor, capsys: pytest.CaptureFixture[str]) -> None:
    project.file("docs.txt", "Paris is a town.")
    status, checks = doctor("rag_corpus = docs.txt", "rag_top_k = 3")
    assert status == 0
    assert checks["python"] == ("ok", sys.version.split()[0])
    assert checks["pytest"] == ("ok", version("pytest"))
    assert checks["file"] == ("ok", str(project.path / "pytest.ini"))
    assert (checks["rag_corpus"], checks["retriever bm25"]) == (("ok", "1 files"), ("ok", ""))
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "installed",
        "ini",
        "components",
        "tests",
        "No problem found.",
    ]


def test_a_missing_extra_is_reported_with_its_install_command(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        if name == "jinja2":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("pytest_rageval.commands.doctor.installation.version", absent)
    status, checks = doctor("rag_top_k = 3")
    assert status == 0  # an extra is a choice
    assert checks["extra html"] == ("missing", "pip install 'pytest-rageval[html]' (jinja2)")
    assert checks["extra ranking"][0] in ("ok", "missing")
    assert "extra dev" not in checks


@pytest.mark.parametrize(
    ("line", "name", "problem"),
    [
        ("rag_top_kk = 3", "rag_top_kk", "no setting has this name; did you mean 'rag_top_k'?"),
        ("rag_colour = red", "rag_colour", "no setting has this name; "),
        ("rag_top_k = many", "rag_top_k", "rag_top_k"),
        ("rag_corpus = nowhere/*.md", "rag_corpus", "rag_corpus: 'nowhere/*.md' matches no file in "),
        ("rag_corpus = test_none.txt", "rag_corpus", "no such file: "),
        ("rag_corpus = pytest.ini\nrag_retriever = bm52", "retriever bm52", "did you mean 'bm25'?"),
        ("rag_system = nowhere:answer", "system nowhere:answer", "nowhere"),
        ("rag_system = extractiv", "system extractiv", "did you mean 'extractive'?"),
        ("rag_baseline = base.json", "baseline {folder}/base.json", "there is no baseline {folder}/base.json yet"),
        ("rag_baseline = data.jsonl", "baseline {folder}/data.jsonl", "data.jsonl"),
        ("rag_prompts =\n    en: none.toml", "rag_prompts", "none.toml"),
        ("rag_user_dict = none.txt", "rag_user_dict none.txt", "{folder}/none.txt: No such file or directory"),
        ("rag_model = script:none.toml", "rag_llm script:none.toml", "there is no file 'none.toml'; correct the path"),
    ],
)
def test_a_problem_is_reported_for_its_setting(
    line: str, name: str, problem: str, project: Project, doctor: Doctor
) -> None:
    project.file("data.jsonl", "{}\n")
    status, checks = doctor(line)
    state, text = checks[name.format(folder=project.path)]
    assert (status, state) == (1, "wrong")
    assert problem.format(folder=project.path) in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("rag_gates = accuracy => 0.5", "rag_gates: gate 'accuracy => 0.5' has no valid operator and bound"),
        ("rag_gates = acuracy >= 0.5", "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        ("rag_gates = accuracy[toppic=A] >= 0.5", "unknown facet 'toppic'"),
        ("rag_chunking = token 5", "rag_chunking: unknown chunking 'token'; did you mean 'tokens'?"),
        ("rag_cluster = dialog", "pytest.ini:2: rag_cluster is 'dialog', a facet that no case has"),
    ],
)
def test_a_setting_that_stops_pytest_is_a_problem(line: str, problem: str, project: Project, doctor: Doctor) -> None:
    project.file("test_it.py", RUNS.replace("{arguments}", ""))
    status, checks = doctor(line)
    state, text = checks[line.partition(" ")[0]]
    assert (status, state) == (1, "wrong")
    assert problem in text
    run = project.run()
    assert run.status == 4
    assert problem in run.result.stderr.str()


def test_doctor_collects_the_tests_and_runs_none(project: Project, doctor: Doctor) -> None:
    project.file("test_it.py", RUNS.replace("{arguments}", "").replace("...", "raise SystemExit"))
    assert doctor("rag_top_k = 3")[1]["cases"] == ("ok", "1 collected")
    assert not (project.path / ".rageval").exists()
    project.file("test_other.py", "import nowhere\n")
    status, checks = doctor("rag_top_k = 3")
    problem = "pytest cannot collect the tests; run pytest --collect-only to see why"
    assert (status, checks["cases"]) == (1, ("wrong", problem))


def test_an_ini_that_pytest_cannot_read_is_a_problem(project: Project, doctor: Doctor) -> None:
    project.file("conftest.py", "import nowhere\n")
    status, checks = doctor("rag_top_k = 3")
    assert (status, checks["project"][0]) == (1, "wrong")


def test_models_are_asked_only_on_demand(
    project: Project, doctor: Doctor, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asks(project, openai_server.base_url, rows("Orsay"))
    assert doctor()[1]["rag_llm openai/m"] == ("unasked", "--models sends it one request")
    assert openai_server.requests == []
    assert doctor(ask=True)[1]["rag_llm openai/m"] == ("ok", "it replied")
    assert len(openai_server.requests) == 1
    assert main(["doctor", "--models"]) == 0
    assert KEY not in capsys.readouterr().out


def test_a_model_that_refuses_is_a_problem_and_its_key_stays_hidden(
    project: Project, doctor: Doctor, openai_server: OpenAIServer
) -> None:
    asks(project, openai_server.base_url, rows("Orsay"))
    refusal = Fault("status", 401, message=f"Incorrect API key provided: {KEY}")
    openai_server.plan = lambda number, body: refusal
    status, checks = doctor(ask=True)
    state, text = checks["rag_llm openai/m"]
    assert (status, state) == (1, "wrong")
    assert text.startswith("auth: ")
    assert KEY not in text
    asks(project, "http://127.0.0.1:9", rows("Orsay"))
    status, checks = doctor(ask=True)
    assert (status, checks["rag_llm openai/m"][1].partition(":")[0]) == (1, "connection")


def test_a_malformed_parameter_is_not_printed(project: Project, doctor: Doctor) -> None:
    status, checks = doctor("rag_model = openai/m", "rag_model_params =", "    api_key sk-hidden-0123456789")
    assert (status, checks["rag_model_params"][0]) == (1, "wrong")
    assert "sk-hidden" not in json.dumps(checks)
