"""Repeats, conversations and judge agreement as tables of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_rageval.report.files.sections_json import decode_dialogues, decode_repeats, decode_trust
from pytest_rageval.report.sections.conversations import CONVERSATIONS, dialogue_columns
from pytest_rageval.report.sections.judge_trust import JUDGES, trust_columns, trust_texts
from pytest_rageval.report.sections.repeats import REPEATS, flip_texts, repeat_columns
from pytest_rageval.report.text.tables import labels_of

__all__ = ["Overview", "overviews_of"]


class Overview(NamedTuple):
    """A table with title and notes; the first row is the head, each row begins with its label."""

    title: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def overviews_of(results: Mapping[str, Any]) -> Iterator[Overview]:
    """Yield a table for each of these keys in results.json."""
    if "dialogues" in results:
        dialogues = [decode_dialogues(each) for each in results["dialogues"]]
        labels = _labels(results, "dialogues")
        yield _overview(CONVERSATIONS, ["testbed", *labels], dialogue_columns(dialogues))
    if "trust" in results:
        trusts = [decode_trust(each) for each in results["trust"]]
        notes = [text for trust in trusts for texts in trust_texts(trust) for text in texts]
        yield _overview(JUDGES, ["judge", *(trust.judge for trust in trusts)], trust_columns(trusts), notes)
    if "repeats" in results:
        repeats = [decode_repeats(each) for each in results["repeats"]]
        labels = _labels(results, "repeats")
        notes = list(flip_texts(labels, repeats))
        yield _overview(REPEATS, ["testbed", *labels], repeat_columns(repeats), notes)


def _labels(results: Mapping[str, Any], key: str) -> list[str]:
    return labels_of([(results["testbeds"][each["testbed"]]["name"], each["system"]) for each in results[key]])


def _overview(
    title: str, labels: Sequence[str], columns: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> Overview:
    return Overview(title[0].upper() + title[1:], list(zip(labels, *columns, strict=True)), notes)
