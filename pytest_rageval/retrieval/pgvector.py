"""Passages in a table of PostgreSQL, searched there by pgvector."""

from __future__ import annotations

import math
import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, ascii_safe, did_you_mean, found
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.asked import checked
from pytest_rageval.retrieval.params import Params

if TYPE_CHECKING:
    from psycopg import Connection, sql

__all__ = ["Encoder", "PgVector", "Table", "dsn_of", "table_of"]

CONNECT_S = 5
"""How long a database is waited for, unless its dsn says another ``connect_timeout``."""

DISTANCES: dict[str, tuple[str, Callable[[float], float]]] = {
    "cosine": ("<=>", lambda distance: 1.0 - distance),
    "l2": ("<->", lambda distance: -distance),
    "inner_product": ("<#>", lambda distance: -distance),  # pgvector's operator is the negative product
}
"""Name -> pgvector's operator, and the score that a distance is."""

CANDIDATES = 40
"""How many rows an HNSW index of pgvector finds unless it is told to find more ..."""

MOST_CANDIDATES = 1000
"""... and how many it can be told to."""

_VECTOR = re.compile(r"vector(\([0-9]+\))?")


class Encoder(Protocol):
    """What makes the vector of a question, as the vectors of the table were made."""

    def encode_query(self, text: str, /) -> Iterable[float]:
        """Return the vector of a question."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """Where the passages are.

    Attributes:
        name: of the table or view, with its schema before a dot where it is not on the search path.
        ids: the column of ids.
        texts: the column of texts.
        titles: the column of titles; "" where there is none.
        embeddings: the column of vectors, of pgvector's type ``vector``.
        distance: one of `DISTANCES`.
    """

    name: str
    ids: str = "id"
    texts: str = "text"
    titles: str = ""
    embeddings: str = "embedding"
    distance: str = "cosine"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(filter(None, (self.ids, self.texts, self.titles, self.embeddings)))


def table_of(params: Params) -> Table:
    """Return the table that the settings name; none is a `SettingError`."""
    table = Table(
        params.text("table", ""),
        params.text("id_column", "id"),
        params.text("text_column", "text"),
        params.text("title_column", ""),
        params.text("embedding_column", "embedding"),
        params.choice("distance", "cosine", DISTANCES),
    )
    if not table.name:
        raise SettingError("rag_retriever_params names no table for pgvector to search; write table = NAME")
    return table


def dsn_of(params: Params, environment: Mapping[str, str] = os.environ) -> str:
    """Return the connection string that the settings give or name a variable for; "" leaves all to libpq's own."""
    dsn, variable = params.text("dsn", ""), params.text("dsn_env", "")
    if dsn and variable:
        raise SettingError("rag_retriever_params gives both dsn and dsn_env; give one of them")
    if variable and not environment.get(variable):
        problem = f"has dsn_env = {found(variable)}, and the environment has no such variable"
        raise SettingError(f"rag_retriever_params {problem}; set it to postgresql://user:password@host/database")
    return environment[variable] if variable else dsn


class PgVector:
    """A `Retriever` over a table with pgvector, which it only reads.

    A score is the cosine, the inner product or the negative distance. A connection that is lost between two queries is
    made anew, once. A row without a vector is not found.

    Args:
        dsn: the connection string; what it leaves out comes from libpq's variables, such as PGHOST and PGPASSWORD.
        table: where the passages are.
        encoder: makes the vector of a question.

    Attributes:
        facts: the table, its distance and its size.

    Raises:
        SettingError: there is no such database, table or column, the table is empty, or its vectors have another
            dimension than those of the encoder.
        MissingDependencyError: psycopg is not installed.
    """

    def __init__(self, dsn: str, table: Table, encoder: Encoder) -> None:
        self._dsn = dsn
        self._table = table
        self._encoder = encoder
        self._lock = threading.Lock()
        self._psycopg = _psycopg()
        self._connection = self._connected()
        try:
            size = self._look()
        except self._psycopg.Error as error:
            problem = f"the table {found(table.name)} cannot be read: {_line(error)}"
            raise SettingError(f"pgvector: {problem}") from None
        self._select = self._statement()
        self.facts: dict[str, str | int] = {
            "retriever": "pgvector",
            "table": table.name,
            "distance": table.distance,
            "disk_bytes": size,
        }

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` nearest passages.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query"), the database is gone ("connection") or refuses the query, or
                the nearest rows are at no distance, as a vector of zeros has no direction ("system_error").
        """
        checked(query, k)
        vector = _literal(self._encoder.encode_query(query))
        with self._lock:
            rows = self._rows(vector, k)
        score = DISTANCES[self._table.distance][1]
        items = tuple(
            ScoredPassage(str(name), score(distance), text or "", title or "") for name, text, title, distance in rows
        )
        lost = next((item for item in items if item.score is None or not math.isfinite(item.score)), None)
        if lost is not None:
            problem = f"the row {found(lost.doc_id)} of {found(self._table.name)} is at no distance of the question"
            raise CaseError("system_error", f"pgvector: {problem}; one of the two vectors is all zeros or not finite")
        return Ranking(items)

    def _rows(self, vector: str, k: int) -> list[Any]:
        """Return the rows, from a new connection where the one that there was is lost."""
        try:
            if not self._connection.closed:
                try:
                    return self._asked(vector, k)
                except self._psycopg.OperationalError:
                    if not self._connection.closed:
                        raise
            self._connection = self._connected()
            return self._asked(vector, k)
        except SettingError as error:
            raise CaseError("connection", str(error)) from None
        except self._psycopg.Error as error:
            problem = f"the table {found(self._table.name)} cannot be searched: {_line(error)}"
            raise CaseError("system_error", f"pgvector: {problem}") from None

    def _asked(self, vector: str, k: int) -> list[Any]:
        with self._connection.transaction():
            if k > CANDIDATES:
                most = str(min(k, MOST_CANDIDATES))
                self._connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [most])
            values = {"vector": vector, "k": k}  # planned with its values each time, so that an index is used
            return self._connection.execute(self._select, values, prepare=False).fetchall()

    def _connected(self) -> Connection[Any]:
        psycopg = self._psycopg
        try:
            given = psycopg.conninfo.conninfo_to_dict(self._dsn)
        except psycopg.ProgrammingError:  # its message may hold the password
            wanted = "postgresql://user:password@host:5432/database"
            raise SettingError(f"the dsn of pgvector is no connection string; write {wanted}") from None
        try:
            connection: Connection[Any] = psycopg.connect(
                **{"connect_timeout": CONNECT_S, **given}, autocommit=True, client_encoding="utf-8"
            )
        except psycopg.Error as error:
            check = "check dsn or dsn_env in rag_retriever_params, or libpq's PG variables"
            raise SettingError(f"pgvector has no connection to the database: {_line(error)}; {check}") from None
        weakref.finalize(self, connection.close)
        return connection

    def _look(self) -> int:
        """Return the bytes of the table; what does not fit is a `SettingError`."""
        from psycopg import sql

        table, name = self._table, found(self._table.name)
        identifier = sql.Identifier(*table.name.split("."))
        columns = self._connection.execute(
            "SELECT attname, format_type(atttypid, atttypmod), pg_total_relation_size(attrelid) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
            [identifier.as_string(self._connection)],
        ).fetchall()
        if not columns:
            raise SettingError(f"the database of pgvector has no table {name}; write table = NAME or SCHEMA.NAME")
        types = {column: kind for column, kind, _ in columns}
        for column in table.columns:
            if column not in types:
                raise SettingError(f"the table {name} has no column {found(column)}; {did_you_mean(column, types)}")
        if not _VECTOR.fullmatch(types[table.embeddings]):
            told = f"the column {found(table.embeddings)} of {name} is of the type {types[table.embeddings]}"
            raise SettingError(f"{told}, wanted vector; set embedding_column")
        one = sql.SQL("SELECT vector_dims({0}) FROM {1} WHERE {0} IS NOT NULL LIMIT 1").format(
            sql.Identifier(table.embeddings), identifier
        )
        row = self._connection.execute(one).fetchone()
        if row is None:
            raise SettingError(f"the table {name} has no row with a vector; fill it before it is searched")
        made = len(list(self._encoder.encode_query("dimension")))
        if row[0] != made:
            told = f"the vectors of {name} have {row[0]} numbers, and those of the questions {made}"
            raise SettingError(f"{told}; set model to the one that the table was made with")
        return int(columns[0][2])

    def _statement(self) -> sql.Composed:
        from psycopg import sql

        table = self._table
        return sql.SQL(
            "SELECT {ids}, {texts}, {titles}, {embeddings} {operator} %(vector)s::vector AS distance FROM {table} "
            "WHERE {embeddings} IS NOT NULL ORDER BY distance LIMIT %(k)s"
        ).format(
            ids=sql.Identifier(table.ids),
            texts=sql.Identifier(table.texts),
            titles=sql.Identifier(table.titles) if table.titles else sql.Literal(""),
            embeddings=sql.Identifier(table.embeddings),
            operator=sql.SQL(DISTANCES[table.distance][0]),
            table=sql.Identifier(*table.name.split(".")),
        )


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingDependencyError("the pgvector retriever", "pgvector") from None
    return psycopg


def _literal(vector: Iterable[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(repr(float(number)) for number in vector)}]"


def _line(error: Exception) -> str:
    """Return what PostgreSQL said in one line; libpq tells no password."""
    return ascii_safe(" ".join(str(error).split())) or type(error).__name__
