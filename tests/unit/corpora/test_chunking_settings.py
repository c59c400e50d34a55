"""Chunking settings, and the chunks that each setting gives."""

from __future__ import annotations

import pytest

from pytest_rageval.corpora.chunking import Chunking, parse_chunking
from pytest_rageval.errors import SettingError

MARKDOWN = """Before.

# Kettles
## Care

Descale it.
```
# a comment
```
Pots
----
Rinse.
## Last
"""


def chunks(text: str, setting: str) -> list[str]:
    return [text[begin:end] for begin, end in parse_chunking(setting).spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Chunking("none")),
        ("none", Chunking("none")),
        (" tokens  200 40", Chunking("tokens", 200, 40)),
        ("tokens 200", Chunking("tokens", 200, 0)),
        ("sentences 5", Chunking("sentences", 5, 0)),
        ("sentences 5 4", Chunking("sentences", 5, 4)),
        ("sections", Chunking("sections")),
    ],
)
def test_a_chunking_is_parsed(text: str, expected: Chunking) -> None:
    assert parse_chunking(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("token 200", "rag_chunking: unknown chunking 'token'; did you mean 'tokens'?"),
        ("tokens", "rag_chunking is 'tokens'; write none, tokens SIZE [OVERLAP], sentences SIZE [OVERLAP] or sections"),
        ("tokens 200 40 1", "rag_chunking is 'tokens 200 40 1'; write none, "),
        ("sections 3", "rag_chunking is 'sections 3'; write none, "),
        ("tokens -5", "rag_chunking is 'tokens -5'; write none, "),
        ("tokens 2.5", "rag_chunking is 'tokens 2.5'; write none, "),
        ("tokens ²", "rag_chunking is 'tokens ²'; write none, "),
        ("tokens 0", "rag_chunking is 'tokens 0'; SIZE must be at least 1 and larger than OVERLAP"),
        ("tokens 40 40", "rag_chunking is 'tokens 40 40'; SIZE must be at least 1 and larger than OVERLAP"),
    ],
)
def test_an_invalid_chunking_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_chunking(text)
    assert str(caught.value).startswith(message)


def test_token_chunks_overlap_and_keep_punctuation() -> None:
    assert chunks('She said: "Boil (it) now."  Then tea.', "tokens 3 1") == [
        "She said: \"Boil",
        "\"Boil (it) now.\"",
        "now.\"  Then tea.",
    ]  # fmt: skip
    assert chunks("one two three four", "tokens 2") == ["one two", "three four"]


def test_chinese_is_chunked_at_words() -> None:
    assert chunks("山间铁路由市长剪彩通车。", "tokens 3") == ["山间铁路由", "市长剪彩通车。"]


def test_english_and_chinese_are_chunked_at_sentences() -> None:
    assert chunks("One. Two!  Three?", "sentences 2") == ["One. Two!", "Three?"]
    assert chunks("第一句。第二句！第三句？", "sentences 2") == ["第一句。第二句！", "第三句？"]


def test_each_heading_starts_a_section() -> None:
    assert chunks(MARKDOWN, "sections") == [
        "Before.",
        "# Kettles\n## Care\n\nDescale it.\n```\n# a comment\n```",
        "Pots\n----\nRinse.",
        "## Last",
    ]
    assert chunks("No heading.", "sections") == ["No heading."]


@pytest.mark.parametrize("setting", ["none", "tokens 3", "sentences 1", "sections"])
def test_a_text_without_words_is_one_chunk_and_white_space_gives_none(setting: str) -> None:
    assert chunks(" *** \n", setting) == ["***"]
    assert chunks(" \n\t\u3000", setting) == []
