"""``rageval show``: choice of the run, and errors for unreadable ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.codes import without_code

from pytest_rageval.cli import main

RESULTS = {
    "schema": 1,
    "run": {"id": "r", "started": "2026-01-02T03:04:05+00:00", "duration_s": 1.0, "versions": {}, "fingerprint": "",
            "interrupted": False},
    "testbeds": {"t.py::t": {"name": "t", "metrics": ["accuracy"], "gates": [], "generated": 1, "asserts": True,
                             "notes": ["a note"]}},
    "plan": {"metrics": {"accuracy": {"binary": True, "higher_is_better": True, "of": "answer", "downstream": True}},
             "session_gates": ["error_rate <= 0"], "unmatched_gates": [], "unselected": 2, "unfinished": {},
             "notes": [], "view": {"metric": None, "rows": None, "cols": None}},
    "instances": {}, "gates": [], "matrix": None, "matrices": [],
    "outcomes": [{"nodeid": "t.py::t[q]", "testbed": "t.py::t", "case_id": "q", "facets": {"topic": "Kettles"},
                  "system": "mine", "status": "scored", "answer": None, "scores": {"accuracy": {"value": 1.0}},
                  "supplied": [], "error": None, "error_type": None, "calls": None}],
    "usage": {"calls": 0, "replayed": 0, "attempts": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0,
              "spent_usd": 0.0},
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def store_run(root: Path, name: str, results: object = None) -> Path:
    """Create the folder of a run; without results the run was cut short."""
    folder = root / ".rageval" / "runs" / name
    folder.mkdir(parents=True)
    if isinstance(results, dict):
        results = json.dumps({**results, "run": {**results["run"], "id": name}})
    if isinstance(results, str):
        (folder / "results.json").write_text(results)
    return folder / "results.json"


def output_lines(capsys: pytest.CaptureFixture[str], *arguments: str, command: str = "show") -> list[str]:
    assert main([command, *arguments]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out.splitlines()


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str, command: str = "show") -> str:
    assert main([command, *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    (line,) = err.splitlines()
    return without_code(line)


def test_the_newest_run_is_shown_unless_one_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("20260102T030405-9", "20260102T030405-10", "20251231T000000"):
        store_run(project, name, RESULTS)
    newest, *lines = output_lines(capsys, "--full")
    assert newest == "run 20260102T030405-10, started 2026-01-02T03:04:05+00:00"
    assert lines[0] == "1 case: 1 scored, 0 errors, 2 not selected · system mine"
    rows = [line.split() for line in lines]
    assert ["Kettles", "1.00", "(1)*"] in rows
    assert ["PASSED", "error_rate", "<=", "0", "0", "n", "1", "[0.00,", "0.79]"] in rows
    assert "warning: t: a note" in lines
    assert "warning: t: a note" in output_lines(capsys)
    assert lines[-1].startswith("rag: the gate holds ")
    assert output_lines(capsys, "20251231T000000")[0].startswith("run 20251231T000000, ")


def test_a_file_is_shown_wherever_it_is(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "downloaded.json").write_text(json.dumps({**RESULTS, "run": {**RESULTS["run"], "id": ""}}))  # type: ignore[dict-item]
    assert output_lines(capsys, "downloaded.json")[0].startswith("run downloaded.json, started ")


def test_a_missing_run_is_one_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys).endswith(f"no run under {project / '.rageval' / 'runs'} yet; run the tests first")
    store_run(project, "r1")
    for arguments in ([], ["r1"], [".rageval/runs/r1"]):
        assert "the run r1 has no results.json: cut short or still running; name" in error_of(capsys, *arguments)
    assert f"the run r9 is not under {project / '.rageval' / 'runs'}; name" in error_of(capsys, "r9")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"run": {', json.dumps({**RESULTS, "plan": None}), '"\\ud800', "\ud800"]
)
def test_a_foreign_file_is_one_sentence(text: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store_run(project, "r1")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert error_of(capsys) == (
        f"rageval: {path} is not a results.json that this version can read: "
        "it is truncated or has another version; name another run or file"
    )


def changed(*path: Any, to: object) -> str:
    """Return the results with one value changed."""
    results: Any = json.loads(json.dumps(RESULTS))
    part = results
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return json.dumps(results)


@pytest.mark.parametrize(
    "text",
    [
        changed("outcomes", 0, "facets", "topic", to=3),
        changed("testbeds", "t.py::t", "metrics", to=None),
        changed("testbeds", "t.py::t", "metrics", to=[[]]),
        changed("run", "duration_s", to=1e308),
        changed("usage", "calls", to=None),
        changed("outcomes", 0, "system", to=1.0),
        changed("plan", "notes", to=[[1]]),
        changed("usage", "cost_usd", to=float("nan")),
        changed("usage", "cost_usd", to=0.25).replace("0.25", "1e400"),
        changed("outcomes", 0, "said", to={"": ""}),
        changed("outcomes", 0, "status", to=[]),
        changed("outcomes", 0, "scores", "accuracy", "value", to=True),
        changed("outcomes", 0, "scores", "accuracy", "value", to=1e308),
        changed("instances", to={"q": {"evidence": [{"page": "p", "span": [0, 0.5]}]}}),
        changed("plan", "session_gates", to={"accuracy >= 1": 0}),
        changed("run", "versions", to="deep").replace('"deep"', "[" * 3000 + "]" * 3000),
        changed("run", "versions", to="deep").replace('"deep"', '{"a":' * 150 + "1" + "}" * 150),
    ],
)
def test_a_value_of_the_wrong_type_is_one_sentence(
    text: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = store_run(project, "r1")
    path.write_text(text)
    assert error_of(capsys).startswith(f"rageval: {path} is not a results.json that this version can read: ")


def test_it_starts_without_pytest_or_numpy(project: Path) -> None:
    store_run(project, "r1", RESULTS)
    script = (
        "import sys; from pytest_rageval.cli import main; status = main(['show'])\n"
        "print(*sorted(sys.modules.keys() & {'pytest', '_pytest', 'numpy', 'asyncio', 'litellm'})); sys.exit(status)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == ""


def test_a_page_is_exported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = store_run(project, "20260102T030405", RESULTS)
    page = project / "out" / "page.html"
    assert output_lines(capsys, "--as", "html", "--out", str(page), command="export") == [
        f"{page}: html of run 20260102T030405, started 2026-01-02T03:04:05+00:00"
    ]
    html = page.read_text(encoding="utf-8")
    assert "Nothing failed, and there is no gate" in html
    assert output_lines(capsys, str(stored), "--as", "html", "--out", str(page), command="export")
    assert page.read_text(encoding="utf-8") == html


def test_a_page_that_cannot_be_exported_is_one_sentence(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(project, "20260102T030405", RESULTS)
    html = ("--as", "html", "--out")
    folder = error_of(capsys, *html, str(project), command="export")
    assert folder.startswith(f"rageval: --out {project} cannot be written: ")
    store_run(project, "20260102T030406", {**RESULTS, "gates": [{"expr": "accuracy >= 1"}]})
    assert "its results.json is incomplete" in error_of(capsys, *html, "page.html", command="export")
    assert not (project / "page.html").exists()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    expected = "rageval: an HTML report needs an optional dependency: pip install 'pytest-rageval[html]'"
    assert error_of(capsys, *html, "page.html", command="export") == expected


def test_a_format_is_sent_to_the_command_that_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", "latest", "--html", "page.html"])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "rageval show: error: unknown option '--html'; rageval export RUN --as html writes this format"
