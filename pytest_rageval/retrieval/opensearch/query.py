"""Build the body of a search: a match query, or a user's JSON file with placeholders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.folders import regular_path
from pytest_rageval.retrieval.opensearch.settings import Index
from pytest_rageval.retrieval.retriever_params import WHERE, Params

__all__ = ["MATCH", "QueryTemplate", "template_of"]

MATCH = "match"
"""The default of the setting ``query``: a match query on the text field."""

QUESTION, COUNT, VECTOR = "{question}", "{k}", "{vector}"
PLACEHOLDERS = (QUESTION, COUNT, VECTOR)

_PLACEHOLDER = re.compile(r"\{\w+\}")


@dataclass(frozen=True, slots=True)
class QueryTemplate:
    """The body of every search, with placeholders.

    A value that is exactly ``"{question}"``, ``"{k}"`` or ``"{vector}"`` is replaced by the question, the number of
    passages and the question's vector, as JSON values.

    Attributes:
        body: the JSON body with its placeholders.
        needs_vector: whether the body has the placeholder of the vector.
    """

    body: Mapping[str, Any]
    needs_vector: bool

    def fill(self, question: str, k: int, vector: Sequence[float] | None = None) -> dict[str, Any]:
        """Return the body of one search."""
        values: dict[str, Any] = {QUESTION: question, COUNT: k, VECTOR: None if vector is None else list(vector)}
        body: dict[str, Any] = _fill(self.body, values)
        return body


def template_of(params: Params, index: Index, folder: Path) -> QueryTemplate:
    """Return the template of the settings ``query`` and ``filter``; ``size`` and ``_source`` are added if missing.

    Raises:
        SettingError: the file is missing, is not a JSON object, has an unknown placeholder, or has neither the question
            nor the vector; or ``filter`` is set together with a file.
    """
    query, clauses = params.text("query", MATCH), params.clauses("filter")
    if query == MATCH:
        match: dict[str, Any] = {"match": {index.text_field: QUESTION}}
        body = {"query": match if clauses is None else {"bool": {"must": [match], "filter": clauses}}}
    elif clauses is not None:
        raise SettingError(f"{WHERE} has both filter and the query {short_repr(query)}; write the filter into the file")
    else:
        body = _read(folder / Path(query).expanduser(), query)
    needs_vector = VECTOR in _texts(body)
    return QueryTemplate({"size": COUNT, "_source": index.fields, **body}, needs_vector)


def _read(path: Path, name: str) -> dict[str, Any]:
    """Return the body in a file; raise `SettingError` if the file or a placeholder is invalid."""
    try:
        body = json.loads(regular_path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise SettingError(f"{name}:{error.lineno}: the query is not JSON ({error.msg}); correct it") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        problem = f"{WHERE} has query = {short_repr(name)}, and that file cannot be read ({reason})"
        raise SettingError(f"{problem}; write match, or a JSON file relative to the ini file") from None
    if not isinstance(body, dict):
        raise SettingError(f"{name}: the query is not a JSON object; write the body of a search request")
    texts = [*_texts(body)]
    for text in texts:
        if text in PLACEHOLDERS:
            continue
        if _PLACEHOLDER.fullmatch(text):
            raise SettingError(f"{name}: unknown placeholder {short_repr(text)}; {did_you_mean(text, PLACEHOLDERS)}")
        placeholder = next((each for each in PLACEHOLDERS if each in text), None)
        if placeholder is not None:
            problem = f"{short_repr(text)} holds {placeholder} inside a longer text"
            raise SettingError(f"{name}: {problem}; only a whole value is replaced")
    if not {QUESTION, VECTOR}.intersection(texts):
        raise SettingError(
            f'{name}: the query has neither "{QUESTION}" nor "{VECTOR}", so it would ignore the question'
        )
    return body


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Return a JSON value with its placeholders replaced."""
    if isinstance(value, str):
        return values.get(value, value)
    if isinstance(value, Mapping):
        return {key: _fill(item, values) for key, item in value.items()}
    return [_fill(item, values) for item in value] if isinstance(value, list) else value
