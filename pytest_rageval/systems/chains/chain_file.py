"""Read a chain from its TOML file; report every fault in one sentence with file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.systems.chains.action_tables import TableReader
from pytest_rageval.systems.chains.chain import Action, Chain, Retrieve, RetrieverSource, sources_of
from pytest_rageval.systems.chains.references import VARIABLES, check_passage, check_references
from pytest_rageval.systems.chains.template import Template, parse_template
from pytest_rageval.toml_files import headers_of, line_of, parse_toml, read_toml

__all__ = ["chain_of", "read_chain"]

_TABLES = ("action", "output", "retrievers")


def read_chain(path: Path, file_name: str) -> Chain:
    """Return the chain of a file.

    Args:
        path: the TOML file.
        file_name: the name of the file in messages.

    Raises:
        DataError: the file cannot be read or is not valid TOML, a value is invalid, or an action has an invalid
            reference.
        UnknownNameError: a key, a kind of action, a variable or a filter is unknown.
    """
    return _chain(*read_toml(path, file_name), file_name)


def chain_of(raw: bytes, file_name: str) -> Chain:
    """Return the chain of a file's bytes; raise the same errors as `read_chain`."""
    return _chain(*parse_toml(raw, file_name), file_name)


def _chain(lines: list[str], values: Mapping[str, Any], file_name: str) -> Chain:
    for key in values:
        if key not in _TABLES:
            raise UnknownNameError("key", key, _TABLES, f"{file_name}:{line_of(lines, key, 0, '')}")
    tables = values.get("action")
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
        raise DataError(f"{file_name}:1", "a chain has one or more [[action]] tables; add one")
    headers = headers_of(lines, "action")
    starts = headers if len(headers) == len(tables) else [0] * len(tables)
    ends = [*headers[1:], len(lines)] if starts is headers else [len(lines)] * len(tables)
    readers = [TableReader(file_name, lines, start, end) for start, end in zip(starts, ends, strict=True)]
    actions = [reader.action(table) for reader, table in zip(readers, tables, strict=True)]
    _check_names(actions)
    for at, (action, reader) in enumerate(zip(actions, readers, strict=True)):
        check_references(sources_of(action), at, actions, reader.place)
        if isinstance(action, Retrieve):
            check_passage(action.passage, reader.place)
    answer, ranking = _output(values.get("output", {}), actions, lines, file_name)
    retrievers = _retrievers(values.get("retrievers", {}), lines, file_name)
    return Chain(file_name, tuple(actions), answer, ranking, retrievers)


def _check_names(actions: list[Action]) -> None:
    first: dict[str, Action] = {}
    for action in actions:
        if action.name in VARIABLES:
            reserved = ", ".join(VARIABLES)
            raise DataError(action.where, f"the name {action.name} is reserved ({reserved}); choose another one")
        if action.name in first:
            before = first[action.name].where
            raise DataError(action.where, f"the name {action.name} is used before, at {before}; choose another one")
        first[action.name] = action


def _output(
    table: object, actions: list[Action], lines: list[str], file_name: str
) -> tuple[Template | None, tuple[str, ...]]:
    """Return the template of the answer, and the names of the retrieve actions of the ranking."""
    start = _start_of(lines, "output")
    reader = TableReader(file_name, lines, start, len(lines))
    if not isinstance(table, dict):
        raise DataError(reader.where("output"), f"output: found {short_repr(table)}, wanted a table [output]")
    reader.check_keys(table, ("answer", "ranking"), "output")
    retrieves = [action.name for action in actions if isinstance(action, Retrieve)]
    texts = [action.name for action in actions if not isinstance(action, Retrieve)]
    answer = parse_template(f"{{{texts[-1]}}}") if texts else None
    if "answer" in table:
        answer = reader.template(reader.text(table, "answer"), "answer")
        check_references([answer], len(actions), actions, reader.place)
    if "ranking" not in table:
        return answer, tuple(retrieves)
    names = table["ranking"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise reader.wrong("ranking", names, "a list of names of retrieve actions")
    for name in names:
        if name not in retrieves:
            raise UnknownNameError("retrieve action", name, retrieves, reader.where("ranking"))
    return answer, tuple(dict.fromkeys(names))


def _retrievers(table: object, lines: list[str], file_name: str) -> Mapping[str, RetrieverSource]:
    """Return the retrievers of the table ``[retrievers]``.

    Each value is a kind, or a table with the kind and its parameters.
    """
    if not isinstance(table, dict):
        where = f"{file_name}:{line_of(lines, 'retrievers', 0, '')}"
        raise DataError(where, f"retrievers: found {short_repr(table)}, wanted a table [retrievers]")
    start = _start_of(lines, "retrievers")
    sources = {}
    for name, value in table.items():
        where = f"{file_name}:{line_of(lines, name, start, 'retrievers')}"
        params = {"kind": value} if isinstance(value, str) else value
        if not isinstance(params, dict) or not isinstance(params.get("kind"), str) or not params["kind"]:
            expected = "the kind of a retriever, or a table with kind and its parameters"
            raise DataError(where, f"{name}: found {short_repr(value)}, wanted {expected}")
        parameters = {key: each for key, each in params.items() if key != "kind"}
        sources[name] = RetrieverSource(where, params["kind"], parameters)
    return sources


def _start_of(lines: list[str], table: str) -> int:
    """Return the index of the line that begins a table; 0 if there is none."""
    header = re.compile(rf"^\s*\[\s*{table}\s*[.\]]")
    return next((at for at, line in enumerate(lines) if header.match(line)), 0)
