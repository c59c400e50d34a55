"""Laws of actions: reading any text raises no error, and arguments survive a round trip."""

from __future__ import annotations

import json
from keyword import iskeyword
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.trace.actions import Action, read_action

TEXTS = st.text() | st.text(st.sampled_from("Action 1:Search[](){}\"'\\=,\n.Finish\ud800\0true-"))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=8,
)  # fmt: skip
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=3)


@given(
    TEXTS, st.sampled_from(["", "Action 3: ", "Search[", "Search(", "Search(a=", '{"name": "Search", "arguments": '])
)
def test_any_text_gives_an_action_or_none(text: str, before: str) -> None:
    action = read_action(before + text, ("Search", "Lookup"))
    if action is not None and isinstance(action.arguments, dict):
        json.dumps(action.arguments, allow_nan=False, ensure_ascii=False).encode()


@given(OBJECTS)
def test_json_arguments_survive_a_round_trip(arguments: dict[str, Any]) -> None:
    json_text = json.dumps(arguments)
    for reply in (f"Search({json_text})", f'{{"name": "Search", "arguments": {json_text}}}'):
        assert read_action(reply) == Action("Search", arguments)


@given(st.dictionaries(NAMES.filter(lambda name: not iskeyword(name)), JSON, min_size=1, max_size=3))
def test_pairs_of_python_and_json_literals_survive_a_round_trip(arguments: dict[str, Any]) -> None:
    for write in (repr, json.dumps):
        pairs = ", ".join(f"{name}={write(value)}" for name, value in arguments.items())
        assert read_action(f"Search({pairs})") == Action("Search", arguments)
