"""Connect to PostgreSQL, check a table with vectors, and build its query."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.retrieval.retriever_params import Params

if TYPE_CHECKING:
    from psycopg import Connection, sql

__all__ = ["DISTANCES", "Table", "connect", "describe_table", "dsn_of", "one_line_message", "statement_of", "table_of"]

CONNECT_S = 5
"""Seconds to wait for a connection, unless the dsn has a ``connect_timeout``."""

DISTANCES: dict[str, tuple[str, Callable[[float], float]]] = {
    "cosine": ("<=>", lambda distance: 1.0 - distance),
    "l2": ("<->", lambda distance: 0.0 - distance),
    "inner_product": ("<#>", lambda distance: 0.0 - distance),  # pgvector's operator is the negative product
}
"""Name -> operator of pgvector, and the function that turns its distance into a score."""

_VECTOR = re.compile(r"vector(\([0-9]+\))?")


@dataclass(frozen=True, slots=True)
class Table:
    """The table of the passages.

    Attributes:
        name: the name of the table or view, with its schema if that is not on the search path.
        ids: the column with the ids.
        texts: the column with the texts.
        titles: the column with the titles; "" for none.
        embeddings: the column with the vectors, of pgvector's type ``vector``.
        distance: the distance between vectors, one of `DISTANCES`.
    """

    name: str
    ids: str = "id"
    texts: str = "text"
    titles: str = ""
    embeddings: str = "embedding"
    distance: str = "cosine"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the query."""
        return tuple(filter(None, (self.ids, self.texts, self.titles, self.embeddings)))


def table_of(params: Params) -> Table:
    """Return the table of the settings; raise `SettingError` if its name is missing."""
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
    """Return the connection string of the settings ``dsn`` or ``dsn_env``; with "", libpq reads its own variables."""
    dsn, variable = params.text("dsn", ""), params.text("dsn_env", "")
    if dsn and variable:
        raise SettingError("rag_retriever_params gives both dsn and dsn_env; give one of them")
    if variable and not environment.get(variable):
        problem = f"has dsn_env = {short_repr(variable)}, but the environment has no such variable"
        raise SettingError(f"rag_retriever_params {problem}; set it to postgresql://user:password@host/database")
    return environment[variable] if variable else dsn


def connect(dsn: str) -> Connection[Any]:
    """Open a connection; raise `SettingError` with the reason, but never with the password, if that fails."""
    import psycopg

    try:
        options: dict[str, Any] = {"connect_timeout": CONNECT_S, **psycopg.conninfo.conninfo_to_dict(dsn)}
    except psycopg.ProgrammingError:  # its message may contain the password
        example = "postgresql://user:password@host:5432/database"
        raise SettingError(f"the dsn of pgvector is not a connection string; write {example}") from None
    try:
        return psycopg.connect(**{**options, "client_encoding": "utf-8"}, autocommit=True)
    except psycopg.Error as error:
        check = "check dsn or dsn_env in rag_retriever_params, or libpq's PG variables"
        raise SettingError(f"pgvector cannot connect to the database: {one_line_message(error)}; {check}") from None


def describe_table(connection: Connection[Any], table: Table) -> tuple[int, int]:
    """Return the dimension of a table's vectors and its size in bytes.

    Raises:
        SettingError: the table or a column is missing, the user may not read it, or no row has a vector.
    """
    import psycopg

    try:
        return _describe_table(connection, table)
    except psycopg.Error as error:
        raise SettingError(f"the table {short_repr(table.name)} cannot be read: {one_line_message(error)}") from None


def _describe_table(connection: Connection[Any], table: Table) -> tuple[int, int]:
    from psycopg import sql

    name, identifier = short_repr(table.name), sql.Identifier(*table.name.split("."))
    columns = connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod), pg_total_relation_size(attrelid) FROM pg_attribute "
        "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
        [identifier.as_string(connection)],
    ).fetchall()
    if not columns:
        raise SettingError(f"the database of pgvector has no table {name}; write table = NAME or SCHEMA.NAME")
    types = {column: kind for column, kind, _ in columns}
    for column in table.columns:
        if column not in types:
            raise SettingError(f"the table {name} has no column {short_repr(column)}; {did_you_mean(column, types)}")
    if not _VECTOR.fullmatch(types[table.embeddings]):
        problem = (
            f"the column {short_repr(table.embeddings)} of {name} has the type {types[table.embeddings]}, not vector"
        )
        raise SettingError(f"{problem}; set embedding_column")
    dimension_query = sql.SQL("SELECT vector_dims({0}) FROM {1} WHERE {0} IS NOT NULL LIMIT 1")
    row = connection.execute(dimension_query.format(sql.Identifier(table.embeddings), identifier)).fetchone()
    if row is None:
        raise SettingError(f"the table {name} has no row with a vector; fill it first")
    return int(row[0]), int(columns[0][2])


def statement_of(table: Table) -> sql.Composed:
    """Return the query for the ``k`` rows nearest to ``vector``: id, text, title and distance."""
    from psycopg import sql

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


def one_line_message(error: Exception) -> str:
    """Return PostgreSQL's message in one line; libpq never includes the password."""
    return ascii_safe(" ".join(str(error).split())) or type(error).__name__
