"""Replies of judges: parsed strictly into a label and a reason."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.judges.replies import UnreadableReplyError, read_reply

CHOICE = ("detected", "not_detected")
SCALE = range(0, 3)


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "r", "label": "detected"}',
        '{"label": "detected", "reason": "r"}',
        ' {"reason":"r","label":" Detected "}\n',
        '```json\n{"reason": "r", "label": "DETECTED"}\n```',
        'Here is my verdict {as asked}: {"reason": "r", "label": "detected"} Thank you.',
        '{"reason": "r", "label": "detected"}\n{"reason": "r", "label": "detected"}',
        "{“reason”：“r”，“label”：“detected”}",
        '{"reason"："r", "label"：“detected”}',
        '以下是结论：{"reason": "r"，"label": "detected"}。',
        r'It follows that \frac{1}{2}, so {"reason": "r", "label": "detected", "sure": true}',
    ],
)
def test_one_object_with_a_declared_label_is_read(text: str) -> None:
    assert read_reply(text, CHOICE) == ("detected", "r")


@pytest.mark.parametrize("text", ['{"label": "detected"}', '{"label": "detected", "reason": null}'])
def test_a_reason_may_be_missing(text: str) -> None:
    assert read_reply(text, CHOICE) == ("detected", "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the reply is empty"),
        (" \n\t", "the reply is empty"),
        ("detected", "the reply holds no JSON object"),
        ("Yes, the answer has identified an error.", "the reply holds no JSON object"),
        ("{'label': 'detected'}", "the reply holds no JSON object"),
        ("{}", "the reply holds no JSON object"),
        ('{"reason": "cut off in the mid', "the reply holds an object that is not valid JSON"),
        ('{"outer": {"label": "detected"}', "the reply holds an object that is not valid JSON"),
        ('{"label": "detected"} or {"label": "not_detected"}', "the reply holds two different JSON objects"),
        ('{"label": "detected"} or {“label”: “not_detected”}', "the reply holds two different JSON objects"),
        ('{"reason": "说“好”", "label"：“detected”}', "the reply holds an object that is not valid JSON"),
        ('{"label": "detected", "label": "not_detected"}', "the JSON object has one key twice"),
        ('{"reason": "detected"}', 'the JSON object has no key "label"'),
        ('{"verdict": {"label": "detected"}}', 'the JSON object has no key "label"'),
        ('{"label": "found"}', "the label is 'found', wanted one of 'detected', 'not_detected'"),
        ('{"label": ""}', "the label is '', wanted one of"),
        ('{"label": ["detected"]}', r"the label is \['detected'\], wanted one of"),
        ('{"label": true}', "the label is True, wanted one of"),
        ('{"label": -1e999}', "the label is a number too large to read, wanted one of"),
        ('{"label": null}', "the label is None, wanted one of"),
        ('{"label": NaN}', "the reply holds NaN"),
    ],
)
def test_a_reply_without_one_valid_label_is_unreadable(text: str, problem: str) -> None:
    with pytest.raises(UnreadableReplyError, match=f"^{problem}"):
        read_reply(text, CHOICE)


def test_full_width_signs_in_a_reason_stay() -> None:
    assert read_reply('{"reason": "他说：“好”，对。", "label": "detected"}', CHOICE) == ("detected", "他说：“好”，对。")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_whole_number_of_the_scale_is_read(number: int) -> None:
    assert read_reply(f'{{"label": {number}}}', SCALE) == (number, "")


@pytest.mark.parametrize(
    "label", ["3", "-1", "1.0", "1.5", "true", '"1"', '"0.5"', "1e0", "1e999", "-Infinity", "null", "9" * 5000, "[1]"]
)
def test_an_invalid_number_is_not_on_the_scale(label: str) -> None:
    with pytest.raises(UnreadableReplyError):
        read_reply(f'{{"label": {label}}}', SCALE)


def test_true_and_one_are_different_objects() -> None:
    with pytest.raises(UnreadableReplyError, match="two different"):
        read_reply('{"label": 1} {"label": true}', SCALE)


@pytest.mark.parametrize("unit", ["{", '{"', '{"a":', "{ ", '{"a": 1} ', "[", "\\u0000", '{"label": "'])
def test_a_hostile_reply_is_refused_in_linear_time(unit: str) -> None:
    start = time.process_time()
    with pytest.raises(UnreadableReplyError):
        read_reply(unit * (200_000 // len(unit)), CHOICE)
    assert time.process_time() - start < 2, "2e5 characters take milliseconds; a quadratic step takes minutes"
