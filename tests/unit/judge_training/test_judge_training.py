"""Judge training: on synthetic data, on labels of several people, and on labels that it refuses."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.judge_training import training
from pytest_rageval.judge_training.card import card
from pytest_rageval.judge_training.examples import Example, Examples, read_examples, refuse_other_parts
from pytest_rageval.judge_training.fitting import PENALTIES, Rows, best_head, cross_validate, folds_of
from pytest_rageval.judge_training.training import TrainingResult, check_examples, train
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.values import Worth
from pytest_rageval.local_judges.features import RULES, JudgeInput
from pytest_rageval.local_judges.head import likeliest_class
from pytest_rageval.local_judges.judge_file import ANSWERS, FILE, content_of, judge_text, metric_digest
from pytest_rageval.local_judges.local_judge import load_judge
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE, HALLUCINATION_JUDGE
from pytest_rageval.report.export.judge_training_data import split

pytest.importorskip("sklearn", reason="the extra judge is not installed")

RIGHT, WRONG = 1.0, 0.0
LABELS = {RIGHT: "right", WRONG: "wrong"}
COLUMNS = ("id", "system", "question", "gold", "answer", "label", "rater")


def no_run() -> None:
    pytest.fail("a sheet with texts needs no run")


def example(at: int, value: float, *, system: str = "desk", language: str = "en") -> Example:
    """Return an answer whose rule features show its value; every fifth answer does not show it."""
    question, gold = f"What does ticket {at} cost?", f"{at + 3} euros"
    if language == "zh":
        question, gold = f"第{at}张票多少钱？", f"{at + 3}元"
    evasive = "Ask at the counter."
    answer = evasive if at % 5 == 0 else f"It is {gold}." if value == RIGHT else f"It is {at + 90} euros."
    return Example(JudgeInput(question, ((gold,),), answer, language), system, value, LABELS[value])


def examples(rows: Sequence[Example]) -> Examples:
    return Examples(tuple(rows), {}, None, 0)


def fifty_examples() -> list[Example]:
    return [example(at, float(at % 2)) for at in range(50)]


def train_judge(rows: Sequence[Example], seed: int = 0, shares: tuple[int, int, int] | None = None) -> TrainingResult:
    return train(examples(rows), ACCURACY_JUDGE, None, seed=seed, shares=shares)


def text_of(result: TrainingResult) -> str:
    return judge_text(content_of(result.judge, result.vectors))


def noisy_rows(n: int, seed: int) -> tuple[Rows, list[int]]:
    """Return rows with 10 % wrong labels, and the labels that the underlying rule gives."""
    draw = random.Random(seed)
    values = [tuple(draw.gauss(0, 1) for _ in RULES) for _ in range(n)]
    rule = [int(row[3] + row[4] - row[6] > 0) for row in values]
    noisy_labels = [label ^ (draw.random() < 0.1) for label in rule]
    units = tuple(f"q{at // 2}" for at in range(n))
    return Rows(tuple(values), ("en",) * n, units, tuple(noisy_labels), 2), rule


def kappa(one: Sequence[int], other: Sequence[int]) -> float:
    n = len(one)
    same = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum((list(one).count(c) / n) * (list(other).count(c) / n) for c in {*one, *other})
    return (same - chance) / (1 - chance)


def test_training_finds_the_rule_in_200_labels_with_a_tenth_wrong() -> None:
    rows, rule = noisy_rows(2_000, 1)
    head, _ = best_head(rows.part(range(200)), 0)
    predictions = [likeliest_class(head.above(values, "en"))[0] for values in rows.values[200:]]
    assert kappa(predictions, rule[200:]) >= 0.75


def test_the_chosen_penalty_has_the_smallest_loss_on_the_test_rows() -> None:
    rows, _ = noisy_rows(300, 2)
    _, penalty = best_head(rows.part(range(200)), 0, rows.part(range(200, 300)))
    assert penalty in PENALTIES
    useless = replace(rows, classes=tuple(random.Random(3).choice((0, 1)) for _ in rows.classes))
    assert best_head(useless.part(range(200)), 0, useless.part(range(200, 300)))[1] == min(PENALTIES)


def test_all_answers_to_a_question_are_in_one_fold() -> None:
    units = [f"q{at % 40}" for at in range(120)]
    folds = folds_of(units, 7)
    assert {unit: folds[at] for at, unit in enumerate(units)} == dict(zip(units, folds, strict=True))
    assert [folds[:40].count(fold) for fold in range(5)] == [8] * 5
    assert folds_of(units, 8) != folds


def test_figures_come_from_questions_that_were_not_trained_on() -> None:
    """A feature that names each question separates all training rows, and no test row."""
    draw = random.Random(5)
    n = 100
    labels = [draw.choice((0, 1)) for _ in range(n)]
    noise = tuple((float(draw.choice((0, 1))), *(draw.gauss(0, 1) for _ in range(12))) for _ in range(n))
    rows = Rows(noise, ("en",) * n, tuple(f"q{at}" for at in range(n)), tuple(labels), 2)
    predictions = [likeliest_class(above)[0] for above in cross_validate(rows, 0)]
    assert abs(kappa(predictions, labels)) < 0.3


def test_the_same_rows_give_the_same_file() -> None:
    rows = fifty_examples()
    one = text_of(train_judge(rows))
    assert text_of(train_judge(rows)) == one
    assert len(one) < 20_000
    assert '"penalty"' in one
    assert text_of(train_judge(rows[::-1])) != one  # the order matters here; `read_examples` sorts, see the next test


def sheet(path: Path, rows: Sequence[Sequence[str]], columns: Sequence[str] = COLUMNS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def row(at: int, label: str, rater: str = "ida", answer: str = "It is 9 euros.") -> list[str]:
    return [f"c{at}", "desk", f"What does ticket {at} cost?", f"{at} euros", answer, label, rater]


def read_sheet(path: Path, *, worth: Worth | None = None) -> Examples:
    return read_examples([path], ACCURACY_JUDGE, worth or Worth(), no_run)  # type: ignore[arg-type]


def test_the_order_of_the_sheet_does_not_decide_the_order_of_examples(tmp_path: Path) -> None:
    rows = [row(at, ("right", "wrong")[at % 2]) for at in range(6)]
    one = read_sheet(sheet(tmp_path / "one.csv", rows)).rows
    assert read_sheet(sheet(tmp_path / "other.csv", rows[::-1])).rows == one
    assert [each.judged.gold for each in one][:2] == [(("0 euros",),), (("1 euros",),)]


def test_ids_facets_and_systems_are_not_features(tmp_path: Path) -> None:
    """A system name or facet that reveals every label changes no weight."""
    plain = [example(at, float(at % 2)) for at in range(60)]
    leaky = [replace(each, system=each.label if isinstance(each.label, str) else "") for each in plain]
    one, other = train_judge(plain).judge, train_judge(leaky).judge
    assert asdict(one.head) == asdict(other.head)
    rows = [row(at, ("right", "wrong")[at % 2]) for at in range(6)]
    facets = [[*each, json.dumps({"topic": each[5]})] for each in rows]
    (tmp_path / "a").mkdir()
    leaky_sheet = sheet(tmp_path / "a" / "labels.csv", facets, (*COLUMNS, "facets"))
    assert read_sheet(leaky_sheet).rows == read_sheet(sheet(tmp_path / "labels.csv", rows)).rows


def test_a_word_becomes_the_label_with_the_same_value(tmp_path: Path) -> None:
    labelled = read_sheet(
        sheet(tmp_path / "s.csv", [row(1, "good"), row(2, "bad")]), worth=Worth({"good": 1.0, "bad": 0.0})
    )
    assert [each.label for each in labelled.rows] == ["right", "wrong"]


def test_a_value_that_the_metric_does_not_have_is_refused(tmp_path: Path) -> None:
    path = sheet(tmp_path / "s.csv", [row(1, "so-so")])
    with pytest.raises(DataError, match=r"s.csv:2: .* 'so-so' has the value 0.3, which accuracy_judged does not have"):
        read_sheet(path, worth=Worth({"so-so": 0.3}))


def test_labels_of_several_people_become_their_majority(tmp_path: Path) -> None:
    rows = [row(1, label, rater) for label, rater in zip(("right", "right", "wrong"), "abc", strict=True)]
    rows += [row(2, "right", "a"), row(2, "wrong", "b"), row(3, "", "a"), row(3, "wrong", "b")]
    labelled = read_sheet(sheet(tmp_path / "s.csv", rows))
    assert [(each.judged.gold[0][0], each.label) for each in labelled.rows] == [
        ("1 euros", "right"),
        ("3 euros", "wrong"),
    ]
    assert labelled.left_out == {"people disagree without a majority": 2, "blank, or without a value": 1}
    assert labelled.n_several == 2
    assert labelled.alpha == pytest.approx(1 - (4 / 5) / (12 / 20))  # observed and expected disagreement, by hand
    with pytest.raises(SettingError, match=r"agree too little to train on: alpha -0.33 on 2 answers"):
        check_examples(labelled, "accuracy_judged", force=False)
    check_examples(labelled, "accuracy_judged", force=True)


def test_rows_without_a_rater_count_as_one_person_for_each_sheet(tmp_path: Path) -> None:
    """Two people agree on 19 of 20 answers; equal labels count for alpha, too."""
    one = sheet(tmp_path / "one.csv", [row(at, ("right", "wrong")[at % 2], "") for at in range(20)])
    other = sheet(tmp_path / "other.csv", [row(at, ("right", "wrong")[at % 2 and at != 1], "") for at in range(20)])
    labelled = read_examples([one, other], ACCURACY_JUDGE, Worth(), no_run)  # type: ignore[arg-type]
    assert labelled.n_several == 20
    assert labelled.alpha == pytest.approx(1 - (2 / 40) * 39 * 40 / (2 * 21 * 19))  # observed and expected, by hand


@pytest.mark.parametrize("column", ["answer", "gold"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    at = COLUMNS.index(column)
    rows = [[cell for place, cell in enumerate(row(1, "right")) if place != at]]
    path = sheet(tmp_path / "s.csv", rows, [name for name in COLUMNS if name != column])
    with pytest.raises(DataError, match=f"s.csv:2: the column {column} is missing"):
        read_sheet(path)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (fifty_examples()[:30], "30 labels of accuracy_judged can train it, wanted 40: label 10 more"),
        (
            [each for each in fifty_examples() if each.value] * 2,
            "all 50 labels of accuracy_judged are 'right', wanted two",
        ),
        (
            [example(at, float(at > 6)) for at in range(50)],
            "7 labels of accuracy_judged are 'wrong', wanted 10: label 3 more of them",
        ),
        (
            fifty_examples() + [example(at, float(at % 2), language="zh") for at in range(12)],
            "12 labels of accuracy_judged are of questions in zh, wanted 40 in each language: label 28 more",
        ),
        (
            [
                replace(each, judged=replace(each.judged, question=f"Q{at % 4}?"))
                for at, each in enumerate(fifty_examples())
            ],
            "the labels of accuracy_judged are of 4 questions, wanted 5",
        ),
    ],
)
def test_too_few_labels_are_refused_with_the_missing_number(rows: list[Example], problem: str) -> None:
    with pytest.raises(SettingError) as error:
        train_judge(rows)
    assert problem in str(error.value)


def test_more_than_five_labels_are_refused() -> None:
    rows = [
        replace(each, value=at % 6 / 5, label=at % 6 + 1)
        for at, each in enumerate([*fifty_examples(), *fifty_examples()])
    ]
    with pytest.raises(SettingError, match="people use 6 labels of accuracy_judged, wanted at most 5"):
        train_judge(rows)


def test_a_judge_that_reads_passages_is_refused_by_name() -> None:
    refuse_other_parts(ACCURACY_JUDGE)
    with pytest.raises(
        SettingError, match="hallucination is judged by the passages, which a local judge does not read"
    ):
        refuse_other_parts(HALLUCINATION_JUDGE)


def test_three_labels_need_one_threshold_between_each_two() -> None:
    rows = [
        replace(each, value=value, label=label)
        for at, each in enumerate([*fifty_examples(), *(example(at, RIGHT) for at in range(50, 80))])
        for value, label in [((0.0, "wrong"), (0.5, "partly_right"), (1.0, "right"))[at % 3]]
    ]
    judge = train_judge(rows).judge
    assert (judge.labels, judge.values) == (("wrong", "partly_right", "right"), (0.0, 0.5, 1.0))
    assert len(judge.head.thresholds) == 2


def test_each_language_is_standardised_separately() -> None:
    rows = fifty_examples() + [example(at, float(at % 2), language="zh") for at in range(50)]
    scalings = train_judge(rows).judge.head.scalings
    assert set(scalings) == {"en", "zh"}
    assert scalings["en"].means != scalings["zh"].means


def test_a_split_trains_on_its_share_of_questions() -> None:
    result = train_judge([*fifty_examples(), *(example(at, float(at % 2)) for at in range(50, 100))], shares=(5, 1, 4))
    assert (result.judge.training.labels, result.tested, result.judge.training.split) == (50, 40, "5:1:4")
    assert "split 5:1:4 by question: 50 labels trained the judge, 40 tested it" in card(result, "d")


def questions_of_test_part() -> set[str]:
    """Return the questions of the test part of a hundred answers, split 5:1:4 with seed 0."""
    return set(split(sorted(example(at, RIGHT).unit for at in range(100)), (5, 1, 4), 0)["test"])


def test_a_language_that_is_only_in_the_test_part_is_tested() -> None:
    rows = [example(at, float(at % 2)) for at in range(100)]
    test_questions = questions_of_test_part()
    rows = [
        replace(each, judged=replace(each.judged, language="zh")) if each.unit in test_questions else each
        for each in rows
    ]
    result = train_judge(rows, shares=(5, 1, 4))
    assert result.tested == 40
    assert result.judge.languages == ("en",)


def test_a_test_part_without_any_trained_class_is_refused() -> None:
    test_questions = questions_of_test_part()
    rows = [example(at, float(at % 2)) for at in range(100)]
    rows = [replace(each, value=0.5, label="partly_right") if each.unit in test_questions else each for each in rows]
    with pytest.raises(SettingError, match="no label of the test part has a class that train has; change --seed or"):
        train_judge(rows, shares=(5, 1, 4))


def test_the_card_reports_the_bias_for_each_system_and_each_held_out_system() -> None:
    """Half of the guide's fluent answers are wrong: the rules cannot see it, so its mean is too high."""
    rows = [example(at, float(at % 2), system=("desk", "kiosk")[at % 4 // 2]) for at in range(80)]
    fluent = [example(at, RIGHT, system="guide") for at in range(200, 240)]
    rows += [replace(each, value=WRONG, label="wrong") if at % 2 else each for at, each in enumerate(fluent)]
    result = train_judge(rows)
    guide = next(each for each in result.figures.systems if each.system == "guide")
    assert guide.bias > 0.1
    assert guide.ci95 is not None
    assert guide.ci95[0] > 0
    assert [each.systems[0].system for each in result.others] == ["desk", "guide", "kiosk"]
    text = card(result, "abc")
    assert "## Held-out systems" in text
    (line,) = [line for line in text.splitlines() if line.startswith("| guide") and "biased" in line][:1]
    assert f"{guide.bias:+.2f}" in line
    assert "- judge abc" in text


def test_a_system_is_not_held_out_if_the_others_have_too_few_questions() -> None:
    rows = [example(at, float(at % 2)) for at in range(50)]
    rows += [example(at, RIGHT, system=system) for at in range(50, 53) for system in ("guide", "kiosk")]
    result = train_judge(rows)
    assert [each.systems[0].system for each in result.others] == ["guide", "kiosk"]
    assert "Not measured, because the others answered fewer than 5 questions: desk." in card(result, "d")


class Letters:
    """An embedding model that counts letters: the vector of a blank text is zero."""

    name, files_digest = "letters", "d"

    def __init__(self, infinite: str | None = None) -> None:
        self.infinite = infinite
        self.calls = 0

    def vectors(self, texts: Sequence[str]) -> Any:
        import numpy as np

        self.calls += 1
        rows = [
            [np.inf if text == self.infinite else float(text.count(chr(at))) for at in range(97, 123)] for text in texts
        ]
        return np.array(rows, np.float32)


def examples_with_blank_answers() -> list[Example]:
    return [
        replace(each, judged=replace(each.judged, answer="")) if at % 9 == 0 else each
        for at, each in enumerate(fifty_examples())
    ]


def test_a_judge_trained_with_blank_answers_can_be_loaded(tmp_path: Path) -> None:
    embedder = Letters()
    result = train(examples(examples_with_blank_answers()), ACCURACY_JUDGE, embedder, seed=0, shares=None)
    assert result.judge.furthest == 1
    (tmp_path / FILE).write_text(text_of(result), encoding="utf-8")
    (tmp_path / ANSWERS).write_bytes(result.vectors or b"")
    assert load_judge(tmp_path, "rag_judges", lambda: embedder).trained == result.judge


def test_a_feature_that_is_not_finite_is_refused_with_its_question() -> None:
    rows = fifty_examples()
    embedder = Letters(infinite=rows[7].judged.answer)
    with pytest.raises(
        SettingError, match=r"cos_question_answer of an answer to 'What does ticket 7 cost\?' is not a fi"
    ):
        train(examples(rows), ACCURACY_JUDGE, embedder, seed=0, shares=None)
    with pytest.raises(ValueError, match="not JSON compliant"):
        judge_text({"furthest": math.nan})


def test_the_time_on_the_card_starts_after_the_embedding_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Letters()
    calls: list[int] = []

    def clock() -> float:
        calls.append(embedder.calls)
        return 0.0

    monkeypatch.setattr("time.process_time", clock)
    train(examples(fifty_examples()), ACCURACY_JUDGE, embedder, seed=0, shares=None)
    assert calls == [1, 2]


def test_the_digest_of_a_metric_changes_with_its_labels() -> None:
    other = PromptedJudge(
        "accuracy_judged", "?", labels={"wrong": "no", "right": "yes"}, values={"wrong": 0.0, "right": 1.0}
    )
    assert metric_digest(other) != metric_digest(ACCURACY_JUDGE)


def test_training_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_rageval.errors import MissingDependencyError
    from pytest_rageval.judge_training import fitting

    monkeypatch.setattr(fitting, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"rageval judge train needs .*pytest-rageval\[judge\]"):
        train_judge(fifty_examples())
    assert training.LEAST_LABELS == 40
