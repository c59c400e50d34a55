"""The grammar of actions: every form that models write, valid and invalid."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.systems.agents.react_reply import read_reply
from pytest_rageval.trace.actions import Action, read_action

TOOLS = ("Search", "Lookup", "searchPerson", "Finish")
BROKEN = (
    'The arguments of searchPerson cannot be read; write searchPerson(key="value") or searchPerson({"key": "value"}).'
)
CODE = 'name=__import__("os").getcwd()'
UNCLOSED = "The bracket after Search is not closed."
UNKNOWN = "There is no tool Jump; there are Search, Lookup, searchPerson and Finish."

ACTIONS: list[tuple[str, Action | None]] = [
    ("Search[Milhouse].", Action("Search", "Milhouse")),
    ("Search[a] then Finish[b]", Action("Search", "a", "then Finish[b]")),
    ("Search[a[b]]", Action("Search", "a[b]")),
    ("search[x]", Action("Search", "x")),
    ("Finish[]", Action("Finish", "")),
    ("Finish", Action("Finish", "")),
    ("finish.", Action("Finish", "")),
    ("Finish[yes]\nObservation", Action("Finish", "yes")),
    ("Lookup[X] on a different website", Action("Lookup", "X", "on a different website")),
    ("searchPerson(name=\"Li, Wei\", interest='AI')", Action("searchPerson", {"name": "Li, Wei", "interest": "AI"})),
    (f"searchPerson({CODE})", Action("searchPerson", CODE, fault=BROKEN)),
    ("Jump[x]", Action("Jump", "x", fault=UNKNOWN)),
    ("", None),
    # Position of the action.
    ("Thought 1: I should look.\n  Action 1: Search[x]\nObservation 1: y", Action("Search", "x")),
    ("Action: Search[x]\nAction: Lookup[y]", Action("Search", "x")),
    ("Action 2: \n\nFinish[yes]", None),
    ("Action 2: Login", None),
    ("Thought: I know it.", None),
    ("I should Search[x].", None),
    ("Action Input: Search[x]", None),
    # Brackets and quotes.
    ('Search["a]b"]', Action("Search", '"a]b"')),
    ("Search[the Men's 100 metres]", Action("Search", "the Men's 100 metres")),
    ('Search[a 5" gun] now', Action("Search", 'a 5" gun', "now")),
    ("Finish[two\nlines]", Action("Finish", "two\nlines")),
    ("Search[a) (b]", Action("Search", "a) (b")),
    ("Search[open", Action("Search", "open", fault=UNCLOSED)),
    ("Search[open\nObservation 1: [1] and]", Action("Search", "open", fault=UNCLOSED)),
    # Arguments in parentheses.
    ("Search(museum opening)", Action("Search", "museum opening")),
    ('Search("museum (west)")', Action("Search", "museum (west)")),
    ("Search()", Action("Search", "")),
    ('searchPerson({"name": "Li (Wei)", "deep": [1, {"a": null}]})',
     Action("searchPerson", {"name": "Li (Wei)", "deep": [1, {"a": None}]})),
    ("searchPerson({'name': 'Li', 'old': True})", Action("searchPerson", {"name": "Li", "old": True})),
    ("searchPerson(n=3, on=true, off=null, ids=[1, 2], x=(-1.5, 2))",
     Action("searchPerson", {"n": 3, "on": True, "off": None, "ids": [1, 2], "x": [-1.5, 2]})),
    (r'searchPerson(name="a\d\"b\n")', Action("searchPerson", {"name": 'a\\d"b\n'})),
    ("searchPerson(name=Li Wei)", Action("searchPerson", "name=Li Wei", fault=BROKEN)),
    ("searchPerson(name=1e999)", Action("searchPerson", "name=1e999", fault=BROKEN)),
    ('searchPerson(name="\\ud800")', Action("searchPerson", 'name="\\ud800"', fault=BROKEN)),
    ('searchPerson(name="\\ud83d\\ude00")', Action("searchPerson", {"name": "\U0001f600"})),
    ("searchPerson(**{'a': 1})", Action("searchPerson", "**{'a': 1}")),
    ("searchPerson(a=1, **{'b': 2})", Action("searchPerson", "a=1, **{'b': 2}", fault=BROKEN)),
    ("searchPerson(a={1: 2})", Action("searchPerson", "a={1: 2}", fault=BROKEN)),
    ("searchPerson(a=b'x')", Action("searchPerson", "a=b'x'", fault=BROKEN)),
    # JSON alone.
    ('{"name": "Search", "arguments": {"title": "x"}}', Action("Search", {"title": "x"})),
    ('Action 1: {"name": "search", "arguments": "{\\"title\\": \\"x\\"}"}', Action("Search", {"title": "x"})),
    ('{"name": "Search", "arguments": "x"}', Action("Search", "x")),
    ('{"name": "Search"}', Action("Search", {})),
    ('{"name": "Search", "arguments": [1]}',
     Action("Search", '{"name": "Search", "arguments": [1]}', fault="The arguments of Search are no JSON object.")),
    ('{"title": "x"}', None),
    ('{"name": "Search", ', None),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), ACTIONS, ids=[reply for reply, _ in ACTIONS])
def test_an_action_is_read(reply: str, expected: Action | None) -> None:
    assert read_action(reply, TOOLS) == expected


def test_without_tools_any_name_is_an_action() -> None:
    assert read_action("Jump[x]") == Action("Jump", "x")
    assert read_action("search[x]", ("Search",)) == Action("Search", "x")
    unknown = "There is no tool Jump; there are Search, Lookup and Finish."
    assert read_action("Jump[x]", ("Search", "Lookup")) == Action("Jump", "x", fault=unknown)


def test_no_program_of_a_model_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr("builtins.print", printed.append)
    for text in ("print(1)", "[print(1)]", "(lambda: print(1))()", "f'{print(1)}'", "[print(1) for _ in 'a']"):
        action = read_action(f"searchPerson(name={text})")
        assert action is not None
        assert action.fault
    assert printed == []


LONG = 2 * 10**5


@pytest.mark.parametrize(
    "text", [mark * LONG for mark in ("[", "(", "'", '{"a":', "9", "\\", "-")] + ["-" * LONG + "1", "x=" + "(" * LONG]
)
@pytest.mark.parametrize("before", ["Search[", "Search(", "Search(a=", '{"name": "Search", "arguments": '])
def test_a_long_text_is_read_within_5_seconds(before: str, text: str) -> None:
    start = time.perf_counter()
    read_action(before + text + "])}")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("label", ["Action", "Thought", "Observation"])
def test_a_label_with_a_long_blank_is_read_within_5_seconds(label: str) -> None:
    start = time.perf_counter()
    for text in (f"Action: Search\n{label}{' ' * LONG}", f"{label} 1{chr(9) * LONG}", f"{label}{' ' * LONG}"):
        read_action(text)
        read_reply(text, TOOLS)
    assert time.perf_counter() - start < 5
