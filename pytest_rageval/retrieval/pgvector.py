"""The retriever ``pgvector``: search a PostgreSQL table with pgvector."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, short_repr
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.checks import check_query
from pytest_rageval.retrieval.dense import model_of
from pytest_rageval.retrieval.embedding import query_vector
from pytest_rageval.retrieval.encoder import POOLINGS, Encoder, SentenceEncoder
from pytest_rageval.retrieval.postgres import (
    DISTANCES,
    Table,
    connect,
    describe_table,
    dsn_of,
    one_line_message,
    statement_of,
    table_of,
)
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts

if TYPE_CHECKING:
    from psycopg import Connection

    from pytest_rageval.retrieval.vectors import Matrix

__all__ = ["PgVector", "build"]

DEFAULT_CANDIDATES = 40
"""Default of pgvector's ``hnsw.ef_search``: the number of rows that a search of an HNSW index can return."""

MAX_CANDIDATES = 1000
"""Maximum of ``hnsw.ef_search``."""


class _Build:
    """The factory of the retriever; its settings name the database, the table and the model of the query vectors."""

    needs_corpus = False

    def __call__(self, parts: RetrieverParts) -> Retriever:
        params = Params(parts.params)
        table, dsn = table_of(params), dsn_of(params)
        model, prefix = model_of(params, parts.folder, "pgvector"), params.text("query_prefix", "")
        pooling, normalize = params.choice("pooling", "model", POOLINGS), params.flag("normalize", True)
        device = params.text("device", "cpu")
        params.finish()
        for library, extra in (("psycopg", "pgvector"), ("sentence_transformers", "dense")):
            if find_spec(library) is None:
                raise MissingDependencyError("the retriever 'pgvector'", extra)
        return PgVector(dsn, table, partial(SentenceEncoder, model, pooling, device, 1, "pgvector"), prefix, normalize)


build = _Build()


class PgVector:
    """A `Retriever` over a table with pgvector; it only reads the table.

    A score is the cosine, the inner product or the negative distance. If the connection is lost between two queries, a
    new one is opened. Rows without a vector are never returned.

    Args:
        dsn: the connection string; libpq's variables, such as PGHOST and PGPASSWORD, supply the rest.
        table: the table of the passages.
        load: returns the encoder of queries, with the model that embedded the table.
        prefix: text before a query.
        normalize: whether the vector of a query is scaled to length 1.

    Attributes:
        facts: the name of the table, its distance, dimension and size.

    Raises:
        SettingError: the database, table or a column is missing, the table is empty, or its vectors have another
            dimension than the encoder's.
    """

    def __init__(
        self, dsn: str, table: Table, load: Callable[[], Encoder], prefix: str = "", normalize: bool = False
    ) -> None:
        self._dsn = dsn
        self._table = table
        self._prefix = prefix
        self._normalize = normalize
        self._lock = threading.Lock()
        self._connection = self._connect()
        self._dimension, size = describe_table(self._connection, table)
        self._select = statement_of(table)
        self._encoder = load()
        dimension = self._encoder.encode(["dimension"]).shape[1]
        if dimension != self._dimension:
            vectors = f"the vectors of {short_repr(table.name)} have {self._dimension} numbers"
            problem = f"{vectors}, but those of queries {dimension}"
            raise SettingError(f"{problem}; set model to the model of the table")
        self.facts: dict[str, str | int] = {
            "retriever": "pgvector",
            "table": table.name,
            "distance": table.distance,
            "dimension": self._dimension,
            "disk_bytes": size,
        }

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` nearest passages, best first.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query"), its vector or that of a row is invalid ("bad_vector"), the
                database is unreachable ("connection") or refuses the query ("system_error").
        """
        check_query(query, k)
        vector = query_vector(self._encoder, self._prefix + query, self._normalize, self._dimension)
        with self._lock:
            rows = self._rows(vector, k)
        score = DISTANCES[self._table.distance][1]
        for name, _, _, distance in rows:
            if not math.isfinite(distance):
                where = f"the row {short_repr(str(name))} of {short_repr(self._table.name)}"
                raise CaseError(
                    "bad_vector", f"{where} has no distance to the question; one of the two vectors is all zeros"
                )
        return Ranking(
            tuple(
                ScoredPassage(str(name), score(distance), text or "", title or "")
                for name, text, title, distance in rows
            )
        )

    def _rows(self, vector: Matrix, k: int) -> list[Any]:
        """Return the nearest rows; open a new connection if the old one is lost."""
        import psycopg

        try:
            if not self._connection.closed:
                try:
                    return self._query(vector, k)
                except psycopg.OperationalError:
                    if not self._connection.closed:
                        raise
            self._connection = self._connect()
            return self._query(vector, k)
        except SettingError as error:
            raise CaseError("connection", str(error)) from None
        except psycopg.Error as error:
            problem = f"the table {short_repr(self._table.name)} cannot be searched: {one_line_message(error)}"
            raise CaseError("system_error", problem) from None

    def _query(self, vector: Matrix, k: int) -> list[Any]:
        with self._connection.transaction():
            if k > DEFAULT_CANDIDATES:
                candidates = str(min(k, MAX_CANDIDATES))
                self._connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [candidates])
            values = {"vector": str(vector.tolist()), "k": k}
            # not prepared, because a prepared statement may ignore the index
            return self._connection.execute(self._select, values, prepare=False).fetchall()

    def _connect(self) -> Connection[Any]:
        connection = connect(self._dsn)
        weakref.finalize(self, connection.close)
        return connection
