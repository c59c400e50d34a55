"""The environment `wiki`: Search and Lookup over pages."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.environments.environment import Environment, OpenEnvironment
from pytest_rageval.environments.pages import Pages, folded
from pytest_rageval.environments.similar_titles import SimilarTitles
from pytest_rageval.environments.tool import Observation
from pytest_rageval.environments.wiki import tools_over
from pytest_rageval.model.case import Passage
from pytest_rageval.retrieval.index_store import IndexStore

LONG = "One is here. Two is here. Three is here. Four is here. Five is here. Six is here."
PAGES = (
    Passage("algiers", f"{LONG}\n\nThe casbah is old. Nobody left the Casbah.\n\nEnd.", "Algiers (film)"),
    Passage("p1#0", "Milhouse is a boy.", "Milhouse", page="p1"),
    Passage("p1#1", "He has blue hair.", "Milhouse", page="p1"),
    Passage("lee", "Bruce Lee acted.", "Lee (actor)"),
    Passage("lee2", "Lee is a town.", "Lee (town)"),
    Passage("ac", "A band.", "AC/DC"),
    Passage("untitled", "A page without a title."),
    Passage("twin1", "The first.", "Twin"),
    Passage("twin2", "The second.", "twin"),
)


def open_wiki(passages: tuple[Passage, ...] = PAGES, lookup: str = "sentence") -> OpenEnvironment:
    make = tools_over(Pages(passages), lookup)
    return Environment("wiki", lambda: make).open()


def observe(tools: OpenEnvironment, *calls: tuple[str, str]) -> list[Observation]:
    """Return the observations of calls; a call is a tool and its argument."""
    names = {"Search": "title", "Lookup": "keyword"}
    return [asyncio.run(tools.run(tool, {names[tool]: argument})) for tool, argument in calls]


def texts_of(tools: OpenEnvironment, *calls: tuple[str, str]) -> list[str]:
    return [observation.text for observation in observe(tools, *calls)]


def test_the_tools_are_search_and_lookup() -> None:
    tools = open_wiki().tools
    assert [(tool.name, list(tool.parameters["properties"])) for tool in tools] == [
        ("Search", ["title"]), ("Lookup", ["keyword"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "page"),
    [
        ("Milhouse", "p1"), (" milhouse\t", "p1"), ("ＭＩＬＨＯＵＳＥ", "p1"), ("Milhouse (boy)", "p1"),
        ("Algiers (film)", "algiers"), ("algiers_(FILM)", "algiers"), ("Algiers", "algiers"), ("Milhouse!", "p1"),
        ("Algiers (novel)", "algiers"), ("lee (Town)", "lee2"), ("AC DC", "ac"), ("untitled", "untitled"),
        ("Twin", "twin1"), ("twin", "twin2"), ("TWIN", "twin1"),
    ],
)  # fmt: skip
def test_a_page_is_found_by_its_title(title: str, page: str) -> None:
    (observation,) = observe(open_wiki(), ("Search", title))
    assert observation.found is True
    (passage,) = observation.passages
    assert (passage.doc_id, passage.page_id, passage.text) == (page, page, observation.text)


def test_an_ambiguous_title_finds_no_page_and_lists_them() -> None:
    (observation,) = observe(open_wiki(), ("Search", "Lee"))
    assert (observation.found, observation.passages) == (False, ())
    assert observation.text == "Could not find Lee. Similar: Lee (actor); Lee (town)."


def test_search_returns_at_most_five_sentences_of_the_first_paragraph() -> None:
    assert texts_of(open_wiki(), ("Search", "Algiers"), ("Search", "Milhouse")) == [
        LONG.removesuffix(" Six is here."), "Milhouse is a boy.",
    ]  # fmt: skip


def test_a_title_without_a_similar_one_lists_none() -> None:
    assert texts_of(open_wiki(), ("Search", "zzz"), ("Search", "???")) == ["Could not find zzz.", "Could not find ???."]


def test_each_lookup_returns_the_next_matching_sentence() -> None:
    calls = [("Lookup", "casbah"), ("Lookup", "CASBAH "), ("Lookup", "casbah"), ("Lookup", "casbah"), ("Lookup", "dog")]
    assert texts_of(open_wiki(), ("Search", "Algiers"), *calls)[1:] == [
        "(Result 1 / 2) The casbah is old.",
        "(Result 2 / 2) Nobody left the Casbah.",
        "No more results.",
        "No more results.",
        "No results.",
    ]


def test_lookup_can_return_paragraphs() -> None:
    calls = [("Search", "Algiers"), ("Lookup", "casbah"), ("Lookup", "casbah")]
    assert texts_of(open_wiki(lookup="paragraph"), *calls)[1:] == [
        "(Result 1 / 1) The casbah is old. Nobody left the Casbah.", "No more results.",
    ]  # fmt: skip


def test_another_keyword_or_a_search_starts_from_the_first_match() -> None:
    calls = [
        ("Lookup", "casbah"),
        ("Lookup", "nobody"),
        ("Lookup", "casbah"),
        ("Search", "Algiers"),
        ("Lookup", "casbah"),
    ]
    texts = texts_of(open_wiki(), ("Search", "Algiers"), *calls)
    assert texts[1] == texts[3] == texts[5] == "(Result 1 / 2) The casbah is old."


def test_the_page_stays_open_after_a_failed_search() -> None:
    texts = texts_of(open_wiki(), ("Lookup", "boy"), ("Search", "Milhouse"), ("Search", "zzz"), ("Lookup", "blue"))
    assert texts[0] == "No page yet: use Search first."
    assert texts[-1] == "(Result 1 / 1) He has blue hair."


def test_the_passage_has_the_text_of_the_observation() -> None:
    *_, observation = observe(open_wiki(), ("Search", "Milhouse"), ("Lookup", "hair"))
    (passage,) = observation.passages
    assert (passage.doc_id, passage.title, passage.text) == ("p1", "Milhouse", "He has blue hair.")


def test_an_empty_argument_is_invalid() -> None:
    observations = observe(open_wiki(), ("Search", " "), ("Lookup", ""), ("Lookup", "_"))
    assert all(each.invalid for each in observations)
    texts = [each.text for each in observations]
    assert texts == ["Search needs the title of a page.", *["Lookup needs a keyword."] * 2]


def test_two_cases_share_no_state() -> None:
    make = tools_over(Pages(PAGES))
    environment = Environment("wiki", lambda: make)
    one, other = environment.open(), environment.open()
    observe(one, ("Search", "Milhouse"))
    assert texts_of(other, ("Lookup", "blue")) == ["No page yet: use Search first."]


def test_overlapping_chunks_are_joined_to_the_text_of_their_page() -> None:
    text = "First part here.\n\nSecond part, which overlaps. And ends."
    spans = [(0, 16), (18, 46), (31, len(text))]
    chunks = [Passage(f"d#{at}", text[a:b], page="d", span=(a, b)) for at, (a, b) in enumerate(spans)]
    assert Pages(chunks).pages[0].text == text


def test_the_index_of_similar_titles_is_stored_once_and_gives_equal_results(tmp_path: Path) -> None:
    passages = [Passage(str(at), f"Text {at % 7} of town {at}.", f"Town {at % 700} no {at}") for at in range(2_100)]
    pages = Pages(passages).pages
    store = IndexStore(tmp_path / "indexes")
    first, again, memory = SimilarTitles(pages, store), SimilarTitles(pages, store), SimilarTitles(pages)
    assert [index.built for index in store.requested_indexes] == [True, False]
    assert first.near("town 17", 5) == again.near("town 17", 5) == memory.near("town 17", 5)
    assert memory.near("town", 3) == sorted(memory.near("town", 3))


def test_a_search_without_pages_finds_nothing() -> None:
    assert texts_of(open_wiki(()), ("Search", "Paris")) == ["Could not find Paris."]


@given(st.text(), st.text())
@settings(max_examples=30, deadline=None)
def test_any_title_and_any_keyword_gives_an_observation(title: str, keyword: str) -> None:
    pages = (Passage("a", title or "x", keyword), *PAGES)
    observations = observe(
        open_wiki(pages), ("Search", title), ("Lookup", keyword), ("Search", keyword), ("Lookup", title)
    )
    for observation in observations:
        observation.text.encode()
        assert observation.error is None
    assert folded(folded(title)) == folded(title)
