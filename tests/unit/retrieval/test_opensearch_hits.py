"""Search replies become rankings in the server's order; a partial reply is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.servers.search_server import reply

from pytest_rageval.errors import CaseError, ModelError
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.opensearch.hits import hits_of, ranking_of_hits
from pytest_rageval.retrieval.opensearch.settings import Index

INDEX = Index("http://localhost:9200", "passages", "text", "_id", "title", "meta.page")
FAILED_SHARDS = {"total": 5, "failed": 2, "failures": [{"reason": {"type": "x", "reason": "too many\nclauses"}}]}

SKIPPED_CLUSTERS = {"total": 3, "successful": 1, "skipped": 1, "running": 0, "partial": 1, "failed": 0}


def ranking(index: Index, *hits: dict[str, Any], k: int = 5) -> Ranking:
    return ranking_of_hits(hits_of(json.dumps({"hits": {"hits": hits}}).encode(), "host/i"), index, k)


def test_hits_become_passages_in_the_order_of_the_server() -> None:
    document = {"text": "It opens at 9.", "title": "Visit", "meta": {"page": 7}}
    tied = [{"_id": name, "_score": 1.5, "_source": document} for name in ("b", "a", "c")]
    items = tuple(ScoredPassage(name, 1.5, "It opens at 9.", "Visit", "7") for name in ("b", "a"))
    assert ranking(INDEX, *tied, k=2) == Ranking(items)


def test_a_field_may_have_a_dot_in_its_name() -> None:
    index = Index("http://localhost:9200", "passages", "body.text", "key")
    hit = {"_id": "x", "_score": None, "_source": {"body.text": "flat", "body": {"text": "nested"}, "key": 12}}
    assert ranking(index, hit) == Ranking((ScoredPassage("12", None, "flat"),))


def test_a_document_without_a_text_becomes_a_passage_with_only_an_id() -> None:
    assert ranking(INDEX, {"_id": "x", "_score": 1.0}) == Ranking((ScoredPassage("x", 1.0),))


def test_no_hits_are_an_empty_ranking() -> None:
    assert ranking_of_hits(hits_of(json.dumps(reply()).encode(), "host/i"), INDEX, 5) == Ranking()


@pytest.mark.parametrize(
    ("hit", "sentence"),
    [
        ({"_source": {"text": ["a", "b"]}}, "has a list in text; set text_field to a field of texts"),
        ({"_source": {"title": {"en": "a"}}}, "has a dict in title; set title_field to a field of texts"),
        ({"_score": "high"}, "has the score 'high', which is not a number"),
        ({"_score": float("nan")}, "has the score nan, which is not a number"),
    ],
)
def test_a_malformed_hit_is_an_error(hit: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CaseError) as caught:
        ranking(INDEX, {"_id": "d1", **hit})
    assert (caught.value.kind, str(caught.value)) == (
        "bad_ranking",
        f"the hit 'd1' of localhost:9200/passages {sentence}",
    )


def test_a_document_without_its_id_is_an_error() -> None:
    with pytest.raises(CaseError, match="the hit 'd1' of h/i has no key; set id_field to a field of every document"):
        ranking(Index("http://h", "i", "text", "key"), {"_id": "d1", "_source": {"text": "a"}})


@pytest.mark.parametrize(
    ("content", "kind", "detail"),
    [
        (b"<!DOCTYPE html>", "malformed_response", "(JSONDecodeError: Expecting value: line 1 column 1 (char 0))"),
        (b"[" * 100_000, "malformed_response", "(RecursionError: "),
        (b"[]", "malformed_response", "(a JSON list instead of an object)"),
        (b'{"tagline": "The OpenSearch Project"}', "malformed_response", "(no list of hits with ids)"),
        (b'{"hits": {"hits": [{"_source": {}}]}}', "malformed_response", "(no list of hits with ids)"),
        (json.dumps(reply(timed_out=True)).encode(), "timeout", "(timed_out: it returned a part of the hits)"),
        (json.dumps(reply(_shards=FAILED_SHARDS)).encode(), "server_error", "(2 of 5 shards failed: too many clauses)"),
        (json.dumps(reply(_shards={"failed": 1})).encode(), "server_error", "(1 of None shards failed)"),
        (
            json.dumps(reply(_clusters=SKIPPED_CLUSTERS)).encode(),
            "server_error",
            "(of 3 clusters: 1 skipped, 1 partial)",
        ),
        (json.dumps(reply(_clusters={"failed": 1})).encode(), "server_error", "(of None clusters: 1 failed)"),
        (json.dumps(reply(_shards={"total": 0, "failed": 0})).encode(), "not_found", "(no index matches the name)"),
    ],
)
def test_an_incomplete_or_malformed_reply_is_an_error(content: bytes, kind: str, detail: str) -> None:
    with pytest.raises(ModelError) as caught:
        hits_of(content, "host/i")
    assert caught.value.kind == kind
    assert str(caught.value).startswith("the search server host/i ")
    assert detail in str(caught.value)
