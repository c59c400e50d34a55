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


def of_variant(relation: str, text: str) -> Sample:
    given = sample(text, slots("9:00"), fake=slots("8:30"))
    lie = Passage("w0", "It opens at 8:30.", role="counterfactual")
    case = replace(given.case, supplied=(lie,)).with_facets(relation=relation, variant="1")
    return replace(given, case=case)


def test_an_original_has_no_stability() -> None:
    assert STABLE.compute(sample("9:00", slots("9:00"))) == Score(reason="not_applicable: no_variant")


def test_a_variant_waits_for_its_original() -> None:
    assert STABLE.compute(of_variant("typo", "9:00")) == Score(reason=NOT_COMPARED)


def test_without_evidence_a_rejection_is_expected() -> None:
    assert STABLE.compute(of_variant("remove_evidence", REJECTION)) == Score(1.0)
    assert STABLE.compute(of_variant("remove_evidence", "9:00")) == Score(0.0)


def test_a_false_answer_must_not_be_repeated() -> None:
    assert STABLE.compute(of_variant("swap_evidence", "It opens at 8:30.")) == Score(0.0)
    assert STABLE.compute(of_variant("swap_evidence", "It opens at 9:00.")) == Score(1.0)
    error = "There are factual errors in the provided documents. They say 8:30."
    assert STABLE.compute(of_variant("swap_evidence", error)) == Score(1.0)


def test_each_relation_that_expects_a_change_has_a_rule() -> None:
    assert {name for name in BUILTIN if relation_named(name).expected != "same"} == set(BY_RULE)
