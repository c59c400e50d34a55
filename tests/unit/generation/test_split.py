"""Split into sets: no document is in two sets, each cell has its shares, and people get a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.split import Sets, SplitSettings, split
from pytest_rageval.model.case import Passage


def draft(question: str, *pages: str, topic: str = "T", task: str = "extractive_qa", **facets: str) -> Draft:
    sources = tuple(Passage(f"{page}#0", f"text of {page}", page=page) for page in pages)
    return Draft(question, (("a",),), task, topic, "llm", "m", sources, facets=facets, state="kept")


def split_drafts(drafts: Sequence[Draft], *, people: int = 0, seed: int = 0, **shares: float) -> tuple[Sets, list[str]]:
    warnings: list[str] = []
    settings = SplitSettings(shares or {"auto_test": 0.8, "auto_train": 0.2}, people)
    return split(drafts, settings, seed, warnings), warnings


def counts(drafts: Sequence[Draft]) -> Counter[tuple[str, str]]:
    return Counter((each.topic, each.task) for each in drafts)


def test_each_cell_has_its_shares() -> None:
    drafts = [
        draft(f"{topic}{task}{n}", f"{topic}{task}{n}", topic=topic, task=task)
        for topic in "AB"
        for task in ("extractive_qa", "contrast_qa")
        for n in range(10)
    ]
    sets, warnings = split_drafts(drafts)
    assert set(counts(sets.auto_test).values()) == {8}
    assert set(counts(sets.auto_train).values()) == {2}
    assert warnings == []


def test_documents_with_cases_of_all_tasks_are_shared_by_task() -> None:
    tasks = ("extractive_qa", "contrast_qa", "long_form_qa")
    drafts = [draft(f"{task} {n}", f"d{n}", task=task) for n in range(20) for task in tasks]
    sets, _ = split_drafts(drafts, auto_test=0.75, auto_train=0.25)
    assert counts(sets.auto_train) == {("T", task): 5 for task in tasks}


def test_documents_linked_by_cases_go_to_one_set() -> None:
    chain = [draft("one", "a", "b"), draft("two", "b", "c"), draft("three", "c", "d")]
    others = [draft(f"q{n}", f"x{n}") for n in range(27)]
    for seed in range(20):
        sets, warnings = split_drafts([*chain, *others], seed=seed)
        places = {name for name in ("auto_test", "auto_train") for each in getattr(sets, name) if each in chain}
        assert len(places) == 1
        assert warnings == []


def test_linked_documents_too_many_for_the_training_set_go_to_the_tests() -> None:
    drafts = [draft(f"q{n}", "hub", f"d{n}") for n in range(9)] + [draft("q", "alone")]
    sets, warnings = split_drafts(drafts, auto_train=1.0, auto_test=0.0)
    assert (len(sets.auto_test), len(sets.auto_train), warnings) == (0, 10, [])
    sets, warnings = split_drafts(drafts, auto_test=0.4, auto_train=0.6)
    assert (len(sets.auto_test), len(sets.auto_train)) == (9, 1)
    assert warnings == ["9 cases share documents, more than the 6 of auto_train; they are all in auto_test"]


def test_dropped_drafts_link_nothing_and_are_in_no_set() -> None:
    link = draft("link", "a", "b").dropped("one_hop")
    sets, _ = split_drafts([draft("q1", "a"), draft("q2", "b"), link], auto_test=0.5, auto_train=0.5)
    assert (len(sets.auto_test), len(sets.auto_train)) == (1, 1)


def test_known_drafts_follow_their_documents_and_do_not_count_for_shares() -> None:
    drafts = [draft(f"q{n}", f"d{n}") for n in range(10)]
    known_drafts = [draft(f"known {n}", f"d{n}", f"only {n}").dropped("known") for n in range(10)]
    sets, warnings = split_drafts([*drafts, *known_drafts])
    assert (len(sets.auto_test), len(sets.auto_train), warnings) == (8, 2, [])
    for name, cases in (("auto_test", sets.auto_test), ("auto_train", sets.auto_train)):
        pages = {each.sources[0].page for each in cases}
        assert {each.sources[0].page for each in sets.known[name]} == pages
    link = draft("link", "d0", "d1", "d2").dropped("known")
    linked_sets, _ = split_drafts([*drafts, link])
    places = [
        {source.page for each in cases for source in each.sources}
        for cases in (linked_sets.auto_test, linked_sets.auto_train)
    ]
    assert sum(not place.isdisjoint({"d0", "d1", "d2"}) for place in places) == 1


def test_people_see_a_sample_of_each_cell_of_the_tests() -> None:
    drafts = [draft(f"{topic}{n}", f"{topic}{n}", topic=topic) for topic in "AB" for n in range(10)]
    sets, _ = split_drafts(drafts, people=3)
    assert set(counts(sets.human_test).values()) == {3}
    assert {each.id for each in sets.human_test} <= {each.id for each in sets.auto_test}
    assert split_drafts(drafts, people=3)[0] == sets
    assert split_drafts(drafts, people=3, seed=1)[0].human_test != sets.human_test


def test_people_see_whole_conversations() -> None:
    drafts = [
        draft(f"{n} {turn}", f"d{n}", task="conversational_qa", dialogue=f"c{n}", round=str(turn))
        for n in range(6)
        for turn in (1, 2, 3)
    ]
    sets, _ = split_drafts(drafts, people=4, auto_test=1.0)
    assert Counter(each.facets["dialogue"] for each in sets.human_test).most_common() == [
        (name, 3) for name in dict.fromkeys(each.facets["dialogue"] for each in sets.human_test)
    ]
    assert len(sets.human_test) == 6


@pytest.mark.parametrize("count", [0, 1])
def test_few_drafts_all_become_tests(count: int) -> None:
    sets, warnings = split_drafts([draft("q", "a")][:count])
    assert (len(sets.auto_test), len(sets.auto_train), warnings) == (count, 0, [])
