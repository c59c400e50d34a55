"""``--rag-html`` writes a page of the run, with and without xdist, or reports why it cannot."""

from __future__ import annotations

import gzip
import json
import re
import sys
from base64 import b64decode
from typing import Any

import pytest
from support.projects.rag_project import RAISES, RIGHT, SAYS, WRONG, Mode, Project, cases

PRINTS_JINJA2 = """
    def pytest_unconfigure(config):
        import sys
        print("jinja2 is here" if "jinja2" in sys.modules else "jinja2 is not here")
"""
GATES = "gates=['accuracy >= 0.5']"


def parcels(project: Project, name: str = "page.html") -> dict[str, Any]:
    """Return the data of the page: name of a parcel -> its content."""
    text = (project.path / name).read_text(encoding="utf-8")
    matches = re.findall(r'<script type="application/octet-stream" id="data-([\w-]+)">([\w+/=]*)</script>', text)
    return {name: json.loads(gzip.decompress(b64decode(packed))) for name, packed in matches}


def test_the_page_holds_what_results_json_holds(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG, RAISES, RIGHT), GATES)
    run = project.run(*mode, "--rag-html", "out/page.html")
    assert run.status == 1  # one case is an error
    data = parcels(project, "out/page.html")
    assert data["outcomes-0"] == run.results["outcomes"]
    assert data["instances-0"] == list(run.results["instances"].values())
    assert data["columns"]["columns"]["nodeid"] == [each["nodeid"] for each in run.results["outcomes"]]
    first, second, error, last = data["answers"]
    assert (first, second, last) == ("Paris", "Rome", "Paris")
    assert error.startswith("system_error\nsystem 'rag_system' failed on case 'q3'")
    assert [path.name for path in (project.path / "out").iterdir()] == ["page.html"]


def test_texts_are_left_out_of_the_page_on_request(project: Project) -> None:
    project.says(cases("say xyzzy", "raise xyzzy", gold="xyzzy"))
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    run = project.run("--rag-html", "page.html")
    assert set(run.statuses.values()) == {"scored", "error"}
    data = parcels(project)
    assert "xyzzy" not in json.dumps(data)
    assert "xyzzy" not in (project.path / "page.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_fails_the_session(project: Project) -> None:
    project.says(cases(RIGHT), GATES)
    run = project.run("--rag-html", "test_it.py/page.html")
    assert run.status == 1
    run.said("*warning: *page.html*could not be written: *")
    assert run.gates["accuracy >= 0.5"]["status"] == "passed"


def test_a_folder_as_target_and_a_missing_jinja2_are_refused_before_any_test_runs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.says(cases(RIGHT))
    (project.path / "folder").mkdir()
    run = project.run("--rag-html", "folder")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "--rag-html names the directory 'folder'; name a file" in run.result.stderr.str()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    run = project.run("--rag-html", "page.html")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    message = "an HTML report needs an optional dependency: pip install 'pytest-rageval[html]'"
    assert message in run.result.stderr.str()
    assert run.results is None


def test_jinja2_is_imported_only_for_a_page(project: Project) -> None:
    project.says(cases(RIGHT), conftest=SAYS + PRINTS_JINJA2)
    assert "jinja2 is not here" in project.run(subprocess=True).text
    assert "jinja2 is here" in project.run("--rag-html", "page.html", subprocess=True).text
