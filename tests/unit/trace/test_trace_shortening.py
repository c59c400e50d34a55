"""Long texts of a trace are cut in the middle, after secrets are masked."""

from __future__ import annotations

import pytest

from pytest_rageval.llm.secrets import redact
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.shortening import shortened


def test_the_middle_of_a_long_text_is_replaced_by_its_length() -> None:
    step = Step("tool", {"name": "read", "arguments": {"pages": ["a" * 4 + "b" * 7 + "c" * 3]}, "seconds": 0.5})
    (short,) = shortened([step], 10, str)
    assert short.detail["arguments"] == {"pages": ["aaaab […4 characters…] bbccc"]}


def test_short_texts_and_numbers_stay() -> None:
    step = Step("tool", {"name": "read", "result": {"n": 1, "ok": True, "none": None, "text": "x" * 10}})
    assert shortened([step], 10, str) == (step,)


def test_a_secret_is_masked_before_the_cut_could_split_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-51Hx9QpZr7")
    text = "x" * 94 + "sk-51Hx9QpZr7" + "y" * 93
    (short,) = shortened([Step("tool", {"result": text})], 190, redact)
    assert "51Hx" not in short.detail["result"]
    assert "QpZr7" not in short.detail["result"]
