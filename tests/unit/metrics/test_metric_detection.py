from __future__ import annotations

import pytest

from pytest_rageval.metrics.shared.detection import flags_error, rejects
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.phrases import DEFAULT_MARKERS, ERROR_SENTENCE, REJECTION_SENTENCE, RGB_MARKERS, Markers

NO_MARKERS = Markers(rejection={}, error={})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_sentences_of_the_protocol_are_detected_and_distinguished(language: str) -> None:
    assert rejects(Answer(REJECTION_SENTENCE[language]), RGB_MARKERS)
    assert not rejects(Answer(ERROR_SENTENCE[language]), RGB_MARKERS)
    assert flags_error(ERROR_SENTENCE[language], RGB_MARKERS)
    assert not flags_error(REJECTION_SENTENCE[language], RGB_MARKERS)
    both = REJECTION_SENTENCE[language] + ERROR_SENTENCE[language]
    assert rejects(Answer(both), RGB_MARKERS)
    assert flags_error(both, RGB_MARKERS)


@pytest.mark.parametrize(
    ("text", "abstained", "expected"),
    [
        ("Insufficient  Information.", None, True),
        ("文档信息 不足", None, True),
        ("Paris", None, False),
        ("", None, False),
        ("insufficient information", False, False),
        ("Paris", True, True),
    ],
)
def test_a_declared_abstention_overrides_the_markers(text: str, abstained: bool | None, expected: bool) -> None:
    assert rejects(Answer(text, abstained=abstained), RGB_MARKERS) is expected


@pytest.mark.parametrize(
    ("text", "abstained", "expected"),
    [
        ("The documents do not say.", None, True),
        ("The documents do not say, but it was Rome.", None, False),
        ("insufficient information, but it was Rome", None, False),
        ("文中没有提到。", None, True),
        ("The documents do not say.", False, False),
        ("Rome", True, True),
    ],
)
def test_the_default_markers_detect_plain_refusals(text: str, abstained: bool | None, expected: bool) -> None:
    assert rejects(Answer(text, abstained=abstained), DEFAULT_MARKERS) is expected


def test_a_rule_and_markers_may_be_combined() -> None:
    markers = Markers(rejection={"en": ("beats me",)}, error={}, rules=("zh",))
    assert rejects(Answer("Beats me."), markers)
    assert rejects(Answer("文中没有提到。"), markers)
    assert not rejects(Answer("The documents do not say."), markers)


def test_markers_can_be_replaced() -> None:
    markers = Markers(rejection={"de": ("weiß ich nicht", "")}, error={"de": ("sachlich falsch",)})
    assert rejects(Answer("Das WEISS ich nicht."), markers)
    assert not rejects(Answer("insufficient information"), markers)
    assert flags_error("Das Dokument ist sachlich falsch.", markers)
    assert not flags_error("There are factual errors.", markers)
    assert not rejects(Answer("insufficient information"), NO_MARKERS)
    assert not flags_error("factual errors", NO_MARKERS)


@pytest.mark.parametrize(
    "text",
    [
        "Factual errors exist.",
        "there are FACTUAL  ERRORS in the documents",
        "there are factual\nerrors in the documents",
        "I can not answer because of the factual errors",
        "I cannot answer the question due to factual errors.",
        "I can not trust documents with factual errors",
        "The documents do not agree and contain factual errors",
        "No, there are factual errors.",
        "Answer: No\nThere are factual errors",
        "There are no factual errors. But wait: there are factual errors.",
        "Not only are there factual errors",
        "They are not free of factual errors",
        "The piano text has factual errors",
        "不，文档存在事实性错误",
        "文档信息不足且存在事实性错误",
        "无法回答因为文档存在事实性错误",
        "文档不仅存在事实性错误",
        "没有\n提供的文档存在事实性错误",
        "文档中 有 事实性 错误",
        "The documents contain 事实性错误",
    ],
)
def test_a_text_that_reports_factual_errors_flags_an_error(text: str) -> None:
    assert flags_error(text, RGB_MARKERS)


@pytest.mark.parametrize(
    "text",
    [
        "There are no factual errors",
        "There are no factual\nerrors in the documents",
        "The documents do not contain any factual errors.",
        "It can be answered without factual errors",
        "The documents are free of factual errors.",
        "I didn’t find any obvious “factual errors”.",
        "None of the documents contain factual errors",
        "I found neither contradictions nor factual errors",
        "文档不存在事实性错误",
        "没有发现事实性错误。",
        "未发现文档中存在事实性错误",
        "文档并无事实性错误",
        "文档中没有任何明显的“事实性错误”",
        "没有 factual errors",
        "a factual error",
        "事实错误",
        "",
    ],
)
def test_a_text_that_denies_factual_errors_flags_no_error(text: str) -> None:
    assert not flags_error(text, RGB_MARKERS)


def test_a_negator_reaches_five_words_or_ten_characters() -> None:
    assert not flags_error("not one two three four five factual errors", RGB_MARKERS)
    assert flags_error("not one two three four five six factual errors", RGB_MARKERS)
    assert not flags_error("没" + "字" * 10 + "事实性错误", RGB_MARKERS)
    assert flags_error("没" + "字" * 11 + "事实性错误", RGB_MARKERS)
