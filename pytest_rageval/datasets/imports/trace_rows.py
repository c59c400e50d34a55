"""Encode the steps of a trace as JSON, for the field ``trace`` of a recorded answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.model.answer import Step
from pytest_rageval.model.derived_codec import encoder

__all__ = ["trace_rows"]


def trace_rows(trace: Iterable[Step]) -> list[JsonObject]:
    """Return a JSON object with ``kind`` and ``detail`` for each step."""
    encode = encoder(Step)
    return [cast("JsonObject", encode(step)) for step in trace]
