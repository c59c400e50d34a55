from __future__ import annotations

from dataclasses import replace

from support.samples.metric_samples import sample, slots

from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.relation import relation_named
from pytest_rageval.metrics.answers.stable import BY_RULE, NOT_COMPARED, STABLE
from pytest_rageval.model.case import Passage
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

REJECTION = "I can not answer the question because of the insufficient information in documents."


def variant_sample(relation: str, text: str) -> Sample:
    original = sample(text, slots("9:00"), fake=slots("8:30"))
    false_passage = Passage("w0", "It opens at 8:30.", role="counterfactual")
    case = replace(original.case, supplied=(false_passage,)).with_facets(relation=relation, variant="1")
    return replace(original, case=case)


def test_an_original_has_no_stability() -> None:
    assert STABLE.compute(sample("9:00", slots("9:00"))) == Score(reason="not_applicable: no_variant")


def test_a_variant_is_not_compared_before_its_original() -> None:
    assert STABLE.compute(variant_sample("typo", "9:00")) == Score(reason=NOT_COMPARED)


def test_a_variant_without_evidence_expects_a_rejection() -> None:
    assert STABLE.compute(variant_sample("remove_evidence", REJECTION)) == Score(1.0)
    assert STABLE.compute(variant_sample("remove_evidence", "9:00")) == Score(0.0)


def test_a_variant_with_false_evidence_must_not_repeat_the_false_answer() -> None:
    assert STABLE.compute(variant_sample("swap_evidence", "It opens at 8:30.")) == Score(0.0)
    assert STABLE.compute(variant_sample("swap_evidence", "It opens at 9:00.")) == Score(1.0)
    error = "There are factual errors in the provided documents. They say 8:30."
    assert STABLE.compute(variant_sample("swap_evidence", error)) == Score(1.0)


def test_each_relation_that_expects_a_change_has_a_rule() -> None:
    assert {name for name in BUILTIN if relation_named(name).expected != "same"} == set(BY_RULE)
