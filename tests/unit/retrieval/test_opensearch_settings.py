"""Settings of the retriever opensearch: index, query, credentials and error messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.llm.secrets import mask, name_secrets
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import BUILTIN
from pytest_rageval.retrieval.opensearch.query import QueryTemplate, template_of
from pytest_rageval.retrieval.opensearch.settings import Index, credentials_of, index_of
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverFactory, RetrieverParts

MINIMAL = {"url": "https://search.example:9200/os/", "index": "passages"}
INDEX = Index("http://localhost:9200", "passages")


@pytest.fixture(autouse=True)
def no_masked_secrets() -> Iterator[None]:
    """Stop masking the credentials of a test when it ends."""
    yield
    name_secrets(())


def template(folder: Path, body: object = None, **params: object) -> QueryTemplate:
    if body is not None:
        (folder / "query.json").write_text(body if isinstance(body, str) else json.dumps(body), encoding="utf-8")
        params["query"] = "query.json"
    return template_of(Params(params), INDEX, folder)


def test_an_index_has_an_address_and_a_label_without_the_scheme() -> None:
    index = index_of(Params(MINIMAL | {"index": "docs-*,old docs", "title_field": "title", "id_field": "meta.id"}))
    assert index.address == "https://search.example:9200/os/docs-*,old%20docs/_search"
    assert index.label == "search.example:9200/os/docs-*,old docs"
    assert index.fields == ["text", "title", "meta.id"]


def test_the_address_may_come_from_a_variable() -> None:
    index = index_of(Params({"url_env": "SEARCH_URL", "index": "passages"}), {"SEARCH_URL": "http://localhost:9200/\n"})
    assert index.address == "http://localhost:9200/passages/_search"


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"index": "passages"}, "names no search server; write url_env = VARIABLE, or url = https://HOST:9200"),
        ({"url_env": "GONE", "index": "i"}, "url_env = 'GONE', but the environment has no such variable; set it to "),
        ({**MINIMAL, "url_env": "GONE"}, "gives both url and url_env; give one of them"),
        (
            {**MINIMAL, "url": "localhost:9200"},
            "url is not the address of a search server: it does not begin with http",
        ),
        ({**MINIMAL, "url": "ftp://host"}, "it does not begin with http:// or https:// and a host"),
        ({**MINIMAL, "url": "http://host:99999"}, "url is not the address of a search server: Port out of range"),
        (
            {**MINIMAL, "url": "https://me:hidden@host"},
            "it has credentials in its URL; write https://HOST:9200, and put",
        ),
        ({**MINIMAL, "url": "https://host?key=hidden"}, "it has a query; write https://HOST:9200"),
        ({"url": MINIMAL["url"]}, "names no index for opensearch to search; write index = NAME"),
        ({**MINIMAL, "text_field": ""}, "names no text_field for opensearch to search"),
        ({**MINIMAL, "id_feld": "key"}, "has the unknown setting 'id_feld'; did you mean 'id_field'?"),
        ({**MINIMAL, "attempts": 0}, "has attempts = 0; write a whole number of 1 or more"),
        ({**MINIMAL, "timeout": 0}, "has timeout = 0; write a number of 0.001 or more"),
        ({**MINIMAL, "filter": "lang:en"}, "has filter = 'lang:en'; write a JSON object like"),
        (
            {**MINIMAL, "filter": {}, "query": "query.json"},
            "has both filter and the query 'query.json'; write the filter",
        ),
        (
            {**MINIMAL, "query": "gone.json"},
            "has query = 'gone.json', and that file cannot be read (No such file or dir",
        ),
        (
            {**MINIMAL, "auth_env": "GONE"},
            "auth_env = 'GONE', but the environment has no such variable; set it to user:",
        ),
        (
            {**MINIMAL, "headers_env": "GONE"},
            "headers_env = 'GONE', but the environment has no such variable; set it to",
        ),
    ],
)
def test_an_invalid_setting_is_one_sentence(tmp_path: Path, params: dict[str, Any], sentence: str) -> None:
    factory = Registry[RetrieverFactory]("retriever", BUILTIN).get("opensearch")
    with pytest.raises(SettingError) as caught:
        factory(RetrieverParts((), params, folder=tmp_path))
    assert sentence in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_by_default_the_query_matches_the_question_and_returns_only_named_fields(tmp_path: Path) -> None:
    assert template(tmp_path).fill('Who said "no"?', 7) == {
        "size": 7,
        "_source": ["text"],
        "query": {"match": {"text": 'Who said "no"?'}},
    }


def test_a_filter_is_added_to_the_match(tmp_path: Path) -> None:
    clause = {"term": {"lang": "en"}}
    assert template(tmp_path, filter=clause).fill("q", 1)["query"] == {
        "bool": {"must": [{"match": {"text": "q"}}], "filter": clause}
    }


def test_placeholders_in_a_query_file_are_replaced_by_json_values(tmp_path: Path) -> None:
    match: dict[str, Any] = {"match": {"body": {"query": "{question}"}}}
    near: dict[str, Any] = {"knn": {"v": {"vector": "{vector}", "k": "{k}"}}}
    query = template(tmp_path, {"query": {"hybrid": {"queries": [match, near]}}, "size": 20, "{k}": "a key stays"})
    assert query.needs_vector
    question = '{k} "}], {vector}'
    match, near = {"match": {"body": {"query": question}}}, {"knn": {"v": {"vector": [0.5, 1.0], "k": 3}}}
    assert query.fill(question, 3, [0.5, 1.0]) == {
        "query": {"hybrid": {"queries": [match, near]}},
        "size": 20,
        "_source": ["text"],
        "{k}": "a key stays",
    }


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"query":\n  {"match": }}', "query.json:2: the query is not JSON (Expecting value); correct it"),
        ([], "query.json: the query is not a JSON object"),
        ({"query": {"match_all": {}}}, 'has neither "{question}" nor "{vector}", so it would ignore the question'),
        ({"query": {"match": {"text": "{qestion}"}}}, "unknown placeholder '{qestion}'; did you mean '{question}'?"),
        (
            {"query": {"match": {"text": "title:{question}"}}},
            "'title:{question}' holds {question} inside a longer text",
        ),
    ],
)
def test_an_invalid_query_file_is_refused(tmp_path: Path, body: object, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        template(tmp_path, body)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("elastic:pass:word 1", "Basic " + base64.b64encode(b"elastic:pass:word 1").decode()),
        ("ApiKey VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6", "ApiKey VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6"),
        ("Bearer abc.def", "Bearer abc.def"),
    ],
)
def test_credentials_come_from_variables(value: str, header: str) -> None:
    environment = {"AUTH": value, "EXTRA": '{"X-Tenant": "docs"}'}
    params = Params({"auth_env": "AUTH", "headers_env": "EXTRA"})
    credentials = credentials_of(params, may_send=True, environment=environment)
    assert credentials.headers == {"X-Tenant": "docs", "Authorization": header}
    assert {value, "docs", header.partition(" ")[2]} <= set(credentials.secrets)


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        ("elastic:correct-horse", ["correct-horse", base64.b64encode(b"elastic:correct-horse").decode()]),
        ("ApiKey VnVhQ2ZHY0JDZGJrUW0t", ["VnVhQ2ZHY0JDZGJrUW0t", "ApiKey VnVhQ2ZHY0JDZGJrUW0t"]),
    ],
)
def test_each_part_of_the_credentials_is_masked_until_the_session_ends(value: str, pieces: list[str]) -> None:
    environment = {"LOGIN": value, "EXTRA": '{"X-Tenant": "docs", "X-Api-Key": "battery-staple-9"}'}
    credentials_of(Params({"auth_env": "LOGIN", "headers_env": "EXTRA"}), may_send=True, environment=environment)
    assert [mask(f"sent {piece}.") for piece in pieces] == ["sent <LOGIN>."] * len(pieces)
    assert mask("the docs: battery-staple-9") == "the docs: <EXTRA>"
    name_secrets(())
    assert mask(f"{pieces} battery-staple-9") == f"{pieces} battery-staple-9"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("auth_env", "hidden", "the variable AUTH of auth_env is neither user:password nor 'ApiKey KEY'; correct it"),
        (
            "auth_env",
            "ApiKey hidden\tkéy",
            "the header 'Authorization' of opensearch has characters that HTTP does not",
        ),
        ("headers_env", "X-Tenant: hidden", "the variable AUTH of headers_env is not a JSON object like"),
        ("headers_env", '{"X-Tenant": 5}', "the variable AUTH of headers_env is not a JSON object like"),
    ],
)
def test_malformed_credentials_are_not_shown(name: str, value: str, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        credentials_of(Params({name: "AUTH"}), may_send=True, environment={"AUTH": value})
    assert str(caught.value).startswith(sentence)
    assert "hidden" not in str(caught.value)


def test_a_replay_needs_no_credentials() -> None:
    params = Params({"auth_env": "GONE", "headers_env": "GONE"})
    assert credentials_of(params, may_send=False, environment={}).headers == {}
