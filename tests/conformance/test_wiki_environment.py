"""The environment `wiki` over 6,119 real pages of Wikipedia."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.environments.pages import Pages
from pytest_rageval.environments.tool import ToolResult
from pytest_rageval.environments.wiki import tools_over
from pytest_rageval.model.case import Passage


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def pages_of(folder: Path) -> Pages:
    return Pages(Passage(row["id"], row["text"], row["title"]) for row in rows(folder / "pages.jsonl"))


@pytest.fixture
def folder(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "wiki2"
    if not path.is_dir():
        pytest.skip(f"no {path}")
    return path


class Case:
    """The tools of one case."""

    def __init__(self, pages: Pages, lookup: str = "sentence") -> None:
        self.search, self.look_up = (tool.call for tool in tools_over(pages, lookup)())


def text(result: ToolResult) -> str:
    return str(result.result)


def test_all_evidence_titles_are_found_by_exact_title(folder: Path) -> None:
    questions = rows(folder / "questions.jsonl")
    titles = {title for question in questions for evidence in question["provenance"] for title in evidence}
    assert len(titles) == 248
    pages = pages_of(folder)
    assert len(pages.pages) == 6_119
    case = Case(pages)
    for title in titles:
        result = case.search(title)
        assert [passage.title for passage in result.passages] == [title]
        assert text(result)


def test_a_title_in_another_spelling_is_found(folder: Path) -> None:
    (passage,) = Case(pages_of(folder)).search("algiers (Film)").passages
    assert passage.title == "Algiers (film)"


@pytest.mark.parametrize("lookup", ["sentence", "paragraph"])
def test_a_wrong_title_is_not_found_and_lists_the_right_one(folder: Path, lookup: str) -> None:
    result = Case(pages_of(folder), lookup).search("Sammy Hagarr")
    assert result.found is False
    head, _, similar = text(result).partition(" Similar: ")
    assert head == "Could not find Sammy Hagarr."
    titles = similar.removesuffix(".").split("; ")
    assert len(titles) == 5
    assert "Sammy Hagar" in titles


@pytest.mark.parametrize("lookup", ["sentence", "paragraph"])
def test_lookup_finds_a_word_of_the_page(folder: Path, lookup: str) -> None:
    case = Case(pages_of(folder), lookup)
    case.search("Frank Lloyd")
    first = text(case.look_up("august"))
    assert first.startswith("(Result 1 / ")
    assert "10 August 1960" in first
    count = int(first.partition("/ ")[2].partition(")")[0])
    for _ in range(count):
        last = text(case.look_up("august"))
    assert last == "No more results."
