"""RGB's protocol: sentences that a system is asked to say, and markers that detect them.

Source: Chen et al., "Benchmarking Large Language Models in Retrieval-Augmented Generation", AAAI 2024.
Its evaluation searches for the markers as substrings. The sentences are constants of the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["DEFAULT_MARKERS", "ERROR_SENTENCE", "REJECTION_SENTENCE", "RGB_MARKERS", "Markers"]

REJECTION_SENTENCE: Mapping[str, str] = MappingProxyType(
    {
        "en": "I can not answer the question because of the insufficient information in documents.",
        "zh": "文档信息不足，因此我无法基于提供的文档回答该问题。",
    }
)
ERROR_SENTENCE: Mapping[str, str] = MappingProxyType(
    {"en": "There are factual errors in the provided documents.", "zh": "提供文档的文档存在事实性错误。"}
)


@dataclass(frozen=True, slots=True)
class Markers:
    """The phrases that mark a rejection or a detected factual error in an answer.

    Attributes:
        rejection: language -> phrases that mark a rejection wherever they occur.
        error: language -> phrases that mark a detected error unless they are negated.
        rules: the languages in which `pytest_rageval.text.refusals.refuses` also detects a rejection.
    """

    rejection: Mapping[str, tuple[str, ...]]
    error: Mapping[str, tuple[str, ...]]
    rules: tuple[str, ...] = ()


RGB_MARKERS = Markers(
    rejection=MappingProxyType({"en": ("insufficient information",), "zh": ("信息不足",)}),
    error=MappingProxyType({"en": ("factual errors",), "zh": ("事实性错误",)}),
)
"""RGB's published markers."""

DEFAULT_MARKERS = Markers(rejection=MappingProxyType({}), error=RGB_MARKERS.error, rules=("en", "zh"))
"""The default of a session: rules detect refusals, and RGB's markers detect reported errors."""
