"""``rageval agreement --sample`` and ``--training``: sheets for people, conversations for a judge."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.samples.labelled_runs import error_of, outcome_of, output_of, write_labels, write_run

from pytest_rageval.datasets.sheets import read_sheet

JUDGED_METRIC = "rejection_rate_judged"
RUN = [
    outcome_of(f"q{at}", "-1 = no" if at == 3 else "", system, accuracy=float(at % 2), **{JUDGED_METRIC: 1.0})
    for at in range(10)
    for system in ("one", "two")
]


POLITE_CONFTEST = """
from pytest_rageval import PromptedJudge

def pytest_rageval_register(registry):
    registry.judges.register("polite", PromptedJudge("polite", "How polite is it?", scale=(1, 5)))
"""
COMMAND = "import sys; from pytest_rageval.cli import main; sys.exit(main(['agreement', *sys.argv[1:]]))"

FILES = ("labels.jsonl", "results.json")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_sheet_is_written_filled_and_read_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    output = output_of(capsys, "--sample", "20", "results.json", "--out", "sheet.csv")
    assert output == (
        "sheet.csv: 20 of 20 answers, of 10 cases\n"
        "Fill in the column label, then: rageval agreement sheet.csv results.json\n"
    )
    raw = (project / "sheet.csv").read_text(encoding="utf-8-sig")
    lines = list(csv.DictReader(raw.splitlines(keepends=True)))
    (dangerous,) = [line for line in lines if line["id"] == "q3" and line["system"] == "one"]
    assert dangerous["answer"] == "'-1 = no"
    assert dangerous["question"] == "'=What is q3?"
    assert dangerous["gold"] == "gold q3 | alias"
    assert dangerous["passages"] == "Title\nEvidence of q3."
    assert dangerous["history"] == "Hello?\nHi."
    assert dangerous["label"] == dangerous["rater"] == ""
    assert dangerous["instructions"].startswith("label: 1 = right, 0 = wrong")
    assert [line["id"] for line in lines] != sorted(line["id"] for line in lines)
    assert "accuracy" not in raw
    filled = [{**line, "label": str(int(line["id"][1:]) % 2)} for line in lines]
    with (project / "sheet.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, filled[0], delimiter=";")
        writer.writeheader()
        writer.writerows(filled)
    output = output_of(capsys, "sheet.csv", "results.json", "--metric", "accuracy", "--json")
    assert json.loads(output)["judges"][0]["agreement"]["confusion"] == [[10, 0], [0, 10]]


def test_the_sample_is_stratified_and_the_seed_decides_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        output_of(capsys, "--sample", "4", "results.json", "--out", f"{name}.jsonl", "--seed", seed)
    a, b, c = (json_lines(project / f"{name}.jsonl") for name in "abc")
    assert a == b
    assert a != c
    assert sorted(row["id"] >= "q5" for row in a) == [False, False, True, True]
    assert {row["label"] for row in a} == {None}


def test_people_get_the_instructions_of_the_judge(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [*RUN, outcome_of("r", **{JUDGED_METRIC: "not_applicable: no_passages"})])
    output = output_of(capsys, "--sample", "99", "results.json", "--out", "sheet.csv", "--metric", JUDGED_METRIC)
    assert output.splitlines() == [
        "sheet.csv: 20 of 20 answers, of 10 cases",
        f"Fill in the column label, then: rageval agreement sheet.csv results.json --metric {JUDGED_METRIC}",
    ]
    row = read_sheet(project / "sheet.csv")[0][1]
    assert row["metric"] == JUDGED_METRIC
    assert "Does the answer say that it cannot be given" in str(row["instructions"])
    assert "\nlabel: rejected - " in str(row["instructions"])


def test_labels_without_a_value_are_allowed_on_a_sheet(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [outcome_of(f"q{at}", completeness=at / 2) for at in range(3)])
    output = output_of(capsys, "--sample", "3", "results.json", "--out", "sheet.jsonl", "--metric", "completeness")
    rows = json_lines(project / "sheet.jsonl")
    labels = [line.split()[1] for line in rows[0]["instructions"].splitlines() if line.startswith("label: ")]
    assert labels == ["none", "some", "all", "not_applicable"]
    words = {"q0": "none", "q1": "Some", "q2": "not_applicable"}
    write_labels(project, *({**row, "label": words[row["id"]]} for row in rows))
    options = shlex.split(output.partition("rageval agreement sheet.jsonl ")[2])
    text = output_of(capsys, "labels.jsonl", *options)
    assert "1 row without a label, or with a label without a value" in text
    assert ["people", "\\", "completeness", "0", "0.5", "1"] in [line.split() for line in text.splitlines()]


def test_training_conversations_are_split_by_case(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    rows = [{"id": f"q{at}", "system": system, "label": at % 2} for at in range(10) for system in ("one", "two")]
    labels = write_labels(project, *rows)
    arguments = (labels, "results.json", "--metric", JUDGED_METRIC, "--training")
    assert output_of(capsys, *arguments, "t") == (
        "20 labels of 20 answers to 10 cases\n"
        "t/train.jsonl: 10 labels of 5 cases\n"
        "t/dev.jsonl: 2 labels of 1 case\n"
        "t/test.jsonl: 8 labels of 4 cases\n"
    )
    output_of(capsys, *arguments, "again")
    parts = {name: json_lines(project / "t" / f"{name}.jsonl") for name in ("train", "dev", "test")}
    assert parts == {name: json_lines(project / "again" / f"{name}.jsonl") for name in parts}
    prompts = {name: {row["messages"][1]["content"] for row in part} for name, part in parts.items()}
    assert sum(map(len, prompts.values())) == len(set().union(*prompts.values())) == 10
    message = next(row["messages"] for part in parts.values() for row in part if "> It is q7." in str(row))
    assert [each["role"] for each in message] == ["system", "user", "assistant"]
    assert message[0]["content"].startswith("You judge the answer that a question answering system gave.")
    assert json.loads(message[2]["content"]) == {"reason": "", "label": "rejected"}


def test_no_part_is_written_if_one_exists(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    labels = write_labels(project, *({"id": f"q{at}", "system": "one", "label": at % 2} for at in range(10)))
    arguments = (labels, "results.json", "--metric", JUDGED_METRIC, "--training", "t")
    (project / "t").mkdir()
    (project / "t" / "dev.jsonl").write_text("mine")
    assert error_of(capsys, *arguments) == "t/dev.jsonl already exists and may contain people's work; name another file"
    assert [path.name for path in (project / "t").iterdir()] == ["dev.jsonl"]
    assert (project / "t" / "dev.jsonl").read_text() == "mine"
    (project / "t" / "dev.jsonl").unlink()
    assert output_of(capsys, *arguments).count("t/") == 3


def test_the_split_sets_the_sizes_of_the_parts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    labels = write_labels(project, *({"id": f"q{at}", "system": "one", "label": "Answered"} for at in range(10)))
    values = ("--value", "rejected=1", "--value", "answered=0")
    output = output_of(
        capsys, labels, "results.json", "--metric", JUDGED_METRIC, "--training", "t", "--split", "8:1:1", *values
    )
    assert [line.split()[1] for line in output.splitlines()[1:]] == ["8", "1", "1"]
    assert '\\"label\\": \\"answered\\"' in (project / "t" / "dev.jsonl").read_text()


def test_a_judge_of_a_conftest_supplies_its_prompt(project: Path) -> None:
    write_run(project, [outcome_of(f"q{at}", polite=at / 4) for at in range(4)])
    (project / "conftest.py").write_text(POLITE_CONFTEST)
    write_labels(project, {"id": "q1", "label": 3}, {"id": "q2", "label": 4, "metric": "polite"})
    for arguments in (
        ["--sample", "2", "results.json", "--out", "sheet.csv", "--metric", "polite"],
        [*FILES, "--training", "t", "--metric", "polite"],
        [*FILES, "--metric", "polite"],
    ):
        run = subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    assert read_sheet(project / "sheet.csv")[0][1]["instructions"] == "How polite is it?\nlabel: a whole number in 1..5"
    lines = [line for part in ("train", "dev", "test") for line in json_lines(project / "t" / f"{part}.jsonl")]
    assert all("Criterion: How polite is it?" in line["messages"][0]["content"] for line in lines)
    assert sorted(json.loads(line["messages"][2]["content"])["label"] for line in lines) == [3, 4]
    assert ["0", "0.25", "0.5", "0.75", "1"] in [line.split()[3:] for line in run.stdout.splitlines()]


def test_labels_of_other_metrics_are_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    rows = [
        {"id": f"q{at}", "system": "one", "label": 1, "metric": ("accuracy", JUDGED_METRIC)[at % 2]} for at in range(4)
    ]
    output = output_of(
        capsys, write_labels(project, *rows), "results.json", "--metric", JUDGED_METRIC, "--training", "t"
    )
    why = f"for another metric, or for an answer that {JUDGED_METRIC} does not apply to"
    assert output.splitlines()[:2] == ["4 labels of 4 answers to 4 cases", f"2 labels not used: {why}"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sample", "0", "results.json", "--out", "a.csv"], "--sample 0: wanted at least 1"),
        (["--sample", "1", "results.json"], "--sample needs --out FILE, whose name ends in .csv or .jsonl"),
        (["--sample", "1", "results.json", "--out", "a.xlsx"], "--sample needs --out FILE, whose name ends in"),
        (["--sample", "1", "results.json", "--out", "labels.jsonl"], "labels.jsonl already exists and may contain"),
        (["--sample", "1", "results.json", "--out", "a.csv", "--metric", "x"], "unknown metric 'x'; known: accuracy"),
        (["--sample", "1", "labels.jsonl", "results.json", "--out", "a.csv"], "--sample takes one run, at most one"),
        ([*FILES, "--training", "t"], "--training needs exactly one --metric, whose judge"),
        ([*FILES, "--training", "t", "--metric", "accuracy"], "--metric 'accuracy' is not the n"),
        ([*FILES, "--training", "t", "--metric", JUDGED_METRIC, "--split", "1:2"], "--split '1:2': wan"),
        ([*FILES, "--training", "t", "--metric", JUDGED_METRIC], "labels.jsonl:1: the label '0.3' matches no"),
    ],
)  # fmt: skip
def test_an_error_is_one_sentence(
    arguments: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, RUN)
    write_labels(project, {"id": "q1", "system": "one", "label": 0.3})
    assert error_of(capsys, *arguments).startswith(message)


@pytest.mark.parametrize(
    ("mode", "options", "where"),
    [
        (FILES, ("--out a.csv", "--seed 0", "--split 1:1:1"), "without --{}"),
        (("--sample", "2", "--out", "a.csv"), ("--by topic", "--json", "--threshold 0.3"), "with --sample"),
        (("--sample", "2", "--out", "a.csv"), ("--split 1:1:1", "--training t"), "with --sample"),
        ((*FILES, "--training", "t"), ("--by topic", "--json", "--threshold 0.3", "--out a.csv"), "with --training"),
    ],
)
def test_an_option_without_effect_is_refused(
    mode: tuple[str, ...], options: tuple[str, ...], where: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, RUN)
    write_labels(project, {"id": "q1", "system": "one", "label": 1})
    before = sorted(project.iterdir())
    modes = {"--out": "sample", "--seed": "sample or --training", "--split": "training"}
    for words in map(str.split, options):
        output = error_of(capsys, *mode, *words, "--metric", JUDGED_METRIC)
        assert output == f"{words[0]} has no effect {where.format(modes.get(words[0]))}; leave it out"
    assert sorted(project.iterdir()) == before


def test_a_run_without_texts_is_one_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN, texts=False)
    message = (
        "the run has no texts of the case 'q0', because rag_report_texts = false leaves them out; run the tests again"
    )
    assert error_of(capsys, "--sample", "3", "results.json", "--out", "a.csv").startswith(message)
    assert not (project / "a.csv").exists()


def test_contradicting_results_are_reported_as_such(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = json.loads(write_run(project, RUN).read_text())
    del results["instances"]["q0"]["passages"]["p0"]
    (project / "results.json").write_text(json.dumps(results))
    output = error_of(capsys, "--sample", "3", "results.json", "--out", "a.csv")
    assert output.startswith(
        "the results contradict themselves: 'p0' was supplied to the case 'q0', and the case has no"
    )
    del results["instances"]["q0"]
    (project / "results.json").write_text(json.dumps(results))
    output = error_of(capsys, "--sample", "3", "results.json", "--out", "a.csv")
    assert output.startswith("the results lack the case 'q0' that they answer")
