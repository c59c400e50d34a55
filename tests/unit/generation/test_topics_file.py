"""The file topics.toml: topics read back equal, and errors name their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.errors import DataError
from pytest_rageval.generation.topics.topic import Topic, TopicTree
from pytest_rageval.generation.topics.topics_file import read_topics, topics_text

TREE = TopicTree(
    (
        Topic("Transit"),
        Topic("Ferries", "Transit", ("pier", 'the "Heron"'), ("notices/ferries.md", "notices/fog.md")),
        Topic("票价", "Transit", ("克朗",), ("a\\b.md",)),
    )
)


def test_written_topics_read_back(tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(topics_text(TREE, ["Edit me.", "two\nlines\x00"]), encoding="utf-8")
    assert read_topics(path) == TREE
    assert path.read_text(encoding="utf-8").startswith('# Edit me.\n# two lines\n\n[[topic]]\nname = "Transit"\n')


def test_a_child_may_come_before_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text('[[topic]]\nname = "B"\nparent = "A"\n[[topic]]\nname = "A"\n', encoding="utf-8")
    assert [topic.path for topic in read_topics(path)] == ["A", "A/B"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "topics.toml: has no [[topic]]; write at least one, with a name"),
        ('[[topic]]\nname = ""\n', "topics.toml:2: [topic] name: found '', wanted a string that is not empty"),
        ('[[topic]]\nkeywords = []\n', "topics.toml:1: [topic] name is missing, wanted a string that is not empty"),
        ('[[topic]]\nname = "A/B"\n', "topics.toml:2: name: 'A/B' holds '/'; name the part before it as parent"),
        ('[[topic]]\nname = "A"\n[[topic]]\nname = "A"\n', "topics.toml:4: two topics are 'A'; rename one"),
        (
            '[[topic]]\nname = "Ferries"\n[[topic]]\nname = "Fog"\nparent = "Ferry"\n',
            "topics.toml:5: parent: no topic is 'Ferry'; did you mean 'Ferries'?",
        ),
        (
            '[[topic]]\nname = "A"\ndocuments = ["x"]\n[[topic]]\nname = "B"\ndocuments = ["x"]\n',
            "topics.toml:6: the document 'x' is in 'A', too; list it once",
        ),
        ('[[topic]]\nname = "A"\nkeyword = ["x"]\n', "topics.toml:3: unknown key 'keyword' in [topic]; did you mean"),
        ('[[topic]]\nname = "A"\nkeywords = [1]\n', "topics.toml:3: [topic] keywords: found an array of 1, wanted a"),
        ('[[topic]\n', "topics.toml:1: this is not valid TOML"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "topics.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_topics(path)
    assert str(error.value).startswith(problem)


def test_keywords_that_are_not_a_list_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text('[[topic]]\nname = "A"\nkeywords = 0\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"topics.toml:3: \[topic\] keywords: found 0, wanted a string or a list"):
        read_topics(path)
