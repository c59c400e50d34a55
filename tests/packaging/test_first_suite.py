"""`rageval init`: its suite runs with the real pytest, and existing files stay unchanged."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.projects.installed_programs import ALL_PLUGINS, QuickProgram, run_program

from pytest_rageval.analysis.baseline.power import power_of
from pytest_rageval.cli import main
from pytest_rageval.model.stored_json import parse_json

SUITE_FILES = [".github/workflows/rag.yml", "pytest.ini", "tests/cases.jsonl", "tests/rag.rag.toml"]
APP = """\
def answer(query):
    return " ".join(passage.text for passage in query.passages or ()) or "It opens at 9:00."
"""
TABLE = "Question;Answer;Topic\nWhen does the museum open?;9:00;Visit\nWhat does a dog pay?;;Prices\n"
GATES = {"accuracy >= 0.5": "passed", "error_rate <= 1%": "passed"}


def files(folder: Path) -> list[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in paths if "__pycache__" not in path.parts)


def results(folder: Path) -> Any:
    """Return the results of the only run."""
    [path] = (folder / ".rageval" / "runs").glob("*/results.json")
    return parse_json(path.read_text(encoding="utf-8"))


def next_command(output: str) -> list[str]:
    return shlex.split(output.splitlines()[-1].removeprefix("Next: "))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    app = tmp_path / "app"
    app.mkdir()
    return app


def test_an_empty_folder_becomes_a_green_suite(folder: Path) -> None:
    status, output = run_program(folder, "rageval", "init")
    assert (status, files(folder)) == (0, SUITE_FILES)
    assert output.splitlines() == [
        "written: tests/rag.rag.toml, tests/cases.jsonl, pytest.ini, .github/workflows/rag.yml",
        "With 6 cases the smallest detectable drop is 86 points; a drop of 5 points needs 134 cases "
        "(found four times in five, if no answer changes by chance).",
        "Next: pytest",
    ]
    assert power_of(133, 0.05, changing=0) < 0.8 <= power_of(134, 0.05, changing=0)
    assert power_of(6, 0.85, changing=0) < 0.8 <= power_of(6, 0.8602, changing=0)
    status, output = run_program(folder, *next_command(output), env=ALL_PLUGINS)
    assert status == 0, output
    run = results(folder)
    assert {gate["expr"]: gate["status"] for gate in run["gates"]} == GATES
    assert [outcome["scores"]["accuracy"]["value"] for outcome in run["outcomes"]] == [1.0] * 6


@pytest.mark.skipif(not shutil.which("git"), reason="git lists the files that it does not ignore")
def test_git_ignores_what_a_run_writes(folder: Path, quick_program: QuickProgram) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    quick_program(folder, "rageval", "init")
    quick_program(folder, "pytest", "-p", "no:cacheprovider")
    assert (folder / ".rageval").is_dir()
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    assert subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split() == SUITE_FILES


def test_init_uses_a_table_and_a_system_of_the_user(folder: Path, quick_program: QuickProgram) -> None:
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / "faq.csv").write_text(TABLE, encoding="utf-8")
    (folder / "requirements.txt").write_text("httpx\n", encoding="utf-8")
    status, output = quick_program(folder, "rageval", "init", "--from", "app:answer", "--data", "faq.csv")
    assert status == 1, output  # a row was left out
    assert output.splitlines()[1:3] == [
        "left: faq.csv:3: the field answer or answers is missing or empty",
        "With 1 case no drop is detectable; a drop of 5 points needs 134 cases "
        "(found four times in five, if no answer changes by chance).",
    ]
    assert files(folder) == sorted([*SUITE_FILES, "app.py", "faq.csv", "requirements.txt"])
    status, output = quick_program(folder, *next_command(output))
    assert status == 0, output
    run = results(folder)
    assert {gate["expr"]: gate["status"] for gate in run["gates"]} == GATES
    assert [(each["case_id"], each["system"], each["answer"]["text"]) for each in run["outcomes"]] == [
        ("faq-1", "app:answer", "It opens at 9:00.")
    ]


def test_init_reports_that_its_cases_are_invented(folder: Path, quick_program: QuickProgram) -> None:
    (folder / "app.py").write_text(APP, encoding="utf-8")
    status, output = quick_program(folder, "rageval", "init", "--from", "app:answer")
    assert status == 0
    assert "The cases are invented: replace them with questions that app:answer should answer." in output
    status, output = quick_program(folder, *next_command(output))
    assert status == 0, output
    assert {each["system"] for each in results(folder)["outcomes"]} == {"app:answer"}


@pytest.mark.parametrize(
    ("name", "text", "setting"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["checks"]\n', 'rag_system = ["app:answer"]'),
        ("pyproject.toml", '[project]\nname = "app"\nversion = "1"\n', 'rag_system = ["app:answer"]'),
        ("setup.cfg", "[tool:pytest]\ntestpaths = checks\n", "rag_system = app:answer"),
    ],
    ids=["settings in pyproject.toml", "no settings in pyproject.toml", "settings in setup.cfg"],
)
def test_existing_settings_are_neither_edited_nor_shadowed(
    folder: Path, quick_program: QuickProgram, name: str, text: str, setting: str
) -> None:
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "data").mkdir()
    status, _ = quick_program(folder, "rageval", "init")
    cases = (folder / "tests" / "cases.jsonl").rename(folder / "data" / "museum.jsonl")
    shutil.rmtree(folder / "tests")
    shutil.rmtree(folder / ".github")
    status, output = quick_program(folder, "rageval", "init", "--from", "app:answer", "--data", str(cases))
    assert status == 0
    assert files(folder) == sorted(
        [SUITE_FILES[0], SUITE_FILES[3], "app.py", "data/museum.jsonl", name]
    )  # used in place
    assert (folder / name).read_text(encoding="utf-8") == text
    assert f"Add to pytest's settings in {name}, then leave out --rag-system: {setting}" in output.splitlines()
    command = next_command(output)
    assert command == ["pytest", "tests/rag.rag.toml", "--rag-system", "app:answer"]
    assert f"python -m {shlex.join(command)} " in (folder / SUITE_FILES[0]).read_text(encoding="utf-8")
    status, output = quick_program(folder, *command)
    assert status == 0, output
    assert {each["system"] for each in results(folder)["outcomes"]} == {"app:answer"}


def test_the_workflow_installs_and_tests_the_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(folder)
    (folder / "requirements.txt").write_text("httpx\n", encoding="utf-8")
    assert main(["init"]) == 0
    job = yaml.safe_load((folder / SUITE_FILES[0]).read_text(encoding="utf-8"))["jobs"]["rag"]
    install, test = [step["run"] for step in job["steps"] if "run" in step]
    assert install == 'python -m pip install "pytest-rageval[html]" -r requirements.txt'
    python, *arguments = shlex.split(test)
    assert python == "python"
    status, output = run_program(folder, "python", *arguments)
    assert status == 0, output
    [upload] = [step["with"] for step in job["steps"] if "upload" in step.get("uses", "")]
    assert all((folder / path).is_file() for path in upload["path"].split())


@pytest.mark.parametrize(
    ("name", "text", "install_arguments"),
    [
        ("pyproject.toml", '[project]\nname = "app"\nversion = "1"\n', " -e ."),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", ""),
        ("README.md", "[project]\n", ""),
    ],
    ids=["a package", "settings only", "neither"],
)
def test_the_workflow_installs_a_project_that_is_a_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, install_arguments: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / name).write_text(text, encoding="utf-8")
    assert main(["init"]) == 0
    lines = (folder / SUITE_FILES[0]).read_text(encoding="utf-8").splitlines()
    assert f'      - run: python -m pip install "pytest-rageval[html]"{install_arguments}' in lines


def test_many_cases_detect_small_drops(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "app.py").write_text(APP, encoding="utf-8")
    rows = (f'{{"id": {at}, "question": "Question {at}?", "answers": ["{at}"]}}\n' for at in range(500))
    (folder / "cases.jsonl").write_text("".join(rows), encoding="utf-8")
    assert main(["init", "--from", "app:answer", "--data", "cases.jsonl"]) == 0
    assert "With 500 cases the smallest detectable drop is 1.34 points; " in capsys.readouterr().out
    assert power_of(500, 0.01335, changing=0) < 0.8 <= power_of(500, 0.01345, changing=0)
    assert 'dataset = "jsonl:../cases.jsonl"\n' in (folder / SUITE_FILES[3]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("present", "arguments", "message"),
    [
        (["tests/cases.jsonl"], [], "tests/cases.jsonl already exists; nothing was written; move or remove first"),
        (
            ["tests/rag.rag.toml", ".github/workflows/rag.yml"],
            [],
            "tests/rag.rag.toml, .github/workflows/rag.yml already exist; nothing was written; move or remove first",
        ),
        (["tests"], [], "tests cannot be written: File exists"),
        ([".github"], [], ".github cannot be written: File exists"),
        ([], ["--data", "faq.csv"], "faq.csv: no such file"),
        (["empty.csv"], ["--data", "empty.csv"], "empty.csv:1: the file holds no row"),
        (["none.jsonl"], ["--data", "none.jsonl"], "none.jsonl has no case, and nothing was written"),
        ([], ["--from", "app"], "--from 'app' is not module:attribute; write for example app:answer"),
        ([], ["--from", "no_such_app:answer"], "rag_system 'no_such_app:answer': no module 'no_such_app'"),
    ],
)
def test_nothing_is_written_unless_every_file_can_be_written(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    present: list[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    for name in present:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    before = sorted(folder.rglob("*"))
    assert main(["init", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert sorted(folder.rglob("*")) == before


def test_a_malformed_data_file_is_reported_instead_of_its_overwrite(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "tests").mkdir()
    (folder / "tests" / "cases.jsonl").write_text('{"id": 1, "question": "Q?"}\n', encoding="utf-8")
    assert main(["init", "--data", "tests/cases.jsonl"]) == 2
    assert capsys.readouterr().err.startswith("rageval: tests/cases.jsonl:1: ")
    assert files(folder) == ["tests/cases.jsonl"]


def test_cases_that_the_embedded_reader_cannot_answer_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "faq.tsv").write_text(
        "question\tanswer\treferences\nWhen?\t9:00\tIt opens at 9:00.\nWho?\tAnn\t\n", encoding="utf-8"
    )
    assert main(["init", "--data", "faq.tsv"]) == 2
    why = "1 of 2 cases without passages, which the embedded reader needs"
    assert f"faq.tsv: {why}; name your own system with --from module:attr" in capsys.readouterr().err
    assert files(folder) == ["faq.tsv"]


def test_passages_of_a_table_reach_the_embedded_reader(folder: Path, quick_program: QuickProgram) -> None:
    (folder / "faq.csv").write_text(
        "question,answer,references,response\nWhen does it open?,9:00,It opens at 9:00.,At nine.\n", encoding="utf-8"
    )
    status, output = quick_program(folder, "rageval", "init", "--data", "faq.csv")
    assert status == 0
    assert "1 recorded answer not used; `rageval import table faq.csv` writes them for --rag-answers" in output
    status, output = quick_program(folder, *next_command(output))
    assert status == 0, output
    assert {gate["expr"]: gate["status"] for gate in results(folder)["gates"]} == GATES
