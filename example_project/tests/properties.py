"""Laws of the desk, which Hypothesis tries to break. Asked for by name, because they need the extra `properties`."""

from __future__ import annotations

from hypothesis import given, settings
from pytest_rageval import strategies as rag

settings.load_profile("rag")

NETWORK = "jsonl:../data/generated/auto_test.jsonl"
PASSAGES = ["passage_order", "irrelevant_passage", "duplicate_passage"]
ONE_FACT = {"task": "extractive_qa"}


@given(rag.variants(NETWORK, relations=PASSAGES, where=ONE_FACT))
def test_other_passages_break_no_answer(rag_ask, variant):
    assert rag_ask(variant)["accuracy"] >= rag_ask(variant.original)["accuracy"]


@settings(max_examples=100)
@given(rag.variants(NETWORK, relations=["whitespace"], where=ONE_FACT))
def test_spaces_break_no_answer(rag_ask, variant):
    assert rag_ask(variant)["accuracy"] >= rag_ask(variant.original)["accuracy"]
