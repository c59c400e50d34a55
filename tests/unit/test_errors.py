"""Error classes, suggestions of similar names, and escaping of hostile text."""

from __future__ import annotations

import pytest

from pytest_rageval import errors
from pytest_rageval.errors import (
    CaseError,
    DataError,
    GateSyntaxError,
    MissingDependencyError,
    RagEvalError,
    SettingError,
    SystemContractError,
    UnknownNameError,
    UnscoredError,
    ascii_safe,
    did_you_mean,
    short_repr,
)

HOSTILE = "a\x1b[31mred\x1b[0m\r\n\u202ecba\u200b\x00\x9b\ud800"


def test_every_error_has_our_base_class() -> None:
    ours = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    assert len(ours) == 11
    assert all(issubclass(getattr(errors, name), RagEvalError) for name in ours)
    assert issubclass(GateSyntaxError, SettingError)
    assert issubclass(UnknownNameError, SettingError)
    assert issubclass(UnscoredError, LookupError)
    assert not issubclass(SystemContractError, SettingError)


def test_a_data_error_names_its_place() -> None:
    error = DataError("cases.jsonl:3", "the field id is missing")
    assert (str(error), error.where, error.problem) == (
        "cases.jsonl:3: the field id is missing",
        "cases.jsonl:3",
        "the field id is missing",
    )


def test_a_case_error_keeps_its_kind() -> None:
    error = CaseError("system_error", "it broke")
    assert (str(error), error.kind) == ("it broke", "system_error")


def test_a_missing_dependency_names_the_extra() -> None:
    error = MissingDependencyError("the dense retriever", "dense")
    assert str(error) == "the dense retriever needs an optional dependency: pip install 'pytest-rageval[dense]'"


def test_an_unknown_name_is_escaped_and_short() -> None:
    error = UnknownNameError("facet", HOSTILE, ["topic", "b\x1b[2J"], "here")
    assert str(error).isprintable()
    assert str(error) == (
        r"here: unknown facet 'a\x1b[31mred\x1b[0m\r\n\u202ecba\u200b\x00\x9b\ud800'; known: b\x1b[2J, topic"
    )
    assert len(str(UnknownNameError("facet", "x" * 100_000, ["topic"]))) < 120


def test_an_unknown_name_may_have_any_type() -> None:
    assert str(UnknownNameError("ability", 3, ["a"])) == "unknown ability 3; known: a"
    assert str(UnknownNameError("ability", ["x"], ["a"])) == "unknown ability ['x']; known: a"
    assert str(UnknownNameError("ability", None, [])) == "unknown ability None; none is known here"


@pytest.mark.parametrize(
    ("name", "choices", "words"),
    [
        ("acuracy", ["accuracy", "token_f1"], "did you mean 'accuracy'?"),
        ("Accuracy", ["accuracy"], "did you mean 'accuracy'?"),
        ("xyz", ["b", "a"], "known: a, b"),
        ("", ["b", "a"], "known: a, b"),
        ("xyz", [], "none is known here"),
        ("topic\x1b", ["topic\x1b[m"], r"did you mean 'topic\x1b[m'?"),
    ],
)
def test_the_nearest_known_name_is_suggested(name: str, choices: list[str], words: str) -> None:
    assert did_you_mean(name, iter(choices)) == words


def test_many_known_names_are_not_all_listed() -> None:
    names = [f"case-{number:04}" for number in range(1_500)]
    assert did_you_mean("zz", names) == f"known: {', '.join(names[:10])} and 1,490 more"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("", ""),
        ("plain, 基金 é — “x”", "plain, 基金 é — “x”"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\u202e\u2066\u200f", r"\u202e\u2066\u200f"),
        ("\x9b0m", r"\x9b0m"),
        ("\x00\x7f", r"\x00\x7f"),
        ("\ud83d", r"\ud83d"),
        ("\u2028\ufeff", r"\u2028\ufeff"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_terminal_codes_are_escaped(text: str, escaped: str) -> None:
    assert ascii_safe(text) == escaped
    assert ascii_safe(text).isprintable()


class BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_the_text_of_a_value_is_one_short_escaped_line() -> None:
    assert short_repr("x") == "'x'"
    assert short_repr({"a": [1, None]}) == "{'a': [1, None]}"
    assert short_repr("x" * 100) == "'" + "x" * 56 + "..."
    assert len(short_repr("x" * 10_000_000)) == 60
    assert short_repr("abcdef", limit=6) == "'ab..."
    assert short_repr(HOSTILE, limit=1_000).isprintable()
    assert short_repr(BadRepr()) == "<BadRepr, whose repr raises RuntimeError>"


def test_a_deeply_nested_value_has_a_text() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    text = short_repr(value)
    assert len(text) <= 60
    while value:  # unpack the deep list level by level before it is freed
        value = value.pop()  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("acuracy", "did you mean 'accuracy'?"),
        ("tokens", "did you mean 'prompt_tokens'?"),
        ("bleu", "known: accuracy, prompt_tokens, stable"),
        ("", "known: accuracy, prompt_tokens, stable"),
    ],
)
def test_a_suggestion_is_near(name: str, hint: str) -> None:
    assert did_you_mean(name, ["accuracy", "prompt_tokens", "stable"]) == hint
