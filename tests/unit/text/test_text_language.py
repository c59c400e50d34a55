"""Language detection: texts with Han characters are Chinese."""

from __future__ import annotations

import pytest

from pytest_rageval.text.language import detect_language, has_chinese


@pytest.mark.parametrize("text", ["北京", "Paris 巴黎", "㐀", "豈", "\U00020000"])
def test_han_characters_are_chinese(text: str) -> None:
    assert has_chinese(text)
    assert detect_language(text) == "zh"


@pytest.mark.parametrize("text", ["", "Paris", "éà", "，。", "Ａ１", "カナ", "한국"])
def test_texts_without_han_characters_are_not_chinese(text: str) -> None:
    assert not has_chinese(text)
    assert detect_language(text) == "en"
