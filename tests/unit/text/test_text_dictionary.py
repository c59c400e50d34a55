"""The user's dictionary of Chinese words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_rageval.errors import MissingDependencyError, SettingError
from pytest_rageval.retrieval.terms import versions
from pytest_rageval.text import dictionary
from pytest_rageval.text.dictionary import use_dictionaries, user_dictionary
from pytest_rageval.text.words import tokens, words

TEXT = "韩玉赏鉴基金，涨3.5%"


@pytest.fixture
def word_list(tmp_path: Path) -> Iterator[Path]:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    path = tmp_path / "words.txt"
    path.write_text("\ufeff韩玉赏鉴 3 nz\n3.5%\n", encoding="utf-8")
    yield path
    use_dictionaries(())


def test_words_of_the_users_dictionary_are_not_split(word_list: Path) -> None:
    before, version = words(TEXT), versions("none")
    assert "韩玉赏鉴" not in before
    use_dictionaries([word_list])
    assert words(TEXT) == ["韩玉赏鉴", "基金", "涨", "3.5%"]
    assert tokens(TEXT) == ["韩玉赏鉴", "基金", "，", "涨", "3.5%"]
    assert user_dictionary() in versions("none")["words"]
    assert versions("none") != version
    use_dictionaries(())
    assert (words(TEXT), versions("none"), user_dictionary()) == (before, version, "")


def test_an_unreadable_file_is_reported_in_one_sentence(word_list: Path) -> None:
    with pytest.raises(SettingError, match=r"rag_user_dict: '.*gone.txt' cannot be read \(No such file"):
        use_dictionaries([word_list, word_list.with_name("gone.txt")])
    word_list.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingError, match="it is not UTF-8"):
        use_dictionaries([word_list])
    assert user_dictionary() == ""


def test_without_jieba_the_extra_is_named(word_list: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"rag_user_dict needs .*pytest-rageval\[chinese\]"):
        use_dictionaries([word_list])
