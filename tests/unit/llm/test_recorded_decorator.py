from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.recorded_functions.recorded import is_recorded, record_call, recorded
from pytest_rageval.llm.recorded_functions.source_digest import read_source
from pytest_rageval.llm.recorded_functions.tagged_json import decode, encode
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.ranking import Ranking, ScoredPassage

QUERY = Query("who?", (Passage("p0", "text", "title"),), (Turn("q", "a"),), "zh", "be brief")
ANSWER = Answer(
    "someone",
    Ranking((ScoredPassage("p0", 1.5, "text"), ScoredPassage("p1"))),
    False,
    (Step("search", {"k": 5, "$": None, "deep": True}), Step("end")),
    Usage(3, 4, 0.5),
)


@contextmanager
def case(folder: Path, mode: str = "new_episodes", repeat: int = 1) -> Iterator[Meter]:
    """Run the block with a usage meter and cassettes, as the session runs a case."""
    meter, cassettes = Meter(), Cassettes(folder, mode)
    scope = SCOPE.set(Scope(meter, repeat, cassettes))
    try:
        yield meter
    finally:
        SCOPE.reset(scope)
        cassettes.close()


class CountingSystem:
    """A system that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, query: Query, k: int = 5) -> Answer:
        self.calls += 1
        return Answer(f"{query.question} {k} {self.calls}")


JSON: list[object] = [None, True, 0, 1.5, "基金\n", [], {}, {"a": [1, {"b": ()}]}, (), (1, (2, [3]))]
TAGS = [{"$": "Query"}, {"$": {"$": 1}}]
VALUES = [QUERY, ANSWER, Query(""), Answer(""), Ranking(), Step("x"), Usage(), Turn("", ""), [ANSWER, (QUERY,)]]


@pytest.mark.parametrize("value", [*JSON, *TAGS, *VALUES])
def test_a_value_survives_encoding_and_decoding(value: object) -> None:
    plain = json.loads(json.dumps(encode(value, "it"), allow_nan=False))
    back = decode(plain)
    assert back == value
    assert type(back) is type(value)


def test_the_duration_of_an_answer_is_not_recorded() -> None:
    assert decode(encode(Answer("x", usage=Usage(1, 2, 0.5, 9.9)), "it")) == Answer("x", usage=Usage(1, 2, 0.5))


def test_a_function_is_called_once_and_then_replayed(tmp_path: Path) -> None:
    system = CountingSystem()
    recorded_system = recorded(system)
    with case(tmp_path) as first:
        assert recorded_system(QUERY) == recorded_system(QUERY) == Answer("who? 5 1")
        assert recorded_system(QUERY, k=6) == Answer("who? 6 2")
    with case(tmp_path, "none") as second:
        assert recorded_system(QUERY, 6) == Answer("who? 6 2")
        assert recorded_system(query=QUERY) == Answer("who? 5 1")
        with pytest.raises(
            ModelError, match=r"no reply of system 'test_recorded_decorator\.CountingSystem' to this request"
        ):
            recorded_system(QUERY, 7)
    assert system.calls == 2
    assert second.keys == first.keys[::-1]
    assert len(first.keys) == 2


def test_a_coroutine_function_is_awaited_once_and_then_replayed(tmp_path: Path) -> None:
    calls: list[str] = []

    @recorded(name="my-rag")
    async def answer(query: Query) -> tuple[str, Answer]:
        """Answers."""
        calls.append(query.question)
        await asyncio.sleep(0)
        return query.question, ANSWER

    assert inspect.iscoroutinefunction(answer)
    assert (answer.__name__, answer.__doc__) == ("answer", "Answers.")
    with case(tmp_path) as first:
        assert asyncio.run(answer(QUERY)) == ("who?", ANSWER)
    with case(tmp_path, "none") as second:
        assert asyncio.run(answer(QUERY)) == ("who?", ANSWER)
    assert calls == ["who?"]
    assert second.keys == first.keys != ()
    assert (tmp_path / "system-my-rag.jsonl").is_file()


def test_a_replayed_answer_reports_its_recorded_usage_and_costs_nothing(tmp_path: Path) -> None:
    @recorded(name="my-rag")
    def answer(query: Query) -> Answer:
        return Answer("me", usage=Usage(10, 2, 0.25))

    with case(tmp_path) as first:
        answer(QUERY)
    with case(tmp_path, "none") as second:
        answer(QUERY)
    assert (first.calls, first.replayed) == (Calls(), False)  # the caller charges its own calls
    assert (second.calls, second.replayed) == (Calls(1, 1, 0, 10, 2, 0.25, 0.0), True)


def test_an_object_with_an_async_call_is_async(tmp_path: Path) -> None:
    class System:
        async def __call__(self, query: Query) -> str:
            return query.question

    recorded_system = recorded(System())
    assert inspect.iscoroutinefunction(recorded_system)
    with case(tmp_path):
        assert asyncio.run(recorded_system(QUERY)) == "who?"
    with case(tmp_path, "none"):
        assert asyncio.run(recorded_system(QUERY)) == "who?"


def test_a_function_is_not_recorded_outside_of_a_case() -> None:
    unrecordable = object()

    def echo(value: object) -> object:
        return value

    async def aecho(value: object) -> object:
        return value

    assert recorded(echo)(unrecordable) is unrecordable
    assert asyncio.run(recorded(aecho)(unrecordable)) is unrecordable


def test_each_repeat_has_its_own_recording(tmp_path: Path) -> None:
    recorded_system = recorded(CountingSystem())
    for repeat in (1, 2):
        with case(tmp_path, repeat=repeat):
            recorded_system(QUERY)
    for repeat in (1, 2):
        with case(tmp_path, "none", repeat):
            assert recorded_system(QUERY) == Answer(f"who? 5 {repeat}")
    with case(tmp_path, "none", 3), pytest.raises(ModelError, match=r"only the repeat differs: . is recorded, 3 was"):
        recorded_system(QUERY)


def test_a_call_that_raises_is_not_recorded(tmp_path: Path) -> None:
    def failing(text: str) -> str:
        raise RuntimeError(text)

    async def afailing(text: str) -> str:
        raise RuntimeError(text)

    with case(tmp_path) as meter:
        with pytest.raises(RuntimeError, match="no luck"):
            recorded(failing)("no luck")
        with pytest.raises(RuntimeError, match="no luck"):
            asyncio.run(recorded(afailing)("no luck"))
    assert list(tmp_path.iterdir()) == []
    assert meter.keys == ()


@pytest.mark.parametrize(
    "bad", [object(), {1: 2}, {1, 2}, b"x", float("nan"), [object()], Path("x"), functools.partial]
)
def test_the_message_names_a_value_that_cannot_be_recorded(bad: object, tmp_path: Path) -> None:
    def function(first: int, second: object) -> object:
        return bad if second is None else None

    recorded_function = recorded(name="give")(function)
    with case(tmp_path):
        with pytest.raises(SettingError, match="argument 'second' of give cannot be recorded: it is or holds "):
            recorded_function(1, bad)
        with pytest.raises(SettingError, match="the result of give cannot be recorded: "):
            recorded_function(1, None)
    assert list(tmp_path.iterdir()) == []


def test_recording_a_plain_function_that_returns_a_coroutine_raises_a_setting_error(tmp_path: Path) -> None:
    async def answer() -> str:
        return ""

    def hidden() -> Awaitable[str]:
        return answer()

    with case(tmp_path), pytest.raises(SettingError, match=r"the result of .*hidden cannot be recorded"):
        recorded(hidden)()


def test_a_call_with_too_many_arguments_raises_a_type_error(tmp_path: Path) -> None:
    with case(tmp_path), pytest.raises(TypeError, match="too many positional arguments"):
        recorded(CountingSystem())(QUERY, 1, 2)  # type: ignore[call-arg]


@pytest.mark.parametrize("nameless", [lambda query: query, functools.partial(CountingSystem(), k=3)])
def test_a_nameless_callable_needs_a_name_to_be_recorded(nameless: Callable[[Query], Any], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"has no name to be recorded under; give it one: recorded\(name="):
        recorded(nameless)
    recorded_system = recorded(name="mine")(nameless)
    with case(tmp_path):
        recorded_system(QUERY)
    assert [path.name for path in tmp_path.iterdir()] == ["system-mine.jsonl"]


def test_a_bound_method_is_recorded_without_its_object(tmp_path: Path) -> None:
    class Rag:
        def answer(self, query: Query) -> str:
            return query.question

    with case(tmp_path):
        assert record_call(Rag().answer, QUERY) == "who?"
    with case(tmp_path, "none"):
        assert record_call(Rag().answer, query=QUERY) == "who?"


def test_record_call_and_recorded_share_their_recordings(tmp_path: Path) -> None:
    system = CountingSystem()
    with case(tmp_path):
        assert record_call(system, QUERY, k=2) == Answer("who? 2 1")
    with case(tmp_path, "none"):
        assert record_call(system, QUERY, k=2) == recorded(system)(QUERY, k=2) == Answer("who? 2 1")

        async def unrecorded(query: Query) -> str:
            return query.question

        with pytest.raises(ModelError, match=r"no reply of system .*unrecorded"):
            asyncio.run(record_call(unrecorded, QUERY))


def system_with_dependencies(settings: dict[str, object]) -> tuple[CountingSystem, Callable[[Query], Answer]]:
    system = CountingSystem()
    return system, recorded(system, name="mine", depends=[settings])


@pytest.mark.parametrize("mode", ["none", "once", "new_episodes"])
def test_a_stale_recording_raises_an_error_without_calling_the_system(mode: str, tmp_path: Path) -> None:
    settings: dict[str, object] = {"top_k": 5}
    system, recorded_system = system_with_dependencies(settings)
    with case(tmp_path):
        recorded_system(QUERY)
    settings["top_k"] = 1
    with case(tmp_path, mode) as meter, pytest.raises(ModelError) as caught:
        recorded_system(QUERY)
    assert caught.value.kind == "not_recorded"
    assert str(caught.value) == (
        "stale recording: setting top_k changed; record system 'mine' again with --rag-record-mode all, or delete "
        f"{tmp_path.name}/system-mine.jsonl and record with --rag-record-mode once"
    )
    assert (system.calls, meter.keys) == (1, ())
    settings["top_k"] = 5
    with case(tmp_path, mode):
        assert recorded_system(QUERY) == Answer("who? 5 1")


def test_mode_all_records_again_after_each_change_of_a_dependency(tmp_path: Path) -> None:
    settings: dict[str, object] = {"top_k": 5}
    system, recorded_system = system_with_dependencies(settings)
    with case(tmp_path):
        recorded_system(QUERY)
    settings["top_k"] = 1
    with case(tmp_path, "all"):
        assert recorded_system(QUERY) == recorded_system(QUERY) == Answer("who? 5 2")
        settings["top_k"] = 2
        assert recorded_system(QUERY) == Answer("who? 5 3")
    with case(tmp_path, "none"):
        assert recorded_system(QUERY) == Answer("who? 5 3")
    assert system.calls == 3


def test_a_recording_of_a_coroutine_function_is_stale_after_a_change(tmp_path: Path) -> None:
    settings: dict[str, object] = {"top_k": 5}

    @recorded(depends=[settings])
    async def answer(query: Query) -> str:
        return query.question

    with case(tmp_path):
        assert asyncio.run(answer(QUERY)) == "who?"
    settings["top_k"] = 1
    with case(tmp_path, "none"), pytest.raises(ModelError, match="stale recording: setting top_k changed"):
        asyncio.run(answer(QUERY))


def test_a_recording_lists_its_dependencies(tmp_path: Path) -> None:
    code = {"test_recorded_decorator.py": read_source(Path(__file__)).digest}
    cassettes = Cassettes(tmp_path, "all", root=Path(__file__).parent)
    scope = SCOPE.set(Scope(Meter(), 1, cassettes))
    try:
        system_with_dependencies({})[1](QUERY)
        record_call(CountingSystem(), QUERY)
        record_call(len, [])
    finally:
        SCOPE.reset(scope)
    lines = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(tmp_path.iterdir())]
    assert [(line["model"], line["depends"]) for line in lines] == [
        ("builtins.len", code),
        ("mine", code),
        ("test_recorded_decorator.CountingSystem", code),
    ]


def test_is_recorded_recognises_recorded_functions() -> None:
    class CallableObject:
        def __call__(self, query: str) -> str:
            return query

    def plain(query: str) -> str:
        return query

    async def coroutine_function(query: str) -> str:
        return query

    for function in (plain, coroutine_function, CallableObject()):
        assert not is_recorded(function)
        assert is_recorded(recorded(function))
