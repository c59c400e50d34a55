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
def added(tmp_path: Path) -> Iterator[Path]:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    path = tmp_path / "words.txt"
    path.write_text("\ufeff韩玉赏鉴 3 nz\n3.5%\n", encoding="utf-8")
    yield path
    use_dictionaries(())


def test_words_of_the_users_are_words(added: Path) -> None:
    before, version = words(TEXT), versions("none")
    assert "韩玉赏鉴" not in before
    use_dictionaries([added])
    assert words(TEXT) == ["韩玉赏鉴", "基金", "涨", "3.5%"]
    assert tokens(TEXT) == ["韩玉赏鉴", "基金", "，", "涨", "3.5%"]
    assert user_dictionary() in versions("none")["words"]
    assert versions("none") != version
    use_dictionaries(())
    assert (words(TEXT), versions("none"), user_dictionary()) == (before, version, "")


def test_a_file_that_cannot_be_read_is_one_sentence(added: Path) -> None:
    with pytest.raises(SettingError, match=r"rag_user_dict: '.*gone.txt' cannot be read \(No such file"):
        use_dictionaries([added, added.with_name("gone.txt")])
    added.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingError, match="it is not UTF-8"):
        use_dictionaries([added])
    assert user_dictionary() == ""


def test_without_jieba_the_extra_is_named(added: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"rag_user_dict needs .*pytest-rageval\[chinese\]"):
        use_dictionaries([added])
