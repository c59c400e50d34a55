"""The retriever opensearch over HTTP: osmem for text queries, a fake server for vectors."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.servers.openai_server import Fault, OpenAIServer
from support.servers.search_server import SearchServer, ask, osmem, reply

from pytest_rageval.errors import CaseError, ModelError, SettingError
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.secrets import name_secrets
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.retrieval.opensearch.retriever import OpenSearch, build
from pytest_rageval.retrieval.retriever_parts import Network, RetrieverParts

WORDS = [*(f"word{number}" for number in range(60)), "博物馆", "九点", "开门", "商店", "关门"]
KNN = {"query": {"knn": {"v": {"vector": "{vector}", "k": "{k}"}}}}
HTML = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 15\r\n\r\n<html>Sign in\r\n"
LOGIN = "elastic:correct-horse-battery"


@pytest.fixture(autouse=True)
def no_masked_secrets() -> Iterator[None]:
    """Stop masking the credentials of a test when it ends."""
    yield
    name_secrets(())


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    """Yield the address of a server with 2,000 passages, many with equal scores."""
    rng = random.Random(3)
    passages = [
        {"_id": f"p{number}", "text": " ".join(rng.choices(WORDS, k=8)), "lang": "en" if number % 2 else "zh"}
        for number in range(2_000)
    ]
    with osmem(passages=passages) as url:
        yield url


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as started:
        yield started


def retriever(url: str, network: Network | None = None, folder: Path = Path(), **params: object) -> OpenSearch:
    settings = {"url": url, "index": "passages", **params}
    searcher: Any = build(RetrieverParts((), settings, folder=folder, network=network or Network()))
    return searcher  # type: ignore[no-any-return]


def search_all(searcher: OpenSearch, *questions: str, k: int = 5) -> list[Ranking]:
    """Search for all questions at once and return their rankings."""

    async def all_at_once() -> list[Ranking]:
        try:
            return await asyncio.gather(*(searcher.search(question, k) for question in questions))
        finally:
            await searcher.client.close()

    return asyncio.run(all_at_once())


def fails(searcher: OpenSearch, question: str = "word1") -> ModelError:
    with pytest.raises(ModelError) as caught:
        search_all(searcher, question)
    return caught.value


def test_two_hundred_questions_get_the_same_hits_as_direct_requests(upstream: str) -> None:
    rng = random.Random(5)
    questions = [" ".join(rng.choices(WORDS, k=rng.randint(1, 3))) for _ in range(200)]
    rankings = search_all(retriever(upstream), *questions, k=10)
    for question, ranking in zip(questions, rankings, strict=True):
        body = {"query": {"match": {"text": question}}, "size": 10}
        hits = ask(f"{upstream}/passages/_search", json.dumps(body))["hits"]["hits"]
        assert [(hit["_id"], hit["_score"], hit["_source"]["text"]) for hit in hits] == [
            (item.doc_id, item.score, item.text) for item in ranking
        ]
    assert sum(len({item.score for item in ranking}) < len(ranking) for ranking in rankings) > 20  # ties are usual here


def test_a_filter_and_a_custom_query_reach_the_server(upstream: str, tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(
        json.dumps({"query": {"multi_match": {"query": "{question}", "fields": ["text", "title"]}}, "size": "{k}"})
    )
    (filtered,) = search_all(retriever(upstream, filter={"term": {"lang": "zh"}}), "word1", k=50)
    assert len(filtered) == 50
    assert all(int(name[1:]) % 2 == 0 for name in filtered.doc_ids)
    (custom,) = search_all(retriever(upstream, folder=tmp_path, query="all.json"), "word1")
    (default,) = search_all(retriever(upstream), "word1")
    assert custom == default


def test_quotes_and_braces_of_a_question_stay_text(upstream: str) -> None:
    (ranking,) = search_all(retriever(upstream), '{k} "}, {"match_all": {}} word1')
    (plain,) = search_all(retriever(upstream), "word1")
    assert set(ranking.doc_ids) & set(plain.doc_ids)


@pytest.mark.parametrize(
    ("params", "kind", "sentence"),
    [
        ({"index": "pasages"}, "not_found", "pasages was not found (no such index [pasages]); check index and url in"),
        (
            {"query": "knn.json"},
            "bad_request",
            "refused the query ([knn] query is not supported by osmem); correct que",
        ),
    ],
)
def test_a_refused_search_reports_the_message_of_the_server(
    upstream: str, tmp_path: Path, params: dict[str, Any], kind: str, sentence: str
) -> None:
    body = {"query": {"bool": {"must": [{"knn": {"v": {"vector": [1.0], "k": 5}}}, {"match": {"text": "{question}"}}]}}}
    (tmp_path / "knn.json").write_text(json.dumps(body))
    error = fails(retriever(upstream, folder=tmp_path, **params))
    assert (error.kind, error.attempts) == (kind, 1)
    assert sentence in str(error)


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        (Fault("status", 429), "rate_limited", "refused the search: too many requests"),
        (Fault("status", 503, message="busy"), "server_error", "failed on its own side"),
        (Fault("reset"), "connection", "could not be reached, or broke the connection"),
        (Fault("truncated_body"), "truncated", "broke off in the middle of its reply"),
        (Fault("malformed"), "malformed_response", "sent an invalid search result (JSONDecodeError"),
        (Fault("raw", raw=HTML), "malformed_response", "sent an invalid search result (JSONDecodeError"),
        (Fault("hang"), "timeout", "did not answer in time"),
    ],
)
def test_faults_are_retried_and_then_reported_in_one_sentence(
    upstream: str, server: SearchServer, fault: Fault, kind: str, sentence: str
) -> None:
    server.upstream, server.plan = upstream, lambda number, body: fault if number < 3 else None
    params: dict[str, Any] = {"timeout": 0.2} if fault.kind == "hang" else {}
    (ranking,) = search_all(retriever(server.url, **params), "word1")
    assert (len(ranking), len(server.requests)) == (5, 3)
    server.plan = lambda number, body: fault
    error = fails(retriever(server.url, attempts=2, **params))
    assert (error.kind, error.attempts) == (kind, 2)
    assert str(error).startswith(f"the search server 127.0.0.1:{server.port}/passages {sentence}")
    assert str(error).endswith("(tried twice)")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(("p1", 1.0, "half"), timed_out=True), "timeout"),
        (reply(("p1", 1.0, "half"), _shards={"total": 2, "failed": 1}), "server_error"),
        ({"acknowledged": True}, "malformed_response"),
    ],
)
def test_a_partial_list_of_hits_is_an_error(server: SearchServer, answer: Mapping[str, Any], kind: str) -> None:
    server.answers = lambda body: answer
    assert fails(retriever(server.url, attempts=1)).kind == kind


def test_a_server_slower_than_the_deadline_is_a_timeout(server: SearchServer) -> None:
    server.delay_s = 5.0
    error = fails(retriever(server.url, deadline=0.2))
    assert error.kind == "timeout"
    assert "there was no reply within the deadline of 0.2 s" in str(error)


def test_a_pattern_that_no_index_matches_stops_later_searches(server: SearchServer) -> None:
    server.answers = lambda body: reply(_shards={"total": 0, "successful": 0, "skipped": 0, "failed": 0})
    searcher = retriever(server.url, index="pasages-*")
    assert fails(searcher).kind == "not_found"
    assert searcher.client.refused is not None
    assert "pasages-* was not found (no index matches the name); check index and url" in str(fails(searcher))
    assert len(server.requests) == 1


def test_three_searches_without_a_text_are_a_warning(server: SearchServer) -> None:
    server.answers = lambda body: reply(("p1", 1.0, "It opens at 9."))
    few, several = (retriever(server.url, text_field="text.en") for _ in range(2))
    search_all(few, "a", "b")
    assert few.client.warning is None
    search_all(several, "a", "b", "c")
    label = f"{server.url.removeprefix('http://')}/passages"
    assert several.client.warning == (
        f"no hit of 3 searches of {label} has a text in text.en, so the contexts are empty; "
        "check text_field in rag_retriever_params"
    )
    right = retriever(server.url)
    search_all(right, "a", "b", "c")
    assert right.client.warning is None


def test_a_redirect_that_drops_the_body_is_not_followed(server: SearchServer) -> None:
    moved = b"HTTP/1.1 301 Moved\r\nlocation: /elsewhere?key=hidden\r\ncontent-length: 0\r\n\r\n"
    server.plan = lambda number, body: Fault("raw", raw=moved)
    error = fails(retriever(server.url))
    assert (error.kind, error.attempts) == ("bad_address", 1)
    assert f"status 301 leads to {server.url}/elsewhere without the request's body); correct url or url_env" in str(
        error
    )
    assert len(server.requests) == 1


def test_a_redirect_to_another_server_gets_no_headers(server: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANT", '{"X-Api-Key": "correct-horse"}')
    with SearchServer() as other:
        moved = f"HTTP/1.1 307 Moved\r\nlocation: {other.url}/i/_search?key=hidden\r\ncontent-length: 0\r\n\r\n"
        server.plan = lambda number, body: Fault("raw", raw=moved.encode())
        error = fails(retriever(server.url, headers_env="TENANT"))
        assert other.requests == []
    assert (error.kind, error.attempts) == ("bad_address", 1)
    assert f"status 307 leads to {other.url}/i/_search, which is another server); correct url or url_env" in str(error)


def test_a_server_of_another_protocol_is_reported_in_one_sentence(server: SearchServer) -> None:
    server.plan = lambda number, body: Fault("raw", raw=b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    error = fails(retriever(server.url))
    assert (error.kind, error.attempts) == ("bad_protocol", 1)
    assert "did not reply in valid HTTP" in str(error)
    assert str(error).endswith("check that url or url_env is its address")


def test_at_most_sixteen_searches_are_in_flight(upstream: str, server: SearchServer) -> None:
    server.upstream, server.delay_s = upstream, 0.05
    search_all(retriever(server.url), *(f"word{number}" for number in range(40)))
    assert server.peak == 16


def test_no_search_is_sent_after_a_refused_login(server: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH", LOGIN)
    server.plan = lambda number, body: Fault("status", 401, message=f"no user {LOGIN}")
    searcher = retriever(server.url, auth_env="AUTH")
    error = fails(searcher)
    assert fails(searcher).kind == error.kind == "auth"
    assert "asks for a login, or refused the credentials; set auth_env" in str(error)
    assert "battery" not in str(error)
    assert searcher.client.refused is not None
    assert len(server.requests) == 1
    assert server.requests[0].headers["authorization"] == "Basic ZWxhc3RpYzpjb3JyZWN0LWhvcnNlLWJhdHRlcnk="


def test_a_secret_header_that_the_server_echoes_is_masked(
    server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRA", '{"X-Tenant": "tenant-of-mine"}')
    server.plan = lambda number, body: Fault("status", 400, message="bad tenant-of-mine")
    error = fails(retriever(server.url, headers_env="EXTRA"))
    assert "refused the query (bad [masked])" in str(error)
    assert server.requests[0].headers["x-tenant"] == "tenant-of-mine"


def test_a_vector_query_is_sent_in_the_published_format(server: SearchServer, tmp_path: Path) -> None:
    vectors = {"left": [1.0, 0.0], "right": [0.0, 1.0], "between": [0.6, 0.8]}
    server.documents = {name: (vector, f"text of {name}") for name, vector in vectors.items()}
    (tmp_path / "knn.json").write_text(json.dumps(KNN))
    searcher = retriever(server.url, folder=tmp_path, query="knn.json")
    with pytest.raises(SettingError, match=r"has \{vector\}, and no model embeds the question; set rag_embedder_model"):
        search_all(searcher, "which way?")
    with OpenAIServer(vectors=lambda texts: [[0.1, 0.9] for _ in texts]) as embedder:
        (ranking,) = search_all(searcher.with_embedder(_Embedding(embedder.base_url)), "which way?", k=2)
    assert ranking.doc_ids == ("right", "between")
    assert server.bodies == [{"query": {"knn": {"v": {"vector": [0.1, 0.9], "k": 2}}}, "size": 2, "_source": ["text"]}]


class _Embedding:
    """A model of an OpenAI-compatible server."""

    def __init__(self, base: str) -> None:
        self._base = base

    async def embed(self, texts: Sequence[str], **params: object) -> Any:
        model = OpenAIHTTP("openai/embeddings")
        try:
            return await model.embed(texts, api_base=self._base, api_key="k" * 10)
        finally:
            await model.aclose()


@pytest.mark.parametrize(("question", "k", "error"), [(" ", 5, CaseError), ("word1", 0, SettingError)])
def test_nothing_is_sent_for_an_invalid_query(server: SearchServer, question: str, k: int, error: type) -> None:
    with pytest.raises(error):
        search_all(retriever(server.url), question, k=k)
    assert not server.requests


def test_a_search_is_recorded_once_and_replayed_without_a_server(
    upstream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD_TOKEN", "word1-and-more")
    with SearchServer(upstream=upstream) as server:
        cassettes = Cassettes(tmp_path, "once")
        first = search_all(
            retriever(server.url, Network(cassettes=cassettes)), "word1", "word2", "word1", "word1-and-more"
        )
        cassettes.close()
        url = server.url
    (path,) = tmp_path.glob("search-*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    label = f"127.0.0.1:{url.rpartition(':')[2]}/passages"
    assert {(record["kind"], record["model"]) for record in records} == {("search", label)}
    assert sorted(record["messages"]["query"]["match"]["text"] for record in records) == [
        "<WORD_TOKEN>", "word1", "word2",
    ]  # fmt: skip
    network = Network(cassettes=Cassettes(tmp_path, "none"))
    again = search_all(retriever(url, network, auth_env="GONE"), "word1", "word2", "word1", "word1-and-more")
    assert again == first
    error = fails(retriever(url, network), "word3")
    assert error.kind == "not_recorded"
    assert f"no reply of search '{label}' to this request is recorded (3 are in " in str(error)
    assert "+  word3" in str(error)


def test_a_failed_search_is_not_recorded(server: SearchServer, tmp_path: Path) -> None:
    server.answers = lambda body: reply(timed_out=True)
    fails(retriever(server.url, Network(cassettes=Cassettes(tmp_path, "all")), attempts=1))
    assert not [*tmp_path.glob("*.jsonl")]


def test_a_recording_without_hits_is_an_error(server: SearchServer, tmp_path: Path) -> None:
    server.answers = lambda body: reply()
    search_all(retriever(server.url, Network(cassettes=Cassettes(tmp_path, "all"))), "word1")
    (path,) = tmp_path.glob("search-*.jsonl")
    path.write_text(path.read_text().replace('"hits"', '"hots"'))
    error = fails(retriever(server.url, Network(cassettes=Cassettes(tmp_path, "none"))))
    assert str(error).endswith("has no hits; delete it and record it again")


def test_reading_the_settings_for_a_replay_imports_no_httpx(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.retrieval.retriever_parts import Network, RetrieverParts
from pytest_rageval.retrieval.opensearch.retriever import build
network = Network(cassettes=Cassettes(Path({str(tmp_path)!r}), "none"))
build(RetrieverParts((), {{"url": "http://host", "index": "i"}}, network=network))
sys.exit("httpx" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
