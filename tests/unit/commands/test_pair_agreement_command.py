"""``rageval agreement`` with labels on a signed scale and with pairwise preferences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from support.samples.labelled_runs import error_of, outcome_of, output_of, write_labels, write_run

from pytest_rageval.model.outcome import Outcome

ONE = (0.9, 0.2, 0.5, 0.5, 0.1, 0.7)
OTHER = (0.4, 0.6, 0.5, 0.1, 0.3, 0.0)
PREFERRED = ("one", "other", "tie", "A", "one", "one")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run_of(**systems: tuple[float, ...]) -> list[Outcome]:
    return [
        outcome_of(f"q{at}", f"{system} says {at}", system, token_f1=score)
        for system, scores in systems.items()
        for at, score in enumerate(scores)
    ]


def preferences(*words: Any, a: str = "one", b: str = "other", **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"q{at}", "A": a, "B": b, "preferred": word, **more} for at, word in enumerate(words)]


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(output_of(capsys, *arguments, "--json"))
    return plain


def test_preferences_are_compared_with_the_difference_of_a_metric(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    labels = write_labels(project, *preferences(*PREFERRED))
    (metric,) = json_of(capsys, labels, "results.json")["metrics"]
    people = [1, -1, 0, 1, 1, 1]
    difference = [one - other for one, other in zip(ONE, OTHER, strict=True)]
    assert metric["agreement"]["accuracy"]["value"] == pytest.approx(5 / 6)  # all except q4
    assert (metric["n_decided"], metric["decided"]["value"]) == (5, pytest.approx(4 / 5))
    for name, test in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        assert metric["correlations"][name]["value"] == pytest.approx(test(people, difference).statistic)
    text = output_of(capsys, labels, "results.json")
    assert "6 pairs of answers to 6 cases: one - other\n" in text
    assert "equal scores are a tie, and a tie agrees with a tie only" in text
    assert ["people", "\\", "token_f1", "other", "tie", "one"] in [line.split() for line in text.splitlines()]


def test_the_columns_a_and_b_may_be_swapped_in_each_row(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    rows = preferences("one", "other", "tie", "one", "one", "one")
    expected = json_of(capsys, write_labels(project, *rows), "results.json")
    swapped = [row | {"A": "other", "B": "one"} if at % 2 else row for at, row in enumerate(rows)]
    assert json_of(capsys, write_labels(project, *swapped), "results.json") == expected


def test_a_lower_score_may_be_the_better_answer(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    results = json.loads((project / "results.json").read_text())
    results["plan"]["metrics"]["token_f1"]["higher_is_better"] = False
    (project / "results.json").write_text(json.dumps(results))
    labels = write_labels(project, *preferences("other", "one", "tie", "other", "one", "other"))
    text = output_of(capsys, labels, "results.json")
    assert "the lower score is the better answer: token_f1" in text
    (metric,) = json_of(capsys, labels, "results.json")["metrics"]
    assert metric["agreement"]["accuracy"]["value"] == 1.0


def test_the_two_systems_may_come_from_two_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, scores in (("one", ONE), ("other", OTHER)):
        (project / name).mkdir()
        path = write_run(project / name, run_of(**{name: scores}))
        path.write_text(path.read_text().replace('"r1"', f'"{name}"'))
    labels = write_labels(project, *preferences(*PREFERRED))
    plain = json_of(capsys, labels, "one/results.json", "other/results.json")
    assert (plain["runs"], plain["pairs"]["systems"]) == (["one", "other"], [["one", "other"]])
    assert plain["metrics"][0]["agreement"]["n"] == 6


def test_preferences_on_a_signed_scale_have_a_strength(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    labels = write_labels(project, *preferences(2, -1, 0, 1, "B", 2))
    (metric,) = json_of(capsys, labels, "results.json", "--scale", "-2..2")["metrics"]
    difference = [one - other for one, other in zip(ONE, OTHER, strict=True)]
    expected = stats.pearsonr([2, -1, 0, 1, -2, 2], difference).statistic
    assert metric["correlations"]["pearson"]["value"] == pytest.approx(expected)
    assert metric["agreement"]["accuracy"]["value"] == 1.0


def test_three_systems_are_reported_pair_by_pair(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE, other=OTHER, third=tuple(0.5 for _ in ONE)))
    rows = [*preferences(*PREFERRED), *preferences("tie", "third", "A", a="third", b="one", rater="r2")]
    plain = json_of(capsys, write_labels(project, *rows), "results.json")
    (metric,) = plain["metrics"]
    assert {name: each["agreement"]["n"] for name, each in metric["by"]["systems"].items()} == {
        "one - other": 6,
        "one - third": 3,
    }
    two_raters = json_of(capsys, write_labels(project, *rows, *preferences("one", "one", rater="r9")), "results.json")
    assert two_raters["people"]["n"] == 2


def test_pairs_without_two_answers_are_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, [*run_of(one=ONE, other=OTHER), outcome_of("q6", system="one", token_f1=1.0)])
    rows = [
        *preferences(*PREFERRED[:3], None),
        {"id": "q6", "A": "one", "B": "other", "preferred": "one"},
        {"id": "q4", "A": "one", "B": "other", "preferred": "one", "answer_B": "another answer"},
        {"id": "q5", "A": "one", "B": "other", "preferred": "one", "answer_B": "other  says 5"},
    ]
    text = output_of(capsys, write_labels(project, *rows), "results.json")
    assert "4 pairs of answers to 4 cases: one - other\n" in text
    assert "1 row without a preference: labels.jsonl:4\n" in text
    assert "1 pair not used, of a system that the run does not have for the case: q6\n" in text
    assert "1 pair not used, of an answer that is not the run's: q4\n" in text


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        ({"preferred": "noe"}, (), "labels.jsonl:1: preferred: found 'noe', wanted 'one', 'other', A, B or tie; "),
        ({"preferred": 1}, (), "labels.jsonl:1: preferred: found 1, wanted 'one', 'other', A, B or tie; declare a s"),
        ({"preferred": 3}, ("--scale", "-2..2"), "labels.jsonl:1: preferred: found 3, wanted 'one', 'other', A, B or"),
        ({"preferred": 0.5}, ("--scale", "-2..2"), "labels.jsonl:1: preferred: found 0.5, wanted 'one', 'other', A"),
        ({"preferred": True}, (), "labels.jsonl:1: preferred: found true, wanted the name of A or of B, tie, or null"),
        ({"preferred": "A", "B": "one"}, (), "labels.jsonl:1: B: found 'one', wanted the name of a second system"),
        (
            {"preferred": "A"},
            ("--scale", "0..2"),
            "--scale 0..2: pairs need a scale that is symmetric about 0, such as -2",
        ),
        ({"preferred": "A"}, ("--value", "a=1"), "--value has no effect on pairs; leave it out, or declare a --scale"),
        ({"preferred": "A"}, ("--threshold", "0.5"), "--threshold has no effect on pairs; leave it out"),
        ({"preferred": "A"}, ("--metric", "acc"), "unknown metric 'acc'"),
        ({"preferred": "A"}, ("--by", "topc"), "--by: unknown facet 'topc'; did you mean 'topic'?"),
        ({"preferred": "A", "id": "x"}, (), "labels.jsonl: no pair belongs to two answers of the run: 1 of 1 are of"),
        ({"preferred": None}, (), "labels.jsonl: none of its 1 rows has a preference yet; fill in the column preferr"),
        ({"preferred": "A", "metric": "AP"}, (), "labels.jsonl: no pair belongs to two answers of the run: 1 of 1"),
    ],
)
def test_an_error_is_one_sentence(
    row: dict[str, Any], options: tuple[str, ...], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    labels = write_labels(project, {"id": "q0", "A": "one", "B": "other", **row})
    assert error_of(capsys, labels, "results.json", *options).startswith(message)


def test_two_preferences_of_one_rater_for_one_pair_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, run_of(one=ONE, other=OTHER))
    rows = [*preferences("A"), {"id": "q0", "A": "other", "B": "one", "preferred": "A"}]
    message = error_of(capsys, write_labels(project, *rows), "results.json")
    assert message.startswith("labels.jsonl:2: a preference of the same rater for the same pair of 'q0'")


def test_labels_may_be_on_a_signed_scale(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE))
    people = (2, -1, 0, 1, -2, 1)
    labels = write_labels(project, *({"id": f"q{at}", "label": label} for at, label in enumerate(people)))
    text = output_of(capsys, labels, "results.json", "--scale", "-2..2")
    assert "labels of -2..2 count as 0..1: -2 is 0, 2 is 1\n" in text
    assert "a score counts as the nearest of people's values: token_f1" in text
    (judge,) = json_of(capsys, labels, "results.json", "--scale=-2..2")["judges"]
    for name, test in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        assert judge["correlations"][name]["value"] == pytest.approx(test(ONE, people).statistic)
    assert judge["agreement"]["levels"] == [0, 0.25, 0.5, 0.75, 1]
    halves = write_labels(project, *({"id": f"q{at}", "label": label / 2} for at, label in enumerate(people)))
    assert error_of(capsys, halves, "results.json", "--scale", "-2..2").startswith(
        "labels.jsonl:2: label: found -0.5, wanted a whole number in -2..2"
    )
    (judge,) = json_of(capsys, halves, "results.json", "--scale", "-2.0..2.0")["judges"]
    assert judge["correlations"]["pearson"]["value"] == pytest.approx(stats.pearsonr(ONE, people).statistic)


def test_labels_with_many_values_have_only_correlations(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tuple(at / 30 for at in range(30))
    write_run(project, [outcome_of(f"q{at:02}", token_f1=score) for at, score in enumerate(scores)])
    people = [at * at / 9 for at in range(30)]
    labels = write_labels(project, *({"id": f"q{at:02}", "label": label} for at, label in enumerate(people)))
    text = output_of(capsys, labels, "results.json", "--scale", "0.0..100.0", "--by", "topic")
    assert "people's labels have more than 20 values: no kappa and no alpha; --threshold compares yes" in text
    assert "people \\" not in text
    (judge,) = json_of(capsys, labels, "results.json", "--scale", "0.0..100.0")["judges"]
    assert (judge["agreement"]["n"], judge["agreement"]["kappa"]["reason"]) == (30, "many_levels")
    assert judge["correlations"]["spearman"]["value"] == 1.0
    assert judge["correlations"]["pearson"]["value"] == pytest.approx(stats.pearsonr(scores, people).statistic)
    assert "kappa" in output_of(capsys, labels, "results.json", "--scale", "0.0..100.0", "--threshold", "0.5")


def test_labels_of_answers_need_exactly_one_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, run_of(one=ONE))
    labels = write_labels(project, {"id": "q0", "label": 1})
    assert error_of(capsys, labels, "results.json", "results.json") == (
        "labels belong to the answers of one run; name one"
    )
