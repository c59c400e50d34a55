"""``rageval agreement LABELS RESULTS``: output and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.samples.labelled_runs import error_of, outcome_of, output_of, write_labels, write_run

RUN = [outcome_of(f"q{at}", accuracy=float(at % 2), token_f1=at / 10, AP=1.0) for at in range(10)]


FILES = ("labels.jsonl", "results.json")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_it_reports_every_answer_metric(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    labels = write_labels(project, *({"id": f"q{at}", "label": at % 2 or int(at == 0)} for at in range(8)))
    text = output_of(capsys, labels, "results.json")
    table = rows(text)
    assert text.startswith("run r1, started 2026-01-02T03:04:05+00:00\n8 labels of 8 answers to 8 cases\n")
    assert "a score of at least 0.5 counts as 1, any other as 0: token_f1" in text
    (accuracy,) = [row for row in table if row[:3] == ["accuracy", "8", "8"]]
    assert accuracy[3] == "0.88"
    assert [row for row in table if row[:3] == ["token_f1", "8", "8"]]
    assert "AP" not in text
    assert "quadratic" not in text
    at = table.index(["people", "\\", "accuracy", "0", "1"])
    assert table[at + 2 : at + 4] == [["0", "3", "0"], ["1", "1", "4"]]
    (corrected,) = [row for row in table if row[:4] == ["accuracy", "mine", "10", "8"]]
    assert corrected[4] == "0.500"


def test_json_has_every_number_of_every_slice(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    labels = write_labels(project, *({"id": f"q{at}", "label": at % 2} for at in range(10)))
    plain = json.loads(output_of(capsys, labels, "results.json", "--json", "--by", "topic", "--metric", "accuracy"))
    assert plain["run"] == "r1"
    assert plain["labels"] == {"answers": 10, "used": 10, "blank": [], "unmatched": {}}
    (judge,) = plain["judges"]
    assert judge["metric"] == "accuracy"
    assert judge["agreement"]["kappa"] == {"value": 1.0, "ci95": [1.0, 1.0], "reason": None}
    assert judge["agreement"]["confusion"] == [[5, 0], [0, 5]]
    assert {topic: each["n"] for topic, each in judge["by"]["topic"].items()} == {"Fares": 5, "Ferries": 5}
    assert plain["means"] == []


def test_unused_labels_are_counted_and_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [*RUN, outcome_of("q_", accuracy="parse_error: prose")])
    others = [{"id": f"x{at}", "label": 1} for at in range(7)]
    labels = write_labels(
        project, {"id": "q1", "label": 1}, {"id": "q2", "label": None}, {"id": "q_", "label": 0}, *others
    )
    text = output_of(capsys, labels, "results.json", "--metric", "accuracy")
    assert "2 labels of 2 answers to 2 cases\n" in text
    assert "1 row without a label, or with a label without a value: labels.jsonl:2\n" in text
    assert "7 labels not used, of no case of the run: x0, x1, x2, x3, x4, ... 2 more\n" in text
    assert "accuracy: 1 labelled answer unscored (1 parse_error)\n" in text


def test_labels_of_several_raters_may_be_on_a_scale(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [outcome_of(f"q{at}", complete=at / 3) for at in range(4)])
    labels = [{"id": f"q{at}", "label": min(at, 2), "rater": rater} for at in range(4) for rater in ("a", "b")]
    text = output_of(capsys, write_labels(project, *labels), "results.json", "--scale", "0-2", "--by", "system")
    assert "a score counts as the nearest of people's values: complete" in text
    assert "people among themselves: alpha 1 over 4 answers" in text
    assert "quadratic kappa" in text
    assert ["people", "\\", "complete", "0", "0.5", "1"] in rows(text)
    assert ["complete", "mine", "8", "4"] in [row[:4] for row in rows(text)]


def test_labels_of_a_judge_need_no_value_option(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "error_detection_rate_judged", "rejection_rate_judged"
    scores: list[dict[str, Any]] = [dict.fromkeys(names, float(at % 2)) for at in range(4)]
    write_run(project, [outcome_of(f"q{at}", **each) for at, each in enumerate(scores)])
    words = {names[0]: ("not_detected", "Detected"), names[1]: ("answered", "rejected")}
    rows = [{"id": f"q{at}", "metric": name, "label": words[name][at % 2]} for at in range(4) for name in names]
    plain = json.loads(output_of(capsys, write_labels(project, *rows), "results.json", "--json"))
    kappas = [(judge["metric"], judge["agreement"]["kappa"]["value"]) for judge in plain["judges"]]
    assert kappas == [(name, 1) for name in names]
    unnamed = [{"id": f"q{at}", "label": ("not_detected", "detected", 0.5)[at % 3]} for at in range(4)]
    labels = write_labels(project, *unnamed)
    plain = json.loads(output_of(capsys, labels, "results.json", "--json", "--metric", names[0]))
    assert plain["judges"][0]["agreement"]["n"] == 4
    message = "labels.jsonl:1: label: found 'not_detected', wanted a number in 0..1; declare the values of words"
    assert error_of(capsys, labels, "results.json").startswith(message)
    assert error_of(capsys, labels, "results.json", "--metric", names[0], "--value", "a=1").endswith("were declared")


def test_kappa_has_no_value_without_variance(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [outcome_of(f"q{at}", accuracy=1.0) for at in range(3)])
    labels = write_labels(project, *({"id": f"q{at}", "label": "Right"} for at in range(3)))
    text = output_of(capsys, labels, "results.json", "--value", "right=1", "--value", "wrong=0")
    assert ["accuracy", "3", "3", "1.00", "[1.00,", "1.00]", "one", "value", "one", "value"] in [
        r[:10] for r in rows(text)
    ]
    assert "nan" not in text.lower()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the file of labels: rageval agreement LABELS [RESULTS]"),
        (["none.jsonl", "results.json"], "none.jsonl: no such file"),
        (["labels.jsonl"], "no run under "),
        ([*FILES, "--metric", "acuracy"], "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        ([*FILES, "--by", "topc"], "--by: unknown facet 'topc'; did you mean 'topic'?"),
        (
            ["labels.jsonl", "results.json", "--scale", "2-0"],
            "--scale '2-0': wanted two numbers, the lower first",
        ),
        ([*FILES, "--value", "good"], "--value 'good': wanted LABEL=X with X in 0..1, such as"),
        ([*FILES, "--value", "good=nan"], "--value 'good=nan': wanted LABEL=X with X in 0..1"),
        (
            ["labels.jsonl", "results.json", "--value", "a=1", "--scale", "0-2"],
            "--value and --scale exclude each other",
        ),
        (
            ["labels.jsonl", "results.json", "--threshold", "nan"],
            "--threshold nan: wanted a number above 0 and at most",
        ),
        (
            ["labels.jsonl", "results.json", "--scale", "0-0"],
            "--scale '0-0': wanted two numbers, the lower first",
        ),
        (
            ["labels.jsonl", "results.json", "--scale", "0..1000000000"],
            "--scale '0..1000000000': wanted at most 1,000 steps; write decimals for any number between them",
        ),
        (["labels.jsonl", "results.json", "--scale", f"0..{'9' * 400}"], "--scale '0..9999"),
        ([*FILES, "--value", "good=1"], "labels.jsonl:1: label: found 1, wanted one of 'good'"),
    ],
)
def test_an_error_is_one_sentence(
    arguments: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, RUN)
    write_labels(project, {"id": "q1", "label": 1})
    assert error_of(capsys, *arguments).startswith(message)


def test_labels_that_match_no_scored_answer_are_one_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, RUN)
    labels = write_labels(project, {"id": "x", "label": 1}, {"id": "y", "label": 0})
    assert error_of(capsys, labels, "results.json") == (
        "labels.jsonl: no label belongs to an answer of the run: 2 of 2 are of no case of the run, "
        "for example 'x' (labels.jsonl:1); name another file or run"
    )
    labels = write_labels(project, {"id": "q1", "label": None}, {"id": "q2", "label": ""})
    assert error_of(capsys, labels, "results.json").startswith("labels.jsonl: none of its 2 rows has a label yet")
    write_run(project, [outcome_of("q1", accuracy="judge_unavailable")])
    labels = write_labels(project, {"id": "q1", "label": 1})
    assert error_of(capsys, labels, "results.json").startswith("no labelled answer has a score (1 judge_unavailable); ")
    write_run(project, RUN)
    labels = write_labels(project, {"id": "q1", "label": 1, "metric": "token_f1"})
    message = error_of(capsys, labels, "results.json", "--metric", "accuracy")
    assert message.startswith("no labelled answer has a score (no label is of this metric); name another metric")


def test_only_labels_of_a_metric_correct_its_mean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [outcome_of(f"q{at}", accuracy=float(at % 2), token_f1=at / 40) for at in range(30)])
    accuracy_labels = [{"id": f"q{at}", "label": at % 2, "metric": "accuracy"} for at in range(12)]
    f1_labels = [{"id": f"q{at}", "label": at % 2, "metric": "token_f1"} for at in range(12, 28)]
    plain = json.loads(output_of(capsys, write_labels(project, *accuracy_labels, *f1_labels), "results.json", "--json"))
    assert {each["metric"]: (each["n_labelled"], each["n_judged"]) for each in plain["means"]} == {
        "accuracy": (12, 30),
        "token_f1": (16, 30),
    }
