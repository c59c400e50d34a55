"""Headings of Markdown texts."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.text.headings import headings


def titles(text: str) -> list[str]:
    return [heading.title for heading in headings(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\ntext\n### Three ###\n", ["One", "Three"]),
        ("#One\n####### seven\n    # code\n", []),
        ("# C#\n## a #b\n#\n", ["C#", "a #b", ""]),
        ("One\n===\n\nTwo\n-\ntext\n", ["One", "Two"]),
        ("\n---\n- item\n---\n> quoted\n---\n| a |\n---\n1. x\n---\n", []),
        ("---\ntitle: x\n---\nText\n----\n", ["Text"]),
        ("---\n\nAfter a rule\n===\n", ["After a rule"]),
        ("```sh\n# no\n~~~\n# no\n```\n# yes\n", ["yes"]),
        ("~~~~\n# no\n~~~\n# no\n~~~~~ \n# yes", ["yes"]),
        ("```\n# never closed\n", []),
        ("", []),
    ],
)
def test_headings_follow_the_rules_of_markdown(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


def test_a_heading_has_its_start_and_end() -> None:
    text = "a\n# One\nTwo\n===\nb"
    assert [text[heading.start : heading.end] for heading in headings(text)] == ["# One\n", "Two\n===\n"]


@pytest.mark.parametrize("piece", ["#", "# ", "=", "-", "- ", " ", "`", "---\n", "```\n", "# #", "a\n", "\n"])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    start = time.process_time()
    for hostile_text in (text, f"# {text}", f"---\n{text}", f"a\n{text}x"):
        assert len(list(headings(hostile_text))) <= len(hostile_text)
    assert time.process_time() - start < 10
