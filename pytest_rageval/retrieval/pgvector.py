"""Passages in a table of PostgreSQL, searched there by pgvector."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, found
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.checks import checked
from pytest_rageval.retrieval.dense import model_of
from pytest_rageval.retrieval.embedding import query_vector
from pytest_rageval.retrieval.encoder import POOLINGS, Encoder, SentenceEncoder
from pytest_rageval.retrieval.postgres import (
    DISTANCES,
    Table,
    connected,
    dsn_of,
    line_of,
    looked_at,
    statement_of,
    table_of,
)
from pytest_rageval.retrieval.retriever_params import Params

if TYPE_CHECKING:
    from psycopg import Connection

    from pytest_rageval.retrieval.vectors import Matrix

__all__ = ["PgVector", "build"]

CANDIDATES = 40
"""How many rows an HNSW index of pgvector finds unless it is told to find more ..."""

MOST_CANDIDATES = 1000
"""... and how many it can be told to."""


class _Build:
    """Makes the retriever of a table; its settings are the table's, the dsn, and those of ``dense`` for a question."""

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
    """A `Retriever` over a table with pgvector, which it only reads.

    A score is the cosine, the inner product or the negative distance. A connection that is lost between two queries is
    made anew, once. A row without a vector is not found.

    Args:
        dsn: the connection string; what it leaves out comes from libpq's variables, such as PGHOST and PGPASSWORD.
        table: where the passages are.
        load: gives what makes the vector of a question, as those of the table were made.
        prefix: what stands before a question.
        normalize: whether the vector of a question is made as long as 1.

    Attributes:
        facts: the table, its distance, dimension and size.

    Raises:
        SettingError: there is no such database, table or column, the table is empty, or its vectors have another
            dimension than those of the encoder.
    """

    def __init__(
        self, dsn: str, table: Table, load: Callable[[], Encoder], prefix: str = "", normalize: bool = False
    ) -> None:
        self._dsn = dsn
        self._table = table
        self._prefix = prefix
        self._normalize = normalize
        self._lock = threading.Lock()
        self._connection = self._connected()
        self._dimension, size = looked_at(self._connection, table)
        self._select = statement_of(table)
        self._encoder = load()
        made = self._encoder.encode(["dimension"]).shape[1]
        if made != self._dimension:
            told = (
                f"the vectors of {found(table.name)} have {self._dimension} numbers, and those of the questions {made}"
            )
            raise SettingError(f"{told}; set model to the one that the table was made with")
        self.facts: dict[str, str | int] = {
            "retriever": "pgvector",
            "table": table.name,
            "distance": table.distance,
            "dimension": self._dimension,
            "disk_bytes": size,
        }

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` nearest passages.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query"), its vector or that of a row cannot be compared
                ("bad_vector"), the database is gone ("connection") or refuses the query ("system_error").
        """
        checked(query, k)
        vector = query_vector(self._encoder, self._prefix + query, self._normalize, self._dimension)
        with self._lock:
            rows = self._rows(vector, k)
        score = DISTANCES[self._table.distance][1]
        for name, _, _, distance in rows:
            if not math.isfinite(distance):
                where = f"the row {found(str(name))} of {found(self._table.name)}"
                raise CaseError("bad_vector", f"{where} is at no distance of the question; a vector is all zeros")
        return Ranking(
            tuple(ScoredPassage(str(name), score(far), text or "", title or "") for name, text, title, far in rows)
        )

    def _rows(self, vector: Matrix, k: int) -> list[Any]:
        """Return the rows, from a new connection where the one that there was is lost."""
        import psycopg

        try:
            if not self._connection.closed:
                try:
                    return self._asked(vector, k)
                except psycopg.OperationalError:
                    if not self._connection.closed:
                        raise
            self._connection = self._connected()
            return self._asked(vector, k)
        except SettingError as error:
            raise CaseError("connection", str(error)) from None
        except psycopg.Error as error:
            problem = f"the table {found(self._table.name)} cannot be searched: {line_of(error)}"
            raise CaseError("system_error", problem) from None

    def _asked(self, vector: Matrix, k: int) -> list[Any]:
        with self._connection.transaction():
            if k > CANDIDATES:
                most = str(min(k, MOST_CANDIDATES))
                self._connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [most])
            values = {"vector": str(vector.tolist()), "k": k}
            # planned with its values each time, so that an index is used
            return self._connection.execute(self._select, values, prepare=False).fetchall()

    def _connected(self) -> Connection[Any]:
        connection = connected(self._dsn)
        weakref.finalize(self, connection.close)
        return connection
