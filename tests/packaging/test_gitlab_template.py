"""The template for GitLab: its lines run in a shell, and write the artifacts that it names, whatever failed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.projects.installed_programs import QuickProgram, run_program

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / ".gitlab" / "rageval.yml"
PAGE = ROOT / "docs" / "how-to" / "gitlab.md"

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="bash runs the lines")


@pytest.fixture
def job() -> Any:
    return pytest.importorskip("yaml").safe_load(TEMPLATE.read_text(encoding="utf-8"))[".rageval"]


@pytest.fixture
def checkout(tmp_path: Path, quick_program: QuickProgram) -> Path:
    assert quick_program(tmp_path, "rageval", "init")[0] == 0
    return tmp_path


def run_job(job: Any, checkout: Path, **variables: str) -> tuple[int, str]:
    """Run script and after_script, each in a shell of its own, as GitLab does; return the status of the first."""
    env = {**job["variables"], **variables}
    outcomes = [
        run_program(checkout, "bash", "-eo", "pipefail", "-c", "\n".join(job[part]), env=env)
        for part in ("script", "after_script")
    ]
    return outcomes[0][0], outcomes[0][1] + outcomes[1][1]


def test_a_green_job_leaves_its_reports(job: Any, checkout: Path) -> None:
    status, output = run_job(job, checkout)
    assert status == 0, output
    [folder], reports = job["artifacts"]["paths"], job["artifacts"]["reports"]
    assert sorted(path.name for path in (checkout / folder).iterdir()) == [
        "codequality.json", "junit.xml", "rag.html", "rag.md", "results.json",
    ]  # fmt: skip
    assert json.loads((checkout / reports["codequality"]).read_text(encoding="utf-8")) == []


def test_a_failed_gate_is_in_each_report(job: Any, checkout: Path) -> None:
    status, output = run_job(job, checkout, RAG_ARGUMENTS="--rag-gate token_f1>=0.99")
    assert status == 1, output
    assert job["artifacts"]["when"] == "always"
    reports = job["artifacts"]["reports"]
    [entry] = json.loads((checkout / reports["codequality"]).read_text(encoding="utf-8"))
    assert entry["description"].startswith("gate token_f1 >= 0.99")
    [suite] = ElementTree.parse(checkout / reports["junit"]).getroot()  # noqa: S314 - we wrote it
    assert (suite.get("tests"), suite.get("failures")) == ("9", "1")


def test_a_gate_of_a_testbed_is_shown_at_its_line(job: Any, checkout: Path) -> None:
    suite = checkout / "tests" / "rag.rag.toml"
    suite.write_text(suite.read_text(encoding="utf-8").replace("accuracy >= 0.5", "token_f1 >= 0.99"), encoding="utf-8")
    assert run_job(job, checkout)[0] == 1
    [entry] = json.loads((checkout / job["artifacts"]["reports"]["codequality"]).read_text(encoding="utf-8"))
    assert entry["location"] == {"path": "tests/rag.rag.toml", "lines": {"begin": 1}}


def test_variables_are_split_and_not_run(job: Any, checkout: Path) -> None:
    status, output = run_job(job, checkout, RAG_ARGUMENTS="tests ; touch pwned $(touch pwned)")
    assert status == 4, output
    assert not (checkout / "pwned").exists()


def test_the_job_installs_extras_that_exist(job: Any) -> None:
    assert job["before_script"] == ['python -m pip install "pytest-rageval[html]"']


def test_the_page_extends_the_template(job: Any) -> None:
    yaml = pytest.importorskip("yaml")
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    page = yaml.safe_load(text)
    assert page["include"] == [{"local": TEMPLATE.relative_to(ROOT).as_posix()}]
    assert page["rag"]["extends"] == ".rageval"
    assert set(page["rag"]) - {"extends"} <= set(job)
    assert set(page["rag"]["variables"]) == set(job["variables"])
