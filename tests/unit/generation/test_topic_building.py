"""Topics built without a model: where the topic of a document comes from, and which topics merge."""

from __future__ import annotations

from pytest_rageval.generation.topics.building import build_topics
from pytest_rageval.model.case import Passage


def page(name: str, text: str = "Some text.", **metadata: object) -> Passage:
    return Passage(name, text, page=name, metadata=metadata)


def documents_by_topic(chunks: list[Passage], depth: int = 2, min_documents: int = 1) -> dict[str, tuple[str, ...]]:
    tree = build_topics(chunks, depth, min_documents).tree
    return {topic.path: topic.documents for topic in tree if topic.documents}


def test_metadata_comes_before_folders_and_folders_before_headings() -> None:
    chunks = [
        page("docs/a/x.md", "# Heading\n\nText.", topic="Town/Trams"),
        page("docs/a/y.md", "# Heading\n\nText."),
        page("docs/b/z.md", "# Heading\n\nText."),
        page("docs/w.md", "# Opening hours\n\nText."),
    ]
    assert documents_by_topic(chunks) == {
        "Town/Trams": ("docs/a/x.md",),
        "a": ("docs/a/y.md",),
        "b": ("docs/b/z.md",),
        "Opening hours": ("docs/w.md",),
    }


def test_a_folder_of_all_documents_or_of_a_language_is_not_a_topic() -> None:
    chunks = [page("site/en/a.md", "# Fares\n\nText."), page("site/zh/b.md", "# 票价\n\n文。")]
    assert documents_by_topic(chunks) == {"Fares": ("site/en/a.md",), "票价": ("site/zh/b.md",)}


def test_depth_limits_the_path_of_folders() -> None:
    chunks = [page("d/a/b/1.md"), page("d/a/c/2.md"), page("d/e/3.md")]
    assert set(documents_by_topic(chunks, depth=1)) == {"a", "e"}
    assert set(documents_by_topic(chunks, depth=2)) == {"a/b", "a/c", "e"}


def test_a_small_topic_merges_into_its_parent_unless_it_has_none() -> None:
    chunks = [page(f"d/a/b/{at}.md") for at in range(3)] + [page("d/a/c/9.md"), page("d/e/9.md")]
    result = build_topics(chunks, 2, 3)
    assert {topic.path: len(topic.documents) for topic in result.tree} == {"a": 1, "e": 1, "a/b": 3}
    assert result.merged == 1


def test_chunks_of_one_page_are_one_document() -> None:
    chunks = [
        Passage("p#0", "# Ferries\n\nA.", page="p"),
        Passage("p#1", "# Fog\n\nB.", page="p"),
    ]
    assert documents_by_topic(chunks) == {"Ferries": ("p",)}


def test_documents_without_folders_and_headings_get_topics_from_keyphrases() -> None:
    boats = [f"The ferry leaves the pier; the captain of the ferry waits at the pier. Trip {at}." for at in range(6)]
    books = [f"The library lends novels; the librarian of the library reads novels. Shelf {at}." for at in range(6)]
    chunks = [page(f"n{at}", text) for at, text in enumerate([*boats, *books])]
    result = build_topics(chunks, 1, 3)
    groups = {topic.documents for topic in result.tree}
    assert result.ways == {"keyphrases": 12}
    assert all({int(name[1:]) < 6 for name in group} in ({True}, {False}) for group in groups)
    keywords = {word for topic in result.tree for word in topic.keywords}
    assert {"ferry", "library"} <= keywords
    assert result == build_topics(chunks, 1, 3)


def test_a_document_without_words_has_no_topic() -> None:
    chunks = [page(f"n{at}", "ferry pier captain") for at in range(3)] + [page("x", "12 34")]
    assert build_topics(chunks).without_topic == ("x",)


def test_headings_are_not_topics_if_there_are_too_many() -> None:
    chunks = [page(f"n{at}", f"# Notice {at}x\n\nThe ferry leaves the pier.") for at in range(31)]
    assert "first heading" not in build_topics(chunks).ways
