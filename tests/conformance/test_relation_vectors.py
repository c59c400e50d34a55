"""Compare the variants of questions with the published vectors of perturbations."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_rageval.generation.relations.relation import relation_named
from pytest_rageval.model.case import Instance
from pytest_rageval.text.unicode import nfkc

EVERY = 10_000


def test_variants_match_each_vector(rageval_data: Path) -> None:
    vectors = json.loads((rageval_data / "vectors" / "perturbation_vectors.json").read_text(encoding="utf-8"))
    for vector in vectors:
        instance = Instance("q", vector["question"])
        variants = relation_named(vector["relation"]).variants(instance, 0, EVERY)
        questions = {variant.case.instance.question for variant in variants}
        expected = {vector[key] for key in ("out", "all_lower", "all_upper") if key in vector} | set(
            vector.get("outs", ())
        )
        assert expected <= questions, vector
        assert questions.isdisjoint(vector.get("never", ())), vector
        assert bool(questions) == vector.get("applies", True), vector
        if vector.get("back_by_nfkc"):
            assert {nfkc(question) for question in questions} == {nfkc(vector["question"])}


def test_typos_change_only_allowed_words(rageval_data: Path) -> None:
    vectors = json.loads((rageval_data / "vectors" / "perturbation_vectors.json").read_text(encoding="utf-8"))
    for vector in vectors:
        if vector["relation"] != "typo" or "words_allowed" not in vector:
            continue
        before = vector["question"].split()
        for variant in relation_named("typo").variants(Instance("q", vector["question"]), 0, EVERY):
            after = variant.case.instance.question.split()
            changed = [old for old, new in zip(before, after, strict=True) if old != new]
            assert [word.strip("?") for word in changed] == vector["words_allowed"]
            assert set(vector["never_touches"]) <= {word.strip("?") for word in after}
