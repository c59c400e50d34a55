"""Topic of a chunk: by listed documents, by BM25 over names and keywords, or by vectors of names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pytest_rageval.generation.topics.classification import classify
from pytest_rageval.generation.topics.topic import Topic, TopicTree
from pytest_rageval.model.case import Passage

TREE = TopicTree(
    (
        Topic("Transit"),
        Topic("Ferries", "Transit", ("pier", "harbour"), ("listed.md",)),
        Topic("Trams", "Transit", ("rail", "stop")),
        Topic("Libraries", "", ("book", "loan")),
    )
)


def chunk(name: str, text: str) -> Passage:
    return Passage(name, text, page=name)


def test_a_listed_document_has_its_topic_regardless_of_its_words() -> None:
    result = classify([Passage("listed.md#3", "A book on loan.", page="listed.md")], TREE)
    assert result.topics == {"listed.md#3": "Transit/Ferries"}


def test_other_chunks_have_the_leaf_topic_whose_words_they_use() -> None:
    chunks = [chunk("a", "The rail at the stop is new."), chunk("b", "A book may be on loan for a month.")]
    assert classify(chunks, TREE).topics == {"a": "Transit/Trams", "b": "Libraries"}


def test_a_chunk_without_matching_words_or_a_clear_winner_has_no_topic() -> None:
    chunks = [chunk("a", "Nothing of this."), chunk("b", "A stop and a loan."), chunk("c", "Transit in general.")]
    result = classify(chunks, TREE)
    assert (result.topics, result.without_topic) == ({}, ("a", "b", "c"))


class Letters:
    """Encodes a text as the counts of three letters."""

    digest = ""

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        return np.array([[text.lower().count(letter) for letter in "frb"] for text in texts], dtype=np.float32)


def test_an_encoder_finds_the_nearest_name() -> None:
    tree = TopicTree((Topic("ff"), Topic("rr"), Topic("bb")))
    chunks = [chunk("a", "fff"), chunk("b", "r b"), chunk("c", "bbb r"), chunk("d", "nil")]
    result = classify(chunks, tree, Letters())
    assert (result.topics, result.without_topic) == ({"a": "ff", "c": "bb"}, ("b", "d"))


def test_the_published_topics_and_tasks_give_eighty_cells(rageval_data: Path) -> None:
    facts = json.loads((rageval_data / "vectors" / "topics_tasks_omnieval.json").read_text(encoding="utf-8"))
    topics = [Topic(name) for name in facts["topics"]]
    topics += [Topic(leaf, parent) for parent, leaves in facts["topics"].items() for leaf in leaves]
    tree = TopicTree(tuple(topics))
    leaves = list(tree.leaves)
    assert len(leaves) * len(facts["tasks"]) == facts["cells"]
    chunks = [chunk(leaf.path, f"A report on {leaf.name.lower()}.") for leaf in leaves]
    assert classify(chunks, tree).topics == {leaf.path: leaf.path for leaf in leaves}


@pytest.mark.parametrize("tree", [TopicTree(())])
def test_an_empty_tree_gives_no_chunk_a_topic(tree: TopicTree) -> None:
    assert classify([chunk("a", "x")], tree).without_topic == ("a",)
