"""Compare how judges' replies are parsed with vectors of OmniEval's published code."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.datasets.imports.omnieval_compat import reply_value, score_fields

PUBLISHED = [
    ("accuracy", '{"prediction": 2}', 1.0),
    ("accuracy", '{"prediction": 1}', 0.5),
    ("accuracy", '{"prediction": 0}', 0.0),
    ("accuracy", '{"prediction": 3}', 1.5),
    ("utilization", '{"prediction": -2}', -1.0),
    ("accuracy", '{"prediction": true}', 0.5),
    ("accuracy", '{"prediction": "2.0"}', -1.0),
    ("accuracy", '[{"prediction": 2}]', -1.0),
    ("accuracy", '```json\n{"prediction": 2}\n```', 1.0),
    ("accuracy", 'The answer is right: {"prediction": 2}. That is all.', 1.0),
    ("completeness", '{"prediction": -1}', -1.0),
    ("hallucination", '{"prediction": 1}', 1.0),
    ("hallucination", '{"prediction": 2}', 2.0),
    ("numerical_accuracy", '{"prediction": 1}', 1.0),
    ("numerical_accuracy", '{"prediction": -1}', -1.0),
    ("utilization", '{"utilization": 2}', 1.0),
    ("utilization", '{"accuracy": 2}', -1.0),
    ("accuracy", '{"prediction": null, "accuracy": 2}', -1.0),
    ("accuracy", '{"prediction": 2.9}', 1.0),
    ("accuracy", '{"prediction": "2"}', 1.0),
    ("accuracy", '{"prediction": [2]}', -1.0),
    ("accuracy", "{}", -1.0),
    ("accuracy", "", -1.0),
    ("accuracy", "2", -1.0),
    ("accuracy", "It is right.", -1.0),
]
SEVERAL = [
    ('{"prediction": 1}{"prediction": 2}', 1.0),
    ('{"prediction": 1}\n{"prediction": 2}', 1.0),
    ('So {"prediction": 2} or rather {"prediction": 1}.', 0.5),
    ('```json\n{"prediction": 1}\n```\n```json\n{"prediction": 2}\n```', 1.0),
    ('{"prediction": 0} text {"prediction": 2', 1.0),
    ('{"prediction": 1} {"prediction": 1}', 0.5),
    ('{"prediction": 2} {"reason": "right"}', -1.0),
    ('{"prediction": 2} {}', 1.0),
    ('[{"prediction": 2}] {"prediction": 2}', -1.0),
]
"""Values read by json_repair 0.61, the library of the published code; -1 for a list as in `PUBLISHED`."""

FULL_WIDTH = [
    ('{"prediction"：2}', 1.0),
    ("{“prediction”: 2}", 1.0),
    ("{“prediction”：2}", 1.0),
    ('{"prediction"：“2”}', 1.0),
    ('{"prediction"：2，"reason"："x"}', 1.0),
    ("{“reason”：“说：好”，“prediction”：2}", 1.0),
    ('{"reason": "说“好”", "prediction"：2}', 1.0),
    ('{"reason": "说：“prediction”：0", "prediction": 2}', 1.0),
]
"""Values read by json_repair 0.30, the version of the published environment."""

REPAIRED = [
    ("{'prediction': 2}", 1.0),
    ('{"prediction": 2,}', 1.0),
    ('{prediction: "2"}', 1.0),
    ('{"prediction": 2', 1.0),
    ('{"reason": "wrong", "prediction": True}', 0.5),
    ('{"reason": "cut of', -1.0),
    ('{"prediction": }', -1.0),
    ('{"prediction": 1e999}', -1.0),
    ('{"prediction": NaN}', -1.0),
    ('{"prediction": 1' + "0" * 400 + "}", -1.0),
    ('{"prediction": ' + "[" * 100_000, -1.0),
    ('{"prediction": ' + "-" * 100_000 + "1}", -1.0),
]


@pytest.mark.parametrize(("metric", "reply", "value"), PUBLISHED)
def test_a_reply_has_the_published_value(metric: str, reply: str, value: float) -> None:
    assert reply_value(reply, metric) == value


@pytest.mark.parametrize(("reply", "value"), [*SEVERAL, *FULL_WIDTH])
def test_the_last_object_counts_and_full_width_signs_are_accepted(reply: str, value: float) -> None:
    assert reply_value(reply, "accuracy") == value


@pytest.mark.parametrize("unit", ["{", '{"', '{"a":', '{"a": 1} ', "{}", "}{", '{"a":"}', "{'a': [{},"])
def test_a_hostile_reply_is_parsed_in_bounded_time(unit: str) -> None:
    began = time.process_time()
    reply_value(unit * (200_000 // len(unit)), "accuracy")
    assert time.process_time() - began < 2, "2e5 characters take milliseconds; a quadratic step takes minutes"


@pytest.mark.parametrize(("reply", "value"), REPAIRED)
def test_a_malformed_reply_is_repaired(reply: str, value: float) -> None:
    assert reply_value(reply, "accuracy") == value


@pytest.mark.parametrize(
    ("metric", "value", "read"),
    [
        ("accuracy", 0.5, {"value": 0.5}),
        ("accuracy", -1.0, {"reason": "not_applicable_or_parse_error"}),
        ("hallucination", 2.0, {"reason": "out_of_range"}),  # as in a mean of 1.2923 on the leaderboard
        ("accuracy", 1.5, {"reason": "out_of_range"}),
        ("mrr", -1.0, {"reason": "out_of_range"}),
        ("mrr", None, {"reason": "not_a_number"}),
    ],
)
def test_a_missing_value_has_a_reason(metric: str, value: float | None, read: dict[str, object]) -> None:
    assert score_fields(metric, value) == read
