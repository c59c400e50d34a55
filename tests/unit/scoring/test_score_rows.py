"""Outcomes are encoded as lines, independent of earlier lines, and decoded again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Diagnosis, Outcome, Score
from pytest_rageval.scoring.rows import LineEncoder, OutcomeDecoder, row_of

PLAIN = Outcome(
    nodeid="q1", case_id="q1", testbed="cases.jsonl", facets={"topic": "Fares"}, system="recorded", status="scored",
    answer=Answer("Paris"), scores={"accuracy": Score(1.0), "token_f1": Score(0.5)}, data="0" * 16, said="1" * 16,
    length=5,
)  # fmt: skip
VARIANTS = {
    "the same": PLAIN,
    "another case": replace(PLAIN, nodeid='q"2"', case_id="é\u2028", length=None, said=""),
    "a whole number": replace(PLAIN, scores={"accuracy": Score(1), "token_f1": Score(0.5)}),
    "a negative zero": replace(PLAIN, scores={"accuracy": Score(-0.0)}),
    "zero": replace(PLAIN, scores={"accuracy": Score(0.0)}),
    "a reason": replace(PLAIN, scores={"accuracy": Score(reason="not_applicable")}),
    "declined": replace(PLAIN, declined=True),
    "evidence": replace(PLAIN, evidence=1.0),
    "usage": replace(PLAIN, answer=Answer("Paris", usage=Usage(1, 2, 0.5, 0.1))),
    "calls": replace(PLAIN, calls=Calls(1, 1)),
    "a diagnosis": replace(PLAIN, diagnosis=Diagnosis("EM", True, "yes", "finished", "found")),
    "an error": replace(PLAIN, status="error", answer=None, scores={}, error="it broke", error_type="model_error"),
}


def test_a_line_is_its_row_independent_of_earlier_lines() -> None:
    lines = LineEncoder()
    for _ in range(2):
        for outcome in VARIANTS.values():
            line = lines.encode(outcome).decode()
            row = json.dumps(row_of(outcome), ensure_ascii=False, separators=(",", ":"))
            assert line == f"{row}\n"


@pytest.mark.parametrize("name", VARIANTS)
def test_a_line_is_decoded_to_its_outcome(name: str) -> None:
    outcome = VARIANTS[name]
    decoder = OutcomeDecoder({"cases.jsonl": outcome.cluster}, details=True)
    encoder = LineEncoder()
    decoder.decode_line(encoder.encode(PLAIN))
    decoded = decoder.decode_line(encoder.encode(outcome))
    assert row_of(decoded) == row_of(outcome)
