"""``people:METRIC`` of outcomes, and the bias of judges by system."""

from __future__ import annotations

import random
from math import sqrt
from statistics import fmean, variance

import pytest

from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.analysis.corrected_mean import corrected_mean
from pytest_rageval.analysis.people.bias import biases_of
from pytest_rageval.analysis.people.labelled_scores import with_labels
from pytest_rageval.analysis.statistics import t_quantile
from pytest_rageval.datasets.labels import Label
from pytest_rageval.metrics.judges.people import NOT_LABELLED
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.outcome import EarlierLabel, Outcome, Score
from pytest_rageval.report.sections.judge_bias import bias_text

METRIC = "people:right"


def outcome(
    case: str,
    judge_score: float | None,
    label: Score = NOT_LABELLED,
    *,
    system: str = "desk",
    testbed: str = "t",
    **facets: str,
) -> Outcome:
    score = Score(reason="parse_error") if judge_score is None else Score(judge_score)
    answer = Answer(f"{system} of {testbed} says {case}")
    nodeid = f"{testbed}[{case}-{system}-{facets}]"
    scores = {"right": score, METRIC: label}
    return Outcome(nodeid, case, testbed, facets, system, "scored", answer, scores)


def earlier(people: float, judge_score: float) -> Score:
    return Score(reason="not_applicable", earlier=EarlierLabel(people, judge_score))


def people_of(outcomes: list[Outcome]) -> Cell:
    return cell_of(METRIC, False, outcomes)


def test_labels_of_the_runs_own_answers_correct_the_mean() -> None:
    people, judge_scores, others = [1.0, 0.0] * 6, [1.0, 1.0, 1.0, 0.0] * 3, [1.0, 1.0, 0.0] * 8
    labelled = [outcome(f"l{at}", judge_scores[at], Score(value)) for at, value in enumerate(people)]
    rest = [outcome(f"o{at}", value) for at, value in enumerate(others)]
    cell, expected = people_of([*labelled, *rest, outcome("x", None)]), corrected_mean(people, judge_scores, others)
    assert (cell.mean, cell.ci95) == (expected.value, expected.ci95)
    assert (cell.n, cell.n_unscored) == (36, 1)
    assert cell.labels is not None
    assert (cell.labels.n, cell.labels.source) == (12, "labels of this run's answers")


def test_labels_alone_give_the_mean_if_every_answer_has_one() -> None:
    cell = people_of([outcome(str(at), 1.0, Score(float(at < 9))) for at in range(12)])
    assert cell.mean == 0.75
    assert cell.ci95 is not None
    assert cell.ci95[0] < 0.75 < cell.ci95[1]


def test_labels_of_earlier_answers_shift_the_mean_by_the_judges_errors() -> None:
    """The judge was right about 7 earlier answers, and too high for 3: its mean of 0.5 now becomes 0.2."""
    before = [earlier(0.0, 1.0)] * 3 + [earlier(1.0, 1.0)] * 7
    now = [outcome(str(at), float(at % 2), label) for at, label in enumerate([*before, *[NOT_LABELLED] * 10])]
    cell = people_of(now)
    assert cell.mean == pytest.approx(0.2)
    assert cell.labels is not None
    assert (cell.labels.n, cell.labels.source) == (10, "labels of earlier answers")


def test_earlier_labels_are_added_only_if_this_run_has_too_few() -> None:
    own_labels, before = [Score(1.0)] * 10, [earlier(0.0, 1.0)] * 10
    enough = people_of([outcome(str(at), 1.0, label) for at, label in enumerate([*own_labels, *before])])
    assert (enough.mean, enough.labels and enough.labels.n) == (1.0, 10)
    few = people_of([outcome(str(at), 1.0, label) for at, label in enumerate([*own_labels[:6], *before])])
    assert few.mean == pytest.approx(6 / 16)
    assert few.labels is not None
    assert few.labels.n == 16


def test_too_few_labels_and_several_systems_have_no_corrected_mean() -> None:
    few = people_of([outcome(str(at), 1.0, Score(1.0) if at < 9 else NOT_LABELLED) for at in range(20)])
    assert (few.mean, few.labels and few.labels.n) == (None, 9)
    both = [outcome(str(at), 1.0, Score(1.0), system=system) for system in ("desk", "kiosk") for at in range(12)]
    assert people_of(both).mean is None
    assert people_of(both[:12]).mean == 1.0


def test_labels_of_one_dialogue_are_one_unit() -> None:
    turns = [outcome(f"{at}", 1.0, Score(float(at % 2)), dialogue=str(at // 5), dataset="d") for at in range(40)]
    assert people_of([*turns, outcome("x", 1.0)]).mean is None


@pytest.mark.parametrize("n", [15, 40])
def test_the_interval_covers_the_truth_although_the_judges_mean_does_not(n: int) -> None:
    """A judge that is 0.4 too high; 2,000 draws are in `tests/benchmarks/people_means.py`."""
    draw = random.Random(3)
    coverage: list[bool] = []
    raw_coverage: list[bool] = []
    for _ in range(120):
        truth = [float(draw.random() < 0.3) for _ in range(80)]
        judge_scores = [float(draw.random() < (0.95 if right else 0.593)) for right in truth]
        answers = [
            outcome(str(at), judge_scores[at], Score(right) if at < n else NOT_LABELLED)
            for at, right in enumerate(truth)
        ]
        for series, ci95 in ((coverage, people_of(answers).ci95), (raw_coverage, cell_of("right", True, answers).ci95)):
            series.append(ci95 is not None and ci95[0] <= 0.3 <= ci95[1])
    assert fmean(coverage) >= 0.91
    assert fmean(raw_coverage) <= 0.05


def labels_of(outcomes: list[Outcome], values: list[float]) -> list[Label]:
    return [
        Label(each.case_id, value, system=each.system, answer=each.answer.text if each.answer else "", metric="right")
        for each, value in zip(outcomes, values, strict=True)
    ]


def test_an_answer_gets_the_mean_of_its_labels_or_the_label_of_an_earlier_answer() -> None:
    now = [outcome("a", 1.0), outcome("b", 0.0), outcome("c", 1.0), outcome("a", 1.0, system="kiosk")]
    before = [outcome(each, 1.0, testbed="sheet") for each in "abc"]
    labels = [*labels_of([*now[:1], *before], [1.0, 0.0, 0.0, 0.5]), *labels_of(now[:1], [0.0])]
    scores = {each.nodeid: each.scores[METRIC] for each in with_labels(labels, [*now, *before], {"sheet"})}
    assert [scores[each.nodeid].value for each in now] == [0.5, None, None, None]
    assert [scores[each.nodeid].earlier for each in now] == [
        None, EarlierLabel(0.0, 1.0), EarlierLabel(0.5, 1.0), None,
    ]  # fmt: skip
    assert scores[now[3].nodeid] == NOT_LABELLED


def test_a_bias_has_students_t_interval() -> None:
    """The judge is too high for 8 of 15 answers and too low for one: 7 / 15 with the spread of these differences."""
    differences = [1.0] * 8 + [-1.0] + [0.0] * 6
    answers = [outcome(str(at), max(0.0, by)) for at, by in enumerate(differences)]
    (bias,) = biases_of(["right"], labels_of(answers, [max(0.0, -by) for by in differences]), answers, (), 0.1)
    half = t_quantile(14) * sqrt(variance(differences) / 15)
    assert (bias.bias, bias.judged, bias.people) == pytest.approx((7 / 15, 8 / 15, 1 / 15))
    assert bias.ci95 == pytest.approx((7 / 15 - half, 7 / 15 + half))
    assert bias.verdict == "biased judge"


@pytest.mark.parametrize(
    ("n", "wrong", "most", "verdict"),
    [(9, 9, 0.1, "bias unknown"), (10, 10, 0.1, "biased judge"), (40, 10, 0.3, "not biased"), (20, 0, 0, "not biased")],
)
def test_a_judge_is_biased_beyond_the_limit_with_enough_labels(n: int, wrong: int, most: float, verdict: str) -> None:
    answers = [outcome(str(at), 1.0) for at in range(n)]
    (bias,) = biases_of(["right"], labels_of(answers, [float(at >= wrong) for at in range(n)]), answers, (), most)
    assert bias.verdict == verdict


def test_a_current_and_an_earlier_label_of_a_case_are_one_unit() -> None:
    """Both testbeds have the id, so a run qualifies it by the dataset."""
    own_answers = [outcome(f"jsonl:cases.jsonl:{at}", 1.0) for at in range(6)]
    before = [outcome(f"labelled:sheet.csv:{at}", 1.0, testbed="sheet") for at in range(6)]
    labels = labels_of([*own_answers, *before], [0.0] * 12)
    (bias,) = biases_of(["right"], labels, [*own_answers, *before], {"sheet"}, 0.1)
    assert (bias.n, bias.units, bias.verdict) == (12, 6, "bias unknown")
    assert bias_text(bias) == "bias unknown: right of desk has 12 labels of 6 independent units, wanted 10"


def test_each_system_has_its_own_bias_and_earlier_answers_count_if_there_are_too_few() -> None:
    desk, kiosk = ([outcome(str(at), 1.0, system=name) for at in range(20)] for name in ("desk", "kiosk"))
    before = [outcome(f"old{at}", 1.0, system="kiosk", testbed="sheet") for at in range(10)]
    labels = [*labels_of(desk, [0.0] * 20), *labels_of(kiosk[:2], [1.0] * 2), *labels_of(before, [1.0] * 10)]
    biases = {each.system: each for each in biases_of(["right"], labels, [*desk, *kiosk, *before], {"sheet"}, 0.1)}
    assert (biases["desk"].verdict, biases["desk"].labels) == ("biased judge", "labels of this run's answers")
    assert (biases["kiosk"].n, biases["kiosk"].verdict) == (12, "not biased")
    assert biases["kiosk"].labels == "labels of earlier answers"
