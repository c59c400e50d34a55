"""The GitHub Action of the repository: its steps run for real, with files in place of the runner's."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.projects.composite_action import GH, OTHERS, OURS, CompositeAction
from support.projects.installed_programs import QuickProgram, clean_environment

from pytest_rageval.model.stored_json import parse_json

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "rageval" / "action.yml"
REPORTS = ["junit.xml", "rag.html", "rag.md", "results.json"]

Run = Callable[..., CompositeAction]

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="bash runs the steps")


@pytest.fixture
def action() -> Any:
    return pytest.importorskip("yaml").safe_load(ACTION.read_text(encoding="utf-8"))


@pytest.fixture
def checkout(tmp_path: Path, quick_program: QuickProgram) -> Path:
    """Return the folder of a first suite, whose gates hold."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    assert quick_program(folder, "rageval", "init")[0] == 0
    return folder


@pytest.fixture
def run(action: Any, checkout: Path, tmp_path: Path) -> Run:
    """Return a function that runs the action with inputs."""

    def call(github: dict[str, str] | None = None, env: dict[str, str] | None = None, **inputs: str) -> CompositeAction:
        action_inputs = {"install": "", **{name.replace("_", "-"): value for name, value in inputs.items()}}
        return CompositeAction(action, checkout, tmp_path / "runner", action_inputs, github or {}, env or {}).run()

    return call


def summary_of(outcome: CompositeAction) -> str:
    return outcome.summary.read_text(encoding="utf-8").strip()


def break_gate(checkout: Path) -> None:
    suite = checkout / "tests" / "rag.rag.toml"
    suite.write_text(suite.read_text(encoding="utf-8").replace("accuracy >= 0.5", "token_f1 >= 0.99"), encoding="utf-8")


def test_a_green_run_leaves_its_reports(run: Run, checkout: Path) -> None:
    outcome = run(install="python -c \"open('installed', 'w')\"")
    assert outcome.status == 0, outcome.output
    assert outcome.ran == ["Set up Python", "Install", "Test", "Upload the reports"]
    assert (checkout / "installed").is_file()
    reports = Path(outcome.outputs["reports"])
    assert outcome.outputs["status"] == "0"
    assert sorted(path.name for path in reports.iterdir()) == REPORTS
    assert outcome.uses == {
        "actions/setup-python": {"python-version": "3.12"},
        "actions/upload-artifact": {"name": "rag", "path": str(reports)},
    }
    results = parse_json((reports / "results.json").read_text(encoding="utf-8"))
    assert [gate["status"] for gate in results["gates"]] == ["passed", "passed"]
    assert summary_of(outcome) == (reports / "rag.md").read_text(encoding="utf-8").strip()
    assert not any(name in os.listdir(checkout) for name in REPORTS)  # the checkout stays clean


def test_a_failed_gate_fails_the_action_and_its_reports_are_uploaded(run: Run, checkout: Path) -> None:
    break_gate(checkout)
    outcome = run(artifact="rag-nightly")
    assert outcome.status == 1, outcome.output
    assert outcome.ran == ["Set up Python", "Test", "Upload the reports"]
    assert outcome.outputs["status"] == "1"
    assert outcome.uses["actions/upload-artifact"]["name"] == "rag-nightly"
    assert summary_of(outcome) == (Path(outcome.outputs["reports"]) / "rag.md").read_text(encoding="utf-8").strip()
    junit = ElementTree.parse(Path(outcome.outputs["reports"]) / "junit.xml").getroot()  # noqa: S314 - we wrote it
    assert junit[0].get("failures") == "1"


def test_a_failed_installation_ends_the_action(run: Run) -> None:
    outcome = run(install="false | true")
    assert (outcome.status, outcome.ran) == (1, ["Set up Python", "Install"])


def test_inputs_that_are_empty_leave_steps_out(run: Run) -> None:
    outcome = run(python_version="", artifact="")
    assert (outcome.status, outcome.ran) == (0, ["Test"]), outcome.output


def test_arguments_and_the_baseline_reach_pytest(run: Run, checkout: Path, quick_program: QuickProgram) -> None:
    status, output = quick_program(checkout, "pytest", "--rag-baseline", "base.json", "--rag-update-baseline")
    assert status == 0, output
    outcome = run(arguments="-m 'rag(topic=\"Visit\")' --rag-gate 'accuracy >= baseline - 0.05'", baseline="base.json")
    assert outcome.status == 0, outcome.output
    results = parse_json((Path(outcome.outputs["reports"]) / "results.json").read_text(encoding="utf-8"))
    assert {outcome["facets"]["topic"] for outcome in results["outcomes"]} == {"Visit"}
    assert [gate["baseline"] for gate in results["gates"] if "baseline" in gate["expr"]] == [1.0]


def test_a_folder_below_the_checkout(run: Run, checkout: Path) -> None:
    inner = checkout / "services" / "desk"
    inner.mkdir(parents=True)
    for name in ("tests", "pytest.ini"):
        shutil.move(checkout / name, inner / name)
    outcome = run(install="pwd > where", working_directory="services/desk")
    assert outcome.status == 0, outcome.output
    assert (inner / "where").is_file()
    assert (inner / ".rageval").is_dir()


def test_a_run_without_a_report_says_so_in_the_summary(run: Run, checkout: Path) -> None:
    (checkout / "tests" / "cases.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    outcome = run(comment="true", github=PULL)
    assert outcome.status == 4
    assert "tests/cases.jsonl:1" in outcome.output
    assert summary_of(outcome) == "pytest wrote no RAG report (exit status 4); the log of the step says why."
    assert "pytest wrote no report, so there is nothing to comment" in outcome.output


def test_no_shell_runs_the_arguments(run: Run, checkout: Path) -> None:
    outcome = run(
        arguments="tests ; touch pwned && touch pwned $(touch pwned) `touch pwned` > pwned", artifact="; touch pwned"
    )
    assert outcome.status == 4, outcome.output
    assert not (checkout / "pwned").exists()


def test_arguments_that_are_not_quoted_well_are_one_sentence(run: Run) -> None:
    outcome = run(arguments="-k 'visit")
    assert (outcome.status, outcome.ran) == (1, ["Set up Python", "Test"])
    assert outcome.output == "::error::the input arguments is not quoted as in a shell: No closing quotation\n"


@pytest.mark.parametrize("path", [ACTION, *ROOT.glob("**/.github/workflows/*.yml")], ids=lambda path: path.parent.name)
def test_no_expression_stands_in_a_script(path: Path) -> None:
    """What GitHub puts in place of an expression inside a script is run as a part of it.

    The number of a matrix is no one's text.
    """
    yaml = pytest.importorskip("yaml")
    text = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = [text["runs"]] if "runs" in text else text["jobs"].values()
    scripts = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script.replace("${{ matrix.", "")


def test_the_default_installation_names_extras_that_exist(action: Any) -> None:
    assert action["inputs"]["install"]["default"] == 'python -m pip install "pytest-rageval[html]"'
    assert '\nhtml = ["jinja2' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_page_lists_the_inputs_with_their_defaults(action: Any) -> None:
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    rows = [re.findall(r"`([^`]*)`", row)[:2] for row in re.findall(r"^\| (`.*?` \|.*?)\|", page, re.MULTILINE)]
    defaults = {name: declared["default"] for name, declared in action["inputs"].items() if name != "token"}
    assert {name: default for name, *others in rows for default in others or [""] if name != "token"} == defaults
    workflow = pytest.importorskip("yaml").safe_load(page.split("```yaml\n")[1].partition("```")[0])
    [inputs] = [step["with"] for step in workflow["jobs"]["rag"]["steps"] if "rageval@" in step["uses"]]
    assert set(inputs) <= set(action["inputs"])


PULL = {
    "repository": "org/town",
    "event.pull_request.number": "7",
    "event.pull_request.head.repo.full_name": "org/town",
}


@pytest.mark.skipif(not shutil.which("jq"), reason="jq finds the comment")
@pytest.mark.parametrize(
    ("comments", "gh_call"),
    [
        (OTHERS, "api --silent repos/org/town/issues/7/comments -F body=@"),
        ([*OTHERS, OURS, OTHERS[0]], "api --silent --method PATCH repos/org/town/issues/comments/3 -F body=@"),
    ],
    ids=["a new comment", "the earlier comment"],
)
def test_the_report_becomes_one_comment(
    run: Run, checkout: Path, tmp_path: Path, comments: list[Any], gh_call: str
) -> None:
    break_gate(checkout)
    log, env = fake_gh(tmp_path, checkout, comments)
    outcome = run(comment="true", github=PULL, env=env)
    assert (outcome.status, outcome.ran[-1]) == (1, "Comment on the pull request"), outcome.output
    list_call, write_call = log.read_text(encoding="utf-8").splitlines()
    assert list_call.startswith("api --paginate repos/org/town/issues/7/comments --jq ")
    assert write_call == f"{gh_call}{outcome.outputs['reports']}/rag.md"


@pytest.mark.parametrize(
    ("comment", "github"),
    [
        ("false", PULL),
        ("true", {"repository": "org/town"}),
        ("true", {**PULL, "event.pull_request.head.repo.full_name": "fork/town"}),
    ],
    ids=["not asked for", "a push", "a fork"],
)
def test_other_runs_comment_nothing(run: Run, comment: str, github: dict[str, str]) -> None:
    outcome = run(comment=comment, github=github, arguments="--version")
    assert (outcome.status, outcome.ran) == (0, ["Set up Python", "Test", "Upload the reports"]), outcome.output


def test_a_comment_that_fails_is_a_warning(run: Run, checkout: Path, tmp_path: Path) -> None:
    log, env = fake_gh(tmp_path, checkout, [], "#!/bin/sh\necho HTTP 403 >&2; exit 1")
    outcome = run(comment="true", github=PULL, env=env)
    assert (outcome.status, outcome.ran[-1], log.exists()) == (0, "Comment on the pull request", False)
    why = "the comment was not posted; the job needs the permission pull-requests: write"
    assert outcome.output.endswith(f"HTTP 403\n::warning::{why}\n")


def fake_gh(folder: Path, checkout: Path, comments: list[Any], script: str = GH) -> tuple[Path, dict[str, str]]:
    """Return the log of a stand-in for gh, and the environment that finds it."""
    programs, log = folder / "programs", folder / "gh.log"
    programs.mkdir()
    (programs / "gh").write_text(script, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    (checkout / "comments.json").write_text(json.dumps(comments), encoding="utf-8")
    return log, {"GH_LOG": str(log), "PATH": f"{programs}{os.pathsep}{clean_environment()['PATH']}"}
