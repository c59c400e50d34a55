"""Systems are classified as sync or async, named, and their return values checked."""

from __future__ import annotations

import functools
from typing import cast

import pytest

from pytest_rageval.errors import SystemContractError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.systems.calling import is_async, system_name, to_answer


def plain(query: Query) -> str:
    return query.question


async def coroutine(query: Query) -> str:
    return query.question


class Plain:
    def __call__(self, query: Query) -> str:
        return query.question

    def method(self, query: Query) -> str:
        return query.question


class Async:
    async def __call__(self, query: Query) -> str:
        return query.question

    async def method(self, query: Query) -> str:
        return query.question

    @staticmethod
    async def static(query: Query) -> str:
        return query.question


@pytest.mark.parametrize(
    "system",
    [coroutine, Async(), Async().method, Async.static, functools.partial(coroutine), functools.partial(Async()),
     functools.partial(functools.partial(Async().method))],
)  # fmt: skip
def test_async_systems_are_detected(system: object) -> None:
    assert is_async(system)


@pytest.mark.parametrize(
    "system", [plain, Plain(), Plain().method, Plain, Async, lambda q: q, functools.partial(plain), len, print]
)
def test_sync_systems_are_detected(system: object) -> None:
    assert not is_async(system)


@pytest.mark.parametrize(
    ("system", "name"),
    [(plain, "plain"), (Plain(), "Plain"), (Plain().method, "method"), (functools.partial(coroutine), "coroutine")],
)
def test_a_system_has_a_name(system: object, name: str) -> None:
    assert system_name(system) == name


def test_a_string_becomes_an_answer() -> None:
    assert to_answer("", "s") == Answer("")
    assert to_answer("Paris", "s") == Answer("Paris")


def test_an_answer_is_unchanged() -> None:
    answer = Answer("Paris", abstained=False)
    assert to_answer(answer, "s") is answer


@pytest.mark.parametrize(
    ("value", "description"),
    [(3, "int 3"), (None, "None"), (b"x", "bytes b'x'"), (["a"], "list ['a']"), (("a", "b"), "tuple ('a', 'b')")],
)
def test_another_return_value_is_an_error_with_the_system_and_the_value(value: object, description: str) -> None:
    with pytest.raises(SystemContractError) as caught:
        to_answer(value, "answer")
    assert str(caught.value) == f"rag_system 'answer' returned {description}; it must return a str or an Answer"


def test_an_answer_without_a_string_as_text_is_refused() -> None:
    with pytest.raises(SystemContractError, match="returned an Answer whose text is None; the text must be a str"):
        to_answer(Answer(cast("str", None)), "answer")


def test_a_missing_async_is_reported_without_a_warning() -> None:
    with pytest.raises(
        SystemContractError, match=r"returned coroutine <coroutine object coroutine>.* declare it with async"
    ):
        to_answer(coroutine(Query("q")), "answer")


def test_a_long_or_hostile_value_is_shortened_and_escaped() -> None:
    with pytest.raises(SystemContractError) as caught:
        to_answer(["\u202e\x1b[31m" + "x" * 1000], "answer")
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
