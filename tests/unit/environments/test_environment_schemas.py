"""The schema of a function comes from its signature, type hints and docstring."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional, TypedDict

import pytest

from pytest_rageval.environments.docstrings import parse_docstring
from pytest_rageval.environments.signatures import function_schema
from pytest_rageval.errors import SettingError


class Person(TypedDict):
    name: str
    age: int


def typed(
    text: str,
    count: int,
    share: float,
    exact: bool,
    words: list[str],
    rows: tuple[int, ...],
    table: dict[str, int],
    kind: Literal["a", "b"],
    person: Person,
    anything: Any,
    place: Annotated[str, "A city."],
    year: int | None = None,
    limit: Optional[int] = 3,  # noqa: UP045 - users write it
) -> str:
    return text


def google_style(city: str, days: int = 1) -> str:
    """Return the weather.

    Rain is reported, too.

    Args:
        city (str): the name of a city,
            in any spelling.
        days: how many days ahead.

    Returns:
        One line: a text.
    """
    return f"{city}{days}"


def numpy_style(city: str, days: int = 1) -> str:
    """Return the weather.

    Rain is reported, too.

    Parameters
    ----------
    city : str
        the name of a city,
        in any spelling.
    days : int, optional
        how many days ahead.

    Returns
    -------
    str
        One line.
    """
    return f"{city}{days}"


def sphinx_style(city: str, days: int = 1) -> str:
    """Return the weather.

    Rain is reported, too.

    :param str city: the name of a city,
        in any spelling.
    :param days: how many days ahead.
    :returns: One line.
    """
    return f"{city}{days}"


def test_type_hints_become_json_types() -> None:
    _, schema = function_schema(typed, "here")
    assert schema["properties"] == {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "exact": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "integer"}},
        "table": {"type": "object"},
        "kind": {"enum": ["a", "b"]},
        "person": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["age", "name"],
        },
        "anything": {},
        "place": {"type": "string", "description": "A city."},
        "year": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    }
    assert schema["required"] == [name for name in schema["properties"] if name not in ("year", "limit")]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("function", [google_style, numpy_style, sphinx_style])
def test_each_style_of_docstring_describes_the_tool_and_its_parameters(function: Callable[..., str]) -> None:
    description, schema = function_schema(function, "here")
    assert description == "Return the weather.\n\nRain is reported, too."
    assert schema["properties"]["city"]["description"] == "the name of a city, in any spelling."
    assert schema["properties"]["days"]["description"] == "how many days ahead."
    assert schema["required"] == ["city"]


def test_a_docstring_without_sections_is_the_description() -> None:
    assert parse_docstring("Return it.\n\n    Note: this is a sentence.\n    ") == (
        "Return it.\n\nNote: this is a sentence.",
        {},
    )
    assert parse_docstring(None) == ("", {})


def test_decorators_partials_and_objects_have_the_schema_of_the_function_they_call() -> None:
    @functools.wraps(google_style)
    def wrapped(*args: Any, **kwargs: Any) -> str:
        return google_style(*args, **kwargs)

    class Weather:
        def __call__(self, city: str) -> str:
            return city

    assert function_schema(wrapped, "here") == function_schema(google_style, "here")
    assert list(function_schema(functools.partial(google_style, days=2), "here")[1]["properties"]) == ["city", "days"]
    assert function_schema(Weather(), "here")[1]["required"] == ["city"]


def starred(*words: str) -> None: ...
def keywords(**words: str) -> None: ...
def positional(word: str, /) -> None: ...
def untyped(word) -> None: ...  # type: ignore[no-untyped-def]
def complicated(word: complex) -> None: ...
def unresolved(word: Missing) -> None: ...  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (starred, "here takes *words, which a model cannot name; write each parameter, or one list"),
        (keywords, "here takes **words, which has no schema; write each parameter"),
        (positional, "here takes word only by position, and a model names it; remove the / after it"),
        (untyped, "here has the parameter word without a type hint; write for example word: str"),
        (complicated, "here: the parameter word has the type <class 'complex'>, which has no JSON schema here"),
        (unresolved, "here: its signature cannot be read (NameError: name 'Missing' is not defined)"),
    ],
)
def test_a_parameter_that_a_model_cannot_supply_is_refused(function: Callable[..., None], problem: str) -> None:
    with pytest.raises(SettingError) as error:
        function_schema(function, "here")
    assert str(error.value).startswith(problem)
