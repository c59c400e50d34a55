"""``erag:MEASURE``: published values, and cases on which the published code fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError
from pytest_rageval.judges.scoring import as_metric
from pytest_rageval.metrics import BUILTIN, FAMILIES
from pytest_rageval.metrics.rankings.downstream import downstream_of
from pytest_rageval.metrics.rankings.trec import TrecEval
from pytest_rageval.model.case import Relevance
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample
from pytest_rageval.registry import Registry

METRICS: Registry[Metric] = Registry("metric", BUILTIN, families=FAMILIES)
MEASURES = ("AP", "P@3", "P@10", "R@2", "RR", "Rprec", "Success@1", "nDCG", "nDCG@5")


def sample_with_labels(*labels: float, result: Ranking | None = None) -> Sample:
    """Return a sample with documents d0, d1, ... and these labels, best rank first."""
    names = [f"d{at}" for at in range(len(labels))]
    sample = retrieved(ranking(*names) if result is None else result)
    return replace(sample, labels={name: Score(label) for name, label in zip(names, labels, strict=True)})


def value(measure: str, *labels: float) -> float | None:
    return METRICS.get(f"erag:{measure}").compute(sample_with_labels(*labels)).value


def means(measure: str, *queries: Sequence[float]) -> tuple[list[float], float]:
    """Return the values to five digits, and the mean over all queries."""
    values = [value(measure, *labels) for labels in queries]
    numbers = [each for each in values if each is not None]
    assert len(numbers) == len(queries)
    return [round(each, 5) for each in numbers], fmean(numbers)


@pytest.mark.parametrize(
    ("measure", "first", "second"),
    [
        ("P@2", 0.5, 0.5), ("AP", 0.58333, 1.0), ("RR", 0.5, 1.0), ("nDCG", 0.69343, 1.0),
        ("Rprec", 0.5, 1.0), ("R@2", 0.5, 1.0),
    ],
)  # fmt: skip
def test_values_for_binary_labels_equal_the_published_ones(measure: str, first: float, second: float) -> None:
    assert means(measure, (0, 1, 1), (1, 0))[0] == [first, second]


def test_values_for_labels_between_0_and_1_equal_the_published_ones() -> None:
    first, second = (0.2, 0.5, 1), (0.7, 0)
    assert means("P@2", first, second)[0] == [0.35, 0.35]
    values, mean = means("Success@1", first, second)
    assert (values, round(mean, 5)) == ([0.2, 0.7], 0.45)
    assert [value("Success@3", *first), value("Success@2", *second)] == [1, 0.7]
    assert [round(value(f"P@{len(q)}", *q) or 0, 4) for q in (first, second)] == [0.5667, 0.35]


def test_the_measures_in_the_published_readme_are_computed() -> None:
    assert [value(measure, 0, 1, 1) for measure in ("P@10", "Success@1", "Success@5", "R@5", "AP")] == [
        0.2, 0.0, 1.0, 1.0, pytest.approx(7 / 12),
    ]  # fmt: skip


@pytest.mark.parametrize("labels", [(1.0, 0.0), (0.5, 0.1)], ids=["binary", "continuous"])
def test_a_short_list_is_padded_with_documents_of_label_0(labels: Sequence[float]) -> None:
    assert value("P@3", *labels) == pytest.approx(sum(labels) / 3)
    assert value("Success@3", *labels) == labels[0]
    assert value("P@10", 1, 1, 0) == 0.2


@pytest.mark.parametrize("measure", MEASURES)
def test_an_empty_list_scores_0_and_counts_in_the_mean(measure: str) -> None:
    assert value(measure) == 0.0
    assert means(measure, (1.0,) * 10, ())[1] == 0.5 * (value(measure, *(1.0,) * 10) or 0)
    without_labels = retrieved(ranking())  # even if no system could label documents
    assert METRICS.get(f"erag:{measure}").compute(without_labels) == Score(0.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_documents_without_utility_score_0(measure: str) -> None:
    assert value(measure, 0, 0, 0) == 0.0


def test_a_long_list_is_scored_to_its_end() -> None:
    labels = [0.0] * 1_200
    labels[1_100] = 1.0
    assert value("RR", *labels) == pytest.approx(1 / 1_101)
    assert value("P@1200", *labels) == pytest.approx(1 / 1_200)


def test_booleans_and_whole_numbers_are_binary_labels() -> None:
    assert value("AP", True, False, 1, 0.0) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(("wrong", "problem"), [("P@0", "has no valid cutoff"), ("P@x", "has no valid cutoff"),
                                             ("P", "has no valid cutoff"), ("Rprec@5", "takes no cutoff"),
                                             ("MAP", "names no ranking measure"),
                                             ("Judged", "names no ranking measure"),
                                             ("Judged@5", "names no ranking measure"),
                                             ("", "names no ranking measure"),
                                             ("page_R@5", "names no ranking measure"),
                                             ("token_f1", "names no ranking measure")])  # fmt: skip
def test_an_unknown_measure_is_refused(wrong: str, problem: str) -> None:
    with pytest.raises(SettingError, match=rf"metric 'erag:{wrong}' {problem}"):
        METRICS.get(f"erag:{wrong}")


def test_a_missing_measure_is_refused() -> None:
    with pytest.raises(SettingError, match="metric 'erag' names no ranking measure; write erag:MEASURE, for example"):
        METRICS.get("erag")


def test_documents_are_ranked_by_their_scores() -> None:
    by_score = ranking(("d0", 1.0), ("d1", 3.0), ("d2", 2.0))
    sample = sample_with_labels(0, 1, 0, result=by_score)
    assert METRICS.get("erag:RR").compute(sample) == METRICS.get("erag:Success@1").compute(sample) == Score(1.0)


def test_a_duplicate_document_is_refused() -> None:
    sample = sample_with_labels(0, 1, result=ranking("d0", "d1", "d0"))
    for measure in MEASURES:
        with pytest.raises(CaseError, match="the ranking has the document 'd0' at ranks 1 and 3"):
            METRICS.get(f"erag:{measure}").compute(sample)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_case_without_labels_has_a_reason_instead_of_a_value(measure: str) -> None:
    metric = METRICS.get(f"erag:{measure}")
    assert metric.compute(retrieved(None)).reason == "no_ranking"
    assert metric.compute(retrieved(ranking("d0"))).reason == "system_unavailable"
    unreadable: Mapping[str, Score] = {"d0": Score(1.0), "d1": Score(reason="no_texts")}
    assert metric.compute(replace(retrieved(ranking("d0", "d1")), labels=unreadable)).reason == "no_texts"


def test_documents_are_labelled_by_the_first_answer_metric_without_a_judge() -> None:
    polite = as_metric("polite", lambda sample: True)
    names = [
        "erag:P@5",
        "nDCG@5",
        "omnieval_map_compat",
        "answer_in_context",
        "page_Rprec",
        "kilt:accuracy",
        "closed_book_accuracy",
        "fake_answer_rate",
    ]
    others = [polite, *map(METRICS.get, names)]
    expected = METRICS.get("token_f1")
    assert downstream_of([*others, expected, METRICS.get("accuracy")]) is expected
    with pytest.raises(SettingError, match="erag:P@5 labels documents by a metric of the answer, and there is none"):
        downstream_of(others)


@pytest.mark.parametrize("relevance", ["ids", "overlap", "answers"])
@pytest.mark.parametrize("measure", ["AP", "P@2", "R@2", "Rprec", "nDCG"])
def test_the_relevance_of_the_testbed_does_not_change_the_values(measure: str, relevance: Relevance) -> None:
    metric, sample = METRICS.get(f"erag:{measure}"), sample_with_labels(0, 1, 1)
    assert not metric.needs_all
    assert metric.compute(replace(sample, case=replace(sample.case, relevance=relevance))) == metric.compute(sample)


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "R@5", "RR", "Rprec"])
def test_a_measure_of_binary_labels_is_refused_with_other_labels(measure: str) -> None:
    metric, graded, binary = (METRICS.get(name) for name in (f"erag:{measure}", "token_f1", "accuracy"))
    assert downstream_of([metric, binary, graded]) is binary
    with pytest.raises(SettingError, match=f"erag:{measure} needs labels that are 0 or 1, and token_f1 gives others"):
        downstream_of([graded, binary, metric])
    assert downstream_of([graded, METRICS.get("erag:P@5"), METRICS.get("erag:Success@9")]) is graded


def test_only_measures_of_trec_eval_need_the_ranking_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: object) -> None:
        raise MissingDependencyError("a ranking metric", "ranking")

    monkeypatch.setattr("pytest_rageval.metrics.rankings.trec.TrecEval.prepare", missing)
    fresh: Registry[Metric] = Registry("metric", BUILTIN, families=FAMILIES)
    assert fresh.get("erag:P@2").compute(sample_with_labels(1, 0.5)) == Score(0.75)
    assert fresh.get("erag:Success@2").compute(sample_with_labels(0.25, 0.5)) == Score(0.5)
    with pytest.raises(MissingDependencyError, match=r"pytest-rageval\[ranking\]"):
        fresh.get("erag:AP")


def test_all_measures_of_a_sample_share_one_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations: list[object] = []
    values = TrecEval._values

    def count_evaluation(self: TrecEval, *arguments: Any) -> Any:
        evaluations.append(arguments)
        return values(self, *arguments)

    metrics = [METRICS.get(f"erag:{measure}") for measure in ("AP", "RR", "Rprec", "nDCG", "nDCG@5", "R@5")]
    samples = [sample_with_labels(0, 1, 1), sample_with_labels(1, 0)]
    expected = [[metric.compute(sample) for metric in metrics] for sample in samples]
    assert expected == [
        [metric.compute(sample_with_labels(*each)) for metric in metrics] for each in ((0, 1, 1), (1, 0))
    ]
    monkeypatch.setattr(TrecEval, "_values", count_evaluation)
    assert [[metric.compute(sample) for metric in metrics] for sample in samples] == expected
    assert len(evaluations) == 2


def test_answer_in_context_is_1_if_a_retrieved_text_contains_the_answer() -> None:
    from pytest_rageval.metrics.rankings.in_context import answer_in_context
    from pytest_rageval.model.case import Passage
    from pytest_rageval.model.ranking import ScoredPassage

    def score_of(*items: ScoredPassage) -> Score:
        sample = retrieved(Ranking(items))
        instance = replace(sample.case.instance, passages=(Passage("pool", "All roads lead to ROME."),))
        return answer_in_context(replace(sample, case=replace(sample.case, instance=instance)))

    text, title = ScoredPassage("a", text="In Rome."), ScoredPassage("b", text="A city.", title="Rome")
    other, unreadable = ScoredPassage("c", text="In Lima."), ScoredPassage("d")
    assert score_of(other, text) == score_of(title) == score_of(unreadable, text) == Score(1.0)
    assert score_of(ScoredPassage("pool")) == Score(1.0)
    assert score_of(other) == score_of() == Score(0.0)
    assert score_of(other, unreadable) == Score(reason="no_texts")
    split_answer = Ranking((ScoredPassage("e", text="York was built.", title="New"),))
    assert answer_in_context(retrieved(split_answer, gold=(("New York",),))) == Score(0.0)
    assert answer_in_context(retrieved(None)).reason == "no_ranking"
    assert answer_in_context(retrieved(ranking("a"), gold=())).reason == "not_applicable: no_gold"
