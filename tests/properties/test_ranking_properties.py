"""Laws of ranking metrics for any ranking, judgements and evidence sets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

RANKED = ("AP", "AP@2", "Judged", "Judged@2", "P@2", "R@2", "RR", "RR@2", "Rprec", "Success@2", "nDCG", "nDCG@2")
PAGED = ("page_P@2", "page_R@2", "page_Rprec", "page_Success@2")
METRICS: dict[str, Metric] = {name: Catalog().metrics.get(name) for name in (*RANKED, *PAGED)}

PAGES = st.sampled_from("abcd")
DOCUMENTS = st.builds("{}#{}".format, PAGES, st.integers(0, 2)) | st.sampled_from(["维", "x\ud800", "x\0", "x\0y"])
SCORES = st.sampled_from([0.0, 0.5, 0.5 + 1e-12, 1.0])
TIED = st.lists(st.builds(ScoredPassage, DOCUMENTS, SCORES), unique_by=lambda item: item.doc_id, max_size=8)
QRELS = st.dictionaries(DOCUMENTS, st.integers(-1, 3), max_size=6)
SETS = st.lists(st.lists(PAGES, max_size=3).map(tuple), max_size=3).map(tuple)
TEXTS = st.lists(st.sampled_from(["Rome", "rome", "in", "the", "Lima", "yes", "no", "."]), max_size=4).map(" ".join)
GOLDS = st.lists(TEXTS.filter(str.strip), min_size=1, max_size=2).map(tuple)


def sample(
    items: list[ScoredPassage],
    qrels: dict[str, int],
    provenance: tuple[tuple[str, ...], ...] = (),
    text: str = "",
    aliases: tuple[str, ...] = (),
) -> Sample:
    instance = Instance("q", "?", (aliases,) if aliases else (), qrels=qrels, provenance=provenance)
    return Sample(Case("q", instance, None, {}), Answer(text, Ranking(tuple(items))))


def values(of: Sample) -> dict[str, float | None]:
    return {name: metric.compute(of).value for name, metric in METRICS.items()}


@settings(deadline=None)
@given(TIED, QRELS, SETS)
def test_values_are_shares_and_grow_with_the_cutoff(
    items: list[ScoredPassage], qrels: dict[str, int], provenance: tuple[tuple[str, ...], ...]
) -> None:
    result = values(sample(items, qrels, provenance))
    has_qrels, has_evidence = bool(qrels), bool(qrels or provenance)
    for name, value in result.items():
        assert (value is not None) is (has_evidence if name in PAGED else has_qrels)
        assert value is None or 0 <= value <= 1
    for name in ("AP", "RR"):
        assert (result[f"{name}@2"] or 0) <= (result[name] or 0)
    assert result["Success@2"] == (None if result["P@2"] is None else float(result["P@2"] > 0))


@settings(deadline=None)
@given(TIED.flatmap(lambda items: st.tuples(st.just(items), st.permutations(items))), QRELS, SETS)
def test_the_order_of_scored_passages_does_not_matter(
    orders: tuple[list[ScoredPassage], list[ScoredPassage]],
    qrels: dict[str, int],
    provenance: tuple[tuple[str, ...], ...],
) -> None:
    one, other = orders
    assert values(sample(one, qrels, provenance)) == values(sample(other, qrels, provenance))


@settings(deadline=None)
@given(TIED, SETS, TEXTS, GOLDS)
def test_a_gated_score_is_at_most_the_plain_one_and_that_at_most_has_answer(
    items: list[ScoredPassage], provenance: tuple[tuple[str, ...], ...], text: str, aliases: tuple[str, ...]
) -> None:
    of = sample(items, {}, provenance, text, aliases)
    metrics = Catalog().metrics
    for name in ("exact_match", "hotpot_f1", "kilt_accuracy", "token_f1"):
        plain, gated = metrics.get(name).compute(of).value, metrics.get(f"kilt:{name}").compute(of).value
        assert plain is not None
        assert gated in (0.0, plain)
        assert gated == 0.0 or metrics.get("page_Rprec").compute(of).value == 1.0
    contained = metrics.get("kilt_has_answer_compat").compute(of).value
    for name in ("exact_match", "kilt_accuracy"):
        value = metrics.get(name).compute(of).value
        assert contained is None or value is None or value <= contained
