"""``erag:MEASURE`` on the cases where the published code is known to succeed or to fail."""

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
ALL = ("AP", "P@3", "P@10", "R@2", "RR", "Rprec", "Success@1", "nDCG", "nDCG@5")


def labelled(*labels: float, own_ranking: Ranking | None = None) -> Sample:
    """Return a sample whose documents d0, d1, ... have these labels, best rank first."""
    names = [f"d{at}" for at in range(len(labels))]
    sample = retrieved(ranking(*names) if own_ranking is None else own_ranking)
    return replace(sample, labels={name: Score(label) for name, label in zip(names, labels, strict=True)})


def value(measure: str, *labels: float) -> float | None:
    return METRICS.get(f"erag:{measure}").compute(labelled(*labels)).value


def means(measure: str, *queries: Sequence[float]) -> tuple[list[float], float]:
    """Return the values to five digits, and the mean over all queries."""
    values = [value(measure, *labels) for labels in queries]
    known = [each for each in values if each is not None]
    assert len(known) == len(queries)
    return [round(each, 5) for each in known], fmean(known)


@pytest.mark.parametrize(
    ("measure", "first", "second"),
    [
        ("P@2", 0.5, 0.5), ("AP", 0.58333, 1.0), ("RR", 0.5, 1.0), ("nDCG", 0.69343, 1.0),
        ("Rprec", 0.5, 1.0), ("R@2", 0.5, 1.0),
    ],
)  # fmt: skip
def test_published_values_of_labels_that_are_0_or_1(measure: str, first: float, second: float) -> None:
    assert means(measure, (0, 1, 1), (1, 0))[0] == [first, second]


def test_published_values_of_labels_between_0_and_1() -> None:
    first, second = (0.2, 0.5, 1), (0.7, 0)
    assert means("P@2", first, second)[0] == [0.35, 0.35]
    values, mean = means("Success@1", first, second)
    assert (values, round(mean, 5)) == ([0.2, 0.7], 0.45)
    assert [value("Success@3", *first), value("Success@2", *second)] == [1, 0.7]
    assert [round(value(f"P@{len(q)}", *q) or 0, 4) for q in (first, second)] == [0.5667, 0.35]


def test_the_set_that_the_published_readme_names_is_computed() -> None:
    assert [value(measure, 0, 1, 1) for measure in ("P@10", "Success@1", "Success@5", "R@5", "AP")] == [
        0.2, 0.0, 1.0, 1.0, pytest.approx(7 / 12),
    ]  # fmt: skip


@pytest.mark.parametrize("labels", [(1.0, 0.0), (0.5, 0.1)], ids=["binary", "continuous"])
def test_a_short_list_is_padded_with_documents_that_are_worth_nothing(labels: Sequence[float]) -> None:
    assert value("P@3", *labels) == pytest.approx(sum(labels) / 3)
    assert value("Success@3", *labels) == labels[0]
    assert value("P@10", 1, 1, 0) == 0.2


@pytest.mark.parametrize("measure", ALL)
def test_an_empty_list_is_0_and_counts_in_the_mean(measure: str) -> None:
    assert value(measure) == 0.0
    assert means(measure, (1.0,) * 10, ())[1] == 0.5 * (value(measure, *(1.0,) * 10) or 0)
    never_asked = retrieved(ranking())  # also where nobody could be
    assert METRICS.get(f"erag:{measure}").compute(never_asked) == Score(0.0)


@pytest.mark.parametrize("measure", ALL)
def test_documents_without_utility_score_0(measure: str) -> None:
    assert value(measure, 0, 0, 0) == 0.0


def test_a_list_of_any_length_is_judged_to_its_end() -> None:
    labels = [0.0] * 1_200
    labels[1_100] = 1.0
    assert value("RR", *labels) == pytest.approx(1 / 1_101)
    assert value("P@1200", *labels) == pytest.approx(1 / 1_200)


def test_a_label_that_is_true_or_whole_is_binary() -> None:
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


def test_no_measure_at_all_is_refused() -> None:
    with pytest.raises(SettingError, match="metric 'erag' names no ranking measure; write erag:MEASURE, for example"):
        METRICS.get("erag")


def test_the_order_is_that_of_the_scores() -> None:
    result = ranking(("d0", 1.0), ("d1", 3.0), ("d2", 2.0))
    sample = labelled(0, 1, 0, own_ranking=result)
    assert METRICS.get("erag:RR").compute(sample) == METRICS.get("erag:Success@1").compute(sample) == Score(1.0)


def test_a_document_twice_is_refused() -> None:
    sample = labelled(0, 1, own_ranking=ranking("d0", "d1", "d0"))
    for measure in ALL:
        with pytest.raises(CaseError, match="the ranking has the document 'd0' at ranks 1 and 3"):
            METRICS.get(f"erag:{measure}").compute(sample)


@pytest.mark.parametrize("measure", ALL)
def test_without_labels_there_is_a_reason_instead_of_a_value(measure: str) -> None:
    metric = METRICS.get(f"erag:{measure}")
    assert metric.compute(retrieved(None)).reason == "no_ranking"
    assert metric.compute(retrieved(ranking("d0"))).reason == "system_unavailable"
    unread: Mapping[str, Score] = {"d0": Score(1.0), "d1": Score(reason="no_texts")}
    assert metric.compute(replace(retrieved(ranking("d0", "d1")), labels=unread)).reason == "no_texts"


def test_documents_are_labelled_by_the_first_metric_of_the_answer_that_asks_nobody() -> None:
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
def test_labels_are_independent_of_the_relevance_of_the_testbed(measure: str, relevance: Relevance) -> None:
    metric, sample = METRICS.get(f"erag:{measure}"), labelled(0, 1, 1)
    assert not metric.needs_all
    assert metric.compute(replace(sample, case=replace(sample.case, relevance=relevance))) == metric.compute(sample)


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "R@5", "RR", "Rprec"])
def test_a_measure_that_needs_0_or_1_is_refused_with_other_labels(measure: str) -> None:
    metric, graded, binary = (METRICS.get(name) for name in (f"erag:{measure}", "token_f1", "accuracy"))
    assert downstream_of([metric, binary, graded]) is binary
    with pytest.raises(SettingError, match=f"erag:{measure} needs labels that are 0 or 1, and token_f1 gives others"):
        downstream_of([graded, binary, metric])
    assert downstream_of([graded, METRICS.get("erag:P@5"), METRICS.get("erag:Success@9")]) is graded


def test_only_what_trec_eval_computes_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: object) -> None:
        raise MissingDependencyError("a ranking metric", "ranking")

    monkeypatch.setattr("pytest_rageval.metrics.rankings.trec.TrecEval.prepare", missing)
    fresh: Registry[Metric] = Registry("metric", BUILTIN, families=FAMILIES)
    assert fresh.get("erag:P@2").compute(labelled(1, 0.5)) == Score(0.75)
    assert fresh.get("erag:Success@2").compute(labelled(0.25, 0.5)) == Score(0.5)
    with pytest.raises(MissingDependencyError, match=r"pytest-rageval\[ranking\]"):
        fresh.get("erag:AP")


def test_all_measures_of_a_sample_are_one_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[object] = []
    values = TrecEval._values

    def counted(self: TrecEval, *judged: Any) -> Any:
        evaluated.append(judged)
        return values(self, *judged)

    metrics = [METRICS.get(f"erag:{measure}") for measure in ("AP", "RR", "Rprec", "nDCG", "nDCG@5", "R@5")]
    samples = [labelled(0, 1, 1), labelled(1, 0)]
    expected = [[metric.compute(sample) for metric in metrics] for sample in samples]
    assert expected == [[metric.compute(labelled(*each)) for metric in metrics] for each in ((0, 1, 1), (1, 0))]
    monkeypatch.setattr(TrecEval, "_values", counted)
    assert [[metric.compute(sample) for metric in metrics] for sample in samples] == expected
    assert len(evaluated) == 2


def test_an_answer_in_context_is_in_a_retrieved_text() -> None:
    from pytest_rageval.metrics.rankings.in_context import answer_in_context
    from pytest_rageval.model.case import Passage
    from pytest_rageval.model.ranking import ScoredPassage

    def scored(*items: ScoredPassage) -> Score:
        sample = retrieved(Ranking(items))
        instance = replace(sample.case.instance, passages=(Passage("pool", "All roads lead to ROME."),))
        return answer_in_context(replace(sample, case=replace(sample.case, instance=instance)))

    text, title = ScoredPassage("a", text="In Rome."), ScoredPassage("b", text="A city.", title="Rome")
    other, unread = ScoredPassage("c", text="In Lima."), ScoredPassage("d")
    assert scored(other, text) == scored(title) == scored(unread, text) == Score(1.0)
    assert scored(ScoredPassage("pool")) == Score(1.0)
    assert scored(other) == scored() == Score(0.0)
    assert scored(other, unread) == Score(reason="no_texts")
    across = Ranking((ScoredPassage("e", text="York was built.", title="New"),))
    assert answer_in_context(retrieved(across, gold=(("New York",),))) == Score(0.0)
    assert answer_in_context(retrieved(None)).reason == "no_ranking"
    assert answer_in_context(retrieved(ranking("a"), gold=())).reason == "not_applicable: no_gold"
