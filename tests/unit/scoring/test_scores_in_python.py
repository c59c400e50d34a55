"""`rag.score` in a script, and the commands that accept a folder of scores instead of a run."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pytest_rageval as rag
from pytest_rageval.cli import main
from pytest_rageval.report.files.results_json import schema

CASES = [
    {"id": f"q{at}", "question": "Capital?", "answers": ["Paris"], "topic": ("Fares", "Funds")[at % 2]}
    for at in range(12)
]


def answers(system: str = "a", wrong: int = 3) -> list[dict[str, Any]]:
    return [{"id": f"q{at}", "system": system, "answer": "Rome" if at < wrong else "Paris"} for at in range(12)]


def test_lists_are_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scores = rag.score(CASES, answers(), metrics=["accuracy", "token_f1"], gates=["accuracy >= 0.8"], jobs=1)
    assert scores.mean("accuracy") == 0.75
    assert scores.mean("accuracy", topic="Fares") == pytest.approx(4 / 6)
    assert (scores.cell("token_f1", topic="Funds").n, scores.cell("token_f1", topic="Funds").mean) == (6, 5 / 6)
    assert [(str(gate.gate), gate.status, gate.value) for gate in scores.gates] == [("accuracy >= 0.8", "failed", 0.75)]
    assert not scores.passed
    frame = scores.to_pandas()
    assert list(frame["score.accuracy"]) == [row.get("score.accuracy") for row in scores.rows()]
    assert len(frame) == 12
    assert list(tmp_path.iterdir()) == []  # nothing is written without `out`


def test_values_shared_by_outcomes_are_read_only() -> None:
    scores = rag.score(CASES, answers(), metrics=["accuracy"], jobs=1)
    for shared in (scores.outcomes[0].facets, scores.outcomes[0].scores):
        with pytest.raises(TypeError, match="several cases share this dict"):
            shared["topic"] = "x"  # type: ignore[index]
    assert scores.mean("accuracy") == 0.75


def test_iterators_are_read_once(tmp_path: Path) -> None:
    def stream() -> Iterator[dict[str, Any]]:
        yield from answers()

    scores = rag.score(iter(CASES), stream(), metrics=["accuracy"], jobs=1, out=tmp_path / "scores")
    assert scores.mean("accuracy") == 0.75
    assert scores.folder == tmp_path / "scores"


def test_ambiguous_or_unknown_arguments_are_refused() -> None:
    scores = rag.score(CASES, [*answers("a"), *answers("b")], metrics=["accuracy"], jobs=1)
    assert scores.mean("accuracy", system="b") == 0.75
    with pytest.raises(rag.SettingError, match="systems are not averaged"):
        scores.mean("accuracy")
    with pytest.raises(rag.SettingError, match="no case has topic=Fees"):
        scores.mean("accuracy", topic="Fees")
    with pytest.raises(rag.SettingError, match="unknown metric 'acuracy'"):
        scores.mean("acuracy")
    with pytest.raises(rag.SettingError, match=r"answers\[1\] is 'x'; give records as mappings"):
        rag.score(CASES, [answers()[0], "x"], metrics=["accuracy"], jobs=1)  # type: ignore[arg-type]
    with pytest.raises(rag.SettingError, match=r"cases\[0\] cannot be written as JSON"):
        rag.score([{"id": {1}}], answers(), metrics=["accuracy"], jobs=1)


def test_a_script_without_a_guard_scores_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"""
from pytest_rageval.scoring import split
split.CHUNK_BYTES = 200
import sys
import pytest_rageval as rag
scores = rag.score({CASES!r}, {answers()!r}, metrics=["accuracy"], jobs=2)
print(scores.mean("accuracy"), "pytest" in sys.modules)
"""
    (tmp_path / "script.py").write_text(script)
    result = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "0.75 False\n"


@pytest.fixture
def score_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with the scores `old` and `new`."""
    monkeypatch.chdir(tmp_path)
    plain: dict[str, Any] = {"metrics": ["accuracy"], "jobs": 1}
    rag.score(CASES, answers(), out="old", gates=["accuracy >= 0.1"], **plain)
    rag.score(CASES, answers(wrong=0), out="new", baseline="old", gates=["accuracy >= baseline", "n >= 3"], **plain)
    return tmp_path


def test_show_prints_the_summary_and_exports_the_rows(score_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "new"]) == 0
    text = capsys.readouterr().out
    assert (score_folder / "new" / "summary.txt").read_text() in text
    assert "PASSED  accuracy >= baseline" in text
    for name, file in (("csv", "rows.csv"), ("json", "results.json"), ("html", "page.html")):
        assert main(["export", "new", "--as", name, "--out", file]) == 0
    with (score_folder / "rows.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert [row["score.accuracy"] for row in csv.DictReader(stream)] == ["1.0"] * 12
    results = json.loads((score_folder / "results.json").read_text())
    import jsonschema

    jsonschema.validate(results, schema())
    assert [gate["expr"] for gate in results["gates"]] == ["n >= 3"]
    assert "accuracy >= baseline" in results["plan"]["notes"][0]  # the export lists gates that it cannot decide
    assert main(["export", "new", "--as", "traces", "--out", "traces"]) == 2
    assert "no answer of the run new has a trace" in capsys.readouterr().err


def test_compare_takes_folders_of_scores(score_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "old", "new", "--json"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    assert comparison["old"]["run"] == "old"
    assert main(["compare", "old", "new"]) == 0
    assert "12 cases compared" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["cut", "schema", "gone"])
def test_damaged_scores_are_reported_in_one_sentence(
    score_folder: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    part = next((score_folder / "old" / "cases").iterdir())
    if damage == "cut":
        part.write_bytes(part.read_bytes()[:30])
    elif damage == "schema":
        (score_folder / "old" / "manifest.json").write_text('{"schema": 99}')
    else:
        (score_folder / "old" / "manifest.json").write_text("{")
    assert main(["compare", "old", "new"]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "score the answers again into a new folder" in error
