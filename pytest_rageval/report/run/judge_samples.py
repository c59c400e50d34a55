"""Rebuild the samples that a judge saw, from a results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.codec import decode_instance
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.sample import Sample

__all__ = ["sample_of"]


def sample_of(outcome: Outcome, instances: Mapping[str, Any]) -> Sample:
    """Return the sample that an answered outcome was scored from.

    Args:
        outcome: the outcome of a case.
        instances: case id -> encoded instance, from its results.json.

    Raises:
        SettingError: the file has no texts, or lacks the case or a passage that the outcome refers to.
    """
    encoded = instances.get(outcome.case_id)
    if encoded is None:
        raise SettingError(f"the results lack the case {outcome.case_id!r} that they answer; run the tests again")
    if "question" not in encoded:
        raise SettingError(
            f"the run has no texts of the case {outcome.case_id!r}, because rag_report_texts = false leaves them out; "
            "run the tests again with them"
        )
    instance = decode_instance(outcome.case_id, encoded, outcome.facets)
    if outcome.question is not None:
        instance = replace(instance, question=outcome.question)
    pool = {passage.id: passage for passage in (*(instance.passages or ()), *outcome.added)}
    missing = [name for name in outcome.supplied if name not in pool]
    if missing:
        problem = f"was supplied to the case {outcome.case_id!r}, and the case has no such passage"
        raise SettingError(
            f"the results contradict themselves: {short_repr(missing[0])} {problem}; run the tests again"
        )
    supplied = tuple(pool[name] for name in outcome.supplied) or None
    return Sample(Case(outcome.case_id, instance, supplied, outcome.facets), outcome.answer or Answer(""))
