"""Dense and hybrid retrieval from the ini, by an encoder without a model."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from support.projects.rag_project import Project, case

from pytest_rageval.retrieval import dense
from pytest_rageval.retrieval.encoder import SentenceEncoder

pytest.importorskip("usearch.index", reason="the extra dense is not installed")  # pytester unloads modules after a run

CASES = [case("q1", "What is the warranty of a kettle?", "two years"), case("q2", "When do parcels leave?", "Mondays")]
CONFTEST = """
    import zlib

    import numpy as np
    import pytest_rageval.retrieval.dense as dense

    class Encoder:
        digest = "words"

        def __init__(self, model, pooling, device, batch_size):
            pass

        def encode(self, texts):
            return np.array([sum(map(vector, text.lower().strip("?.").split())) for text in texts], dtype=np.float32)

    def vector(word):
        return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(32)

    dense.SentenceEncoder = Encoder
"""


@pytest.fixture
def shop(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    if find_spec("sentence_transformers") is None:
        pytest.skip("the extra dense is not installed")
    monkeypatch.setattr(dense, "SentenceEncoder", SentenceEncoder)  # restores what the conftest replaces
    project.says(CASES, conftest=CONFTEST)
    texts = {"k": "The warranty of a kettle lasts two years.", "p": "Parcels leave on Mondays."}
    project.data([{"id": name, "text": text} for name, text in texts.items()], "kb.jsonl")
    return project


def write_ini(project: Project, *params: str, retriever: str = "dense") -> None:
    lines = ["[pytest]", "rag_corpus = kb.jsonl", f"rag_retriever = {retriever}", "rag_retriever_params ="]
    project.file("pytest.ini", "\n".join([*lines, *(f"    {line}" for line in params)]))


@pytest.mark.parametrize("index", ["flat", "hnsw"])
def test_dense_retrieval_answers_the_cases(shop: Project, index: str) -> None:
    write_ini(shop, "model = words", f"index = {index}", 'query_prefix = "query: "')
    run = shop.run()
    assert run.status == 0, run.text
    assert {name: o["answer"]["ranking"][0]["doc_id"] for name, o in run.outcomes.items()} == {"q1": "k", "q2": "p"}
    facts = run.results["deployment"]["retrievers"][0]["facts"]
    assert (facts["retriever"], facts["index"], facts["query_prefix"], facts["recall@10"]) == (
        "dense",
        index,
        "query: ",
        1.0,
    )


def test_hybrid_retrieval_uses_the_settings_of_its_parts(shop: Project) -> None:
    write_ini(shop, "dense.model = words", "dense.index = hnsw", "bm25.k1 = 1.2", retriever="hybrid")
    run = shop.run()
    assert run.status == 0, run.text
    best = run.outcomes["q1"]["answer"]["ranking"][0]
    assert (best["doc_id"], best["score"]) == ("k", pytest.approx(2 / 61))


def test_a_setting_that_cannot_be_used_is_reported_in_one_sentence(shop: Project) -> None:
    write_ini(shop, "model = ./nowhere")
    run = shop.run()
    assert run.status == 4
    errors = run.result.stderr.str()
    assert "ERROR: rag_retriever_params has model = './nowhere', but " in errors
    assert "Traceback" not in run.text + errors
