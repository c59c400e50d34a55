"""``rageval export``: a run in other formats."""

from __future__ import annotations

import csv
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.samples.run_samples_stored import (
    FORMULA,
    PLAIN,
    STARTED,
    stored_run,
    take,
    write_results,
    write_stored_run,
)

from pytest_rageval.cli import main
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.export.outcome_table import outcome_table
from pytest_rageval.report.files.results_json import schema
from pytest_rageval.report.run.run import Run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    write_stored_run(tmp_path / "results.json")
    return tmp_path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_row_is_a_case_of_a_system(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "results.json", "--as", "csv", "--out", "out/cases.csv"]) == 0
    assert capsys.readouterr().out.startswith("out/cases.csv: csv of run r1, started ")
    q2, q1, q3 = rows(project / "out" / "cases.csv")
    assert (q2["case_id"], q2["system"], q2["status"], q2["facet.topic"]) == ("q2", "mine", "scored", "A")
    assert (q2["score.accuracy"], q2["score.token_f1"], q2["reason.token_f1"]) == ("1.0", "", "not_applicable")
    assert "reason.accuracy" not in q2  # the column is absent because each accuracy has a value or an error
    assert (q1["status"], q1["error_type"], q1["score.accuracy"]) == ("error", "system_error", "")
    assert (q3["score.token_f1"], q3["usage.cost_usd"], q3["facet.noise_rate"]) == ("-0.5", "0.25", "")
    assert q3["answer"] == f"'{FORMULA}"  # a spreadsheet shows it as text and does not run it


def test_missing_texts_have_no_column(project: Path) -> None:
    write_stored_run(project / "bare.json", texts=False)
    assert main(["export", "bare.json", "--as", "csv", "--out", "bare.csv"]) == 0
    assert "answer" not in rows(project / "bare.csv")[0]
    assert "§" not in (project / "bare.csv").read_text(encoding="utf-8")


def test_pandas_reads_the_outcomes(project: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas, of the extra dev, is not installed")
    assert main(["export", "results.json", "--as", "csv", "--out", "cases.csv"]) == 0
    frame = pandas.read_csv("cases.csv")
    assert frame.groupby("testbed")["score.token_f1"].mean()["test_a.py::test_plain"] == -0.5
    assert list(frame["score.accuracy"].notna()) == [True, False, False]


def test_pandas_can_rebuild_the_matrix_from_the_outcomes(project: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas, of the extra dev, is not installed")
    run = stored_run()
    each, dice = run.outcomes[f"{PLAIN}[q3]"], random.Random(1)
    for number in range(40):
        facets = {"topic": dice.choice(["NA", "Funds", "\uff1dx", "债券"]), "task": dice.choice("ab")}
        score = Score(dice.random()) if number % 7 else Score(reason="not_applicable")
        take(run, replace(each, nodeid=f"{PLAIN}[{number}]", facets=facets, scores={"token_f1": score}))
    for outcome in list(run.outcomes.values())[:3]:
        del run.outcomes[outcome.nodeid], run.plan.cases[outcome.nodeid]
    write_results(run, project / "results.json")
    assert main(["export", "results.json", "--as", "csv", "--out", "cases.csv"]) == 0
    frame = pandas.read_csv("cases.csv", keep_default_na=False, na_values=[""])
    assert (
        frame["nodeid"].str.startswith(PLAIN).all()
    )  # the byte order mark for Excel is not part of the first column name
    pivoted = frame.pivot_table("score.token_f1", "facet.topic", "facet.task")
    (matrix,) = json.loads((project / "results.json").read_text(encoding="utf-8"))["matrices"]
    assert matrix["rows"] == ["Funds", "NA", "债券", "\uff1dx"]
    for row, cells in zip(matrix["rows"], matrix["cells"], strict=True):
        line = pivoted.loc["'\uff1dx" if row == "\uff1dx" else row]
        assert [line[col] for col in matrix["cols"]] == pytest.approx([cell["mean"] for cell in cells])


def test_numeric_facets_are_exported_as_numbers(project: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow, of the extra parquet, is not installed")
    run = stored_run()
    each = run.outcomes[f"{PLAIN}[q3]"]
    for number, (passages, rate, name) in enumerate((("10", "0", "7"), ("5", "0.4", "007"), ("-1", "1e3", "x"))):
        facets = {"passages": passages, "noise_rate": rate if number < 2 else "1.0", "name": name, "odd": rate}
        scores = {"token_f1": Score(number / 4)}
        take(run, replace(each, nodeid=f"{PLAIN}[{number}]", facets=facets, scores=scores))
    write_results(run, project / "results.json")
    for name in ("parquet", "csv"):
        assert main(["export", "results.json", "--as", name, "--out", f"cases.{name}"]) == 0
    table = parquet.read_table("cases.parquet", use_threads=False)
    columns = {
        name: table.column(f"facet.{name}").to_pylist()[3:] for name in ("passages", "noise_rate", "name", "odd")
    }
    assert columns == {
        "passages": [10, 5, -1],
        "noise_rate": [0.0, 0.4, 1.0],
        "name": ["7", "007", "x"],
        "odd": ["0", "0.4", "1e3"],
    }
    assert [row["facet.passages"] for row in rows(project / "cases.csv")[3:]] == ["10", "5", "-1"]


@pytest.mark.parametrize("values", [("1.1", "1.10"), ("0", "-0"), ("1", "1.0"), ("0.4", "+0.4")])
def test_different_texts_of_the_same_number_stay_different(values: tuple[str, str]) -> None:
    outcome: dict[str, Any] = {"scores": {}, "answer": None} | dict.fromkeys(
        ("nodeid", "case_id", "testbed", "system", "status"), "x"
    )
    outcome |= {"error_type": None, "error": None}
    table = outcome_table([{**outcome, "facets": {"version": value}} for value in values])
    at = [column.name for column in table.columns].index("facet.version")
    assert [row[at] for row in table.rows] == list(values)


def test_a_nul_in_an_answer_is_escaped(project: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas, of the extra dev, is not installed")
    run = stored_run()
    each = run.outcomes[f"{PLAIN}[q3]"]
    take(run, replace(each, answer=Answer("before\0behind")))
    write_results(run, project / "results.json")
    assert main(["export", "results.json", "--as", "csv", "--out", "cases.csv"]) == 0
    assert list(pandas.read_csv("cases.csv")["answer"])[2] == "before\\x00behind"


def test_parquet_has_types_and_unchanged_texts(project: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow, of the extra parquet, is not installed")
    assert main(["export", "results.json", "--as", "parquet", "--out", "cases.parquet"]) == 0
    table = parquet.read_table("cases.parquet", use_threads=False)
    assert [row["answer"] for row in table.to_pylist()][2] == FORMULA
    assert str(table.schema.field("score.token_f1").type) == "double"
    assert str(table.schema.field("usage.prompt_tokens").type) == "int64"
    assert table.column("score.accuracy").to_pylist() == [1.0, None, None]


def test_parquet_without_pyarrow_names_the_extra(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["export", "results.json", "--as", "parquet", "--out", "cases.parquet"]) == 2
    message = "--as parquet needs an optional dependency: pip install 'pytest-rageval[parquet]'"
    assert message in capsys.readouterr().err
    assert not (project / "cases.parquet").exists()


def test_latex_contains_the_matrices_and_escapes_commands(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    assert main(["export", "results.json", "--as", "latex", "--out", "-"]) == 0
    text = capsys.readouterr().out
    assert text.count("\\begin{tabular}{lr") == text.count("\\bottomrule") == 2
    assert "% token_f1 by topic x task\n% mean (n); * < 5 cases; +k unscored\n" in text
    (line,) = [line for line in text.splitlines() if "50\\%" in line]
    assert [cell.strip() for cell in line.removesuffix("\\\\").split("&")][-1] == "-0.50 (1)*"
    assert "\\&" in line
    assert "\\textbackslash{}input\\{x\\}\\_1" in line


def test_latex_escapes_labels_that_look_like_options_and_has_the_gains(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    run = Run(STARTED)
    each = stored_run().outcomes[f"{PLAIN}[q3]"]
    for topic in ("[x]", "* y", "z"):
        scores = {"accuracy": Score(1.0), "closed_book_accuracy": Score(0.0)}
        take(run, replace(each, facets={"topic": topic}, nodeid=f"{PLAIN}[{topic}]", scores=scores))
    write_results(run, project / "results.json")
    assert main(["export", "results.json", "--as", "latex"]) == 0
    text = capsys.readouterr().out
    assert [line.split("&")[0].strip() for line in text.splitlines() if "&" in line][1:4] == ["{}* y", "{}[x]", "z"]
    assert "% accuracy - closed_book_accuracy by topic" in text


def test_json_is_the_results_with_sorted_keys(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from jsonschema import Draft202012Validator

    before = json.loads((project / "results.json").read_text(encoding="utf-8"))
    assert main(["export", "results.json", "--as", "json", "--out", "-"]) == 0
    text = capsys.readouterr().out
    exported: dict[str, Any] = json.loads(text)
    assert exported == before
    assert list(exported) == sorted(before)
    Draft202012Validator(schema()).validate(exported)


@pytest.mark.parametrize("kind", ["empty", "errors", "interrupted", "five systems"])
def test_any_run_can_be_written(project: Path, kind: str) -> None:
    run = stored_run()
    each = run.outcomes[f"{PLAIN}[q3]"]
    expected = {"empty": 0, "errors": 1, "interrupted": 3, "five systems": 5}[kind]
    if kind in ("empty", "errors"):
        run = Run(STARTED)
    if kind == "errors":
        take(run, replace(each, status="error", answer=None, scores={}, error="gone", error_type="timeout"))
    if kind == "five systems":
        run = Run(STARTED)
        take(run, *(replace(each, system=f"s{n}", nodeid=f"{each.nodeid}-{n}") for n in range(5)))
    run.interrupted = kind == "interrupted"
    run.evaluate_gates()
    write_results(run, project / "any.json")
    for name in ("csv", "latex", "json"):
        assert main(["export", "any.json", "--as", name, "--out", f"any-again.{name}"]) == 0
    assert len(rows(project / "any-again.csv")) == expected
    assert len({row["system"] for row in rows(project / "any-again.csv")}) == {"empty": 0, "five systems": 5}.get(
        kind, 1
    )
    tables = (project / "any-again.latex").read_text(encoding="utf-8").count("\\toprule")
    assert tables == {"empty": 0, "errors": 1, "interrupted": 2, "five systems": 9}[kind]


@pytest.mark.parametrize("name", ["parquet", "html", "traces"])
def test_some_formats_are_not_printed(project: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["export", "results.json", "--as", name, "--out", "-"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert f"--as {name} cannot be printed; give --out a path" in err


@pytest.mark.parametrize("name", ["parquet", "html"])
def test_files_have_the_name_of_their_run(project: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow, of the extra parquet, is not installed")
    assert main(["export", "results.json", "--as", name]) == 0
    assert capsys.readouterr().out.startswith(f"r1.{name}: {name} of run r1, started ")
    assert (project / f"r1.{name}").stat().st_size


def test_an_unknown_format_gets_a_suggestion(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, right in (("htm", "html"), ("Markdwon", "markdown")):
        with pytest.raises(SystemExit):
            main(["export", "results.json", "--as", wrong])
        last = capsys.readouterr().err.splitlines()[-1]
        assert last == f"rageval export: error: unknown value of --as {wrong!r}; did you mean {right!r}?"


def test_a_terminal_gets_no_control_characters(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored_run()
    each = run.outcomes[f"{PLAIN}[q3]"]
    assert each.answer is not None
    take(run, replace(each, answer=replace(each.answer, text="a\x1b[31m\u202eb")))
    write_results(run, project / "marked.json")
    assert main(["export", "marked.json", "--as", "csv", "--out", "-"]) == 0
    assert "a\x1b[31m\u202eb" in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", "marked.json", "--as", "csv", "--out", "-"]) == 0
    assert "a\\x1b[31m\\u202eb" in capsys.readouterr().out


def test_an_unwritable_path_is_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "file").write_text("")
    assert main(["export", "results.json", "--as", "csv", "--out", "file/cases.csv"]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["csv", "html", "json", "latex", "markdown", "parquet"])
def test_half_of_a_surrogate_pair_is_written_as_its_escape(project: Path, name: str) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow, of the extra parquet, is not installed")
    text = (project / "results.json").read_text(encoding="utf-8")
    (project / "odd.json").write_text(text.replace("§ Paris", "\\ud83d\\ude00 \\ud800"), encoding="utf-8")
    assert main(["export", "odd.json", "--as", name, "--out", "out"]) == 0
    if name == "csv":
        assert rows(project / "out")[0]["answer"] == "\U0001f600 \\ud800"


@pytest.mark.parametrize("missing", [("started",), ("path", "run", "started", "same_fingerprint")])
def test_a_page_is_written_from_results_with_an_incomplete_baseline(
    project: Path, fixtures_dir: Path, missing: tuple[str, ...]
) -> None:
    results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    started = results["baseline"]["run"]["started"]
    for name in missing:
        del results["comparison"]["baseline"][name]
    (project / "old.json").write_text(json.dumps(results), encoding="utf-8")
    assert main(["export", "old.json", "--as", "html", "--out", "old.html"]) == 0
    assert f"started {started}" in (project / "old.html").read_text(encoding="utf-8")
    del results["baseline"]
    (project / "old.json").write_text(json.dumps(results), encoding="utf-8")
    assert main(["export", "old.json", "--as", "html", "--out", "old.html"]) == 0
    assert "Compared with " in (project / "old.html").read_text(encoding="utf-8")


def test_results_of_another_schema_are_not_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (project / "results.json").read_text(encoding="utf-8")
    (project / "new.json").write_text(text.replace('"schema": 1', '"schema": 2'), encoding="utf-8")
    for arguments in (["show", "new.json"], ["export", "new.json", "--as", "csv", "--out", "out.csv"]):
        assert main(arguments) == 2
        assert "has schema 2, but this version reads schema 1; update" in capsys.readouterr().err
