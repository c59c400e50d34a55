"""Trace steps in the output of `rageval show --case`."""

from __future__ import annotations

from pytest_rageval.model.answer import Step
from pytest_rageval.report.text.steps import depths, step_lines


def test_each_kind_of_step_has_its_own_line() -> None:
    trace = (
        Step("thought", {"text": "I look it up.\nThen I answer."}),
        Step(
            "tool", {"name": "search", "arguments": {"title": "Café", "k": 3}, "result": {"n": 1}, "seconds": 0.01234}
        ),
        Step("retrieve", {"parent": 1, "retriever": "bm25", "query": "a", "passages": [{"id": "d1"}, {"id": "d2"}]}),
        Step("tool", {"name": "clock", "error": "LookupError: no zone\nx"}),
        Step("tool", {"name": "now", "arguments": {}}),
        Step("tool", {"name": "klock", "arguments": "{broken", "invalid": True}),
        Step("completion", {"model": "m", "prompt_tokens": 1200, "completion_tokens": 3, "text": "Paris"}),
        Step("program", {"code": "x = 1\ny = 2", "seconds": 2}),
        Step("branch", {"path": "0.1", "outcome": "dead_end", "seconds": 1e-6}),
        Step("mine", {"goal": "x", "parent": 9}),
        Step("end", {"reason": "gave_up", "detail": "no\u202e hope"}),
    )
    assert list(step_lines(trace)) == [
        "  1 thought",
        "      -> I look it up....",
        '  2 tool  search(title="Café", k=3)  0.0123 s',
        '      -> {"n": 1}',
        '  3   retrieve  bm25 "a"',
        "        -> 2 passages: d1, d2",
        "  4 tool  clock",
        "      error: LookupError: no zone...",
        "  5 tool  now()",
        '  6 tool  klock("{broken")',
        "      invalid call",
        "  7 completion  m  1,200 + 3 tokens",
        "      -> Paris",
        "  8 program  2 s",
        "      -> x = 1...",
        "  9 branch  0.1  dead_end  <0.001 s",
        ' 10 mine  goal="x"',
        " 11 end  gave_up  no\\u202e hope",
    ]


def test_a_step_of_a_chain_has_its_action_and_its_notes() -> None:
    trace = (
        Step("completion", {"action": "query", "model": "m", "text": "hamlet author"}),
        Step("retrieve", {"action": "found", "query": "hamlet", "prompt": "hamlet", "text": "x", "passages": []}),
        Step("template", {"action": "up", "prompt": "A\nB", "text": "A\nB", "notes": ["{found.ids[0]} is empty"]}),
    )
    assert list(step_lines(trace)) == [
        "  1 completion  query  m",
        "      -> hamlet author",
        '  2 retrieve  found  "hamlet"',
        "      -> 0 passages",
        "  3 template  up",
        "      -> A...",
        "      note: {found.ids[0]} is empty",
    ]


def test_an_invalid_parent_is_ignored() -> None:
    parents = (None, 0, 1, 3, -1, True, "0", [0], 99)
    assert depths([Step("x", {} if parent is None else {"parent": parent}) for parent in parents]) == [
        0, 1, 2, 0, 0, 0, 0, 0, 0,
    ]  # fmt: skip


def test_long_values_are_truncated() -> None:
    (line, below) = step_lines([Step("tool", {"name": "x" * 999, "result": "y" * 999})])
    assert line == f"  1 tool  {'x' * 197}..."
    assert below == f"      -> {'y' * 197}..."
