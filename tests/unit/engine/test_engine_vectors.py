"""Vectors of texts: shared calls, caching and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pytest_rageval.engine import vectors as module
from pytest_rageval.engine.vectors import MAX_TEXTS, Vectors
from pytest_rageval.errors import CaseError, ModelError
from pytest_rageval.model.chat import Embeddings


class Lengths:
    """Embeds a text as its length, and refuses the text "refuse"."""

    name = "lengths"
    revision = "7"

    def __init__(self, kind: str = "bad_request", dimension: int = 2) -> None:
        self.calls: list[list[str]] = []
        self.kind = kind
        self.dimension = dimension

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        self.calls.append(list(texts))
        await asyncio.sleep(0.001)
        if "refuse" in texts:
            raise ModelError(self.kind, "refused")
        return Embeddings(tuple((float(len(text)),) + (1.0,) * (self.dimension - 1) for text in texts))


def embed_all(vectors: Vectors, *cases: Sequence[str]) -> list[dict[str, Sequence[float]] | BaseException]:
    async def all_at_once() -> list[dict[str, Sequence[float]] | BaseException]:
        return await asyncio.gather(*map(vectors, cases), return_exceptions=True)

    return asyncio.run(all_at_once())


def test_many_cases_share_one_call_with_distinct_texts() -> None:
    model, versions = Lengths(), dict[str, str]()
    vectors = Vectors(model, together=True, versions=versions)
    first, second = embed_all(vectors, ["a", "bb"], ["bb", "ccc", "ccc"])
    assert isinstance(first, dict)
    assert {text: list(vector) for text, vector in first.items()} == {"a": [1.0, 1.0], "bb": [2.0, 1.0]}
    assert isinstance(second, dict)
    assert {text: list(vector) for text, vector in second.items()} == {"bb": [2.0, 1.0], "ccc": [3.0, 1.0]}
    assert model.calls == [["a", "bb", "ccc"]]
    assert versions == {"embedder": "lengths", "embedder_revision": "7"}
    embed_all(vectors, ["a", "dddd"])
    assert model.calls[1:] == [["dddd"]]


def test_the_last_texts_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_SIZE", 2)
    model = Lengths()
    vectors = Vectors(model, together=True, versions={})
    for text in ("old", "new", "old", "newest", "old", "new"):
        embed_all(vectors, [text])
    assert model.calls == [["old"], ["new"], ["newest"], ["new"]]


def test_a_text_in_a_running_call_is_not_sent_again() -> None:
    model = Lengths()
    vectors = Vectors(model, together=True, versions={})

    async def one_after_the_other() -> None:
        first = asyncio.create_task(vectors(["a"]))
        while not model.calls:
            await asyncio.sleep(0)
        await vectors(["a", "b"])
        await first

    asyncio.run(one_after_the_other())
    assert model.calls == [["a"], ["b"]]


def test_a_call_has_a_maximum_number_of_texts() -> None:
    model = Lengths()
    texts = [f"text {n}" for n in range(3 * MAX_TEXTS)]
    results = embed_all(Vectors(model, together=True, versions={}), *([text] for text in texts))
    assert [len(call) for call in model.calls] == [MAX_TEXTS] * 3
    assert [list(each) for each in results if isinstance(each, dict)] == [[text] for text in texts]


def test_a_refused_text_fails_only_its_case() -> None:
    model = Lengths()
    vectors, error = embed_all(Vectors(model, together=True, versions={}), ["a"], ["refuse", "b"])
    assert isinstance(vectors, dict)
    assert isinstance(error, ModelError)
    assert model.calls == [["a", "refuse", "b"], ["a"], ["refuse", "b"]]


def test_a_failure_of_all_texts_is_not_retried() -> None:
    model = Lengths("auth")
    errors = embed_all(Vectors(model, together=True, versions={}), ["a"], ["refuse"])
    assert all(isinstance(error, ModelError) for error in errors)
    assert len(model.calls) == 1


def test_recorded_calls_do_not_depend_on_other_texts() -> None:
    model = Lengths()
    embed_all(Vectors(model, together=False, versions={}), ["a", "b", "a"], ["b"])
    assert sorted(model.calls) == [["a"], ["b"], ["b"]]


def test_vectors_of_different_lengths_are_an_error_of_the_case() -> None:
    model = Lengths()
    vectors = Vectors(model, together=True, versions={})
    embed_all(vectors, ["a"])
    model.dimension = 3
    [error] = embed_all(vectors, ["a", "b"])
    assert isinstance(error, CaseError)
