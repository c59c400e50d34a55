"""R-Eval's twelve tasks: their ids, levels and domains."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEVELS", "TASKS", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """A task of R-Eval.

    Attributes:
        id: its id in the paper's tables, such as "1-1".
        domain: "wiki" or "aminer".
        level: the facet ``level`` of its cases.
        has_labels: whether its gold answers are labels, such as "true" or "Professor".
    """

    id: str
    domain: str
    level: str
    has_labels: bool = False


SEEKING, UNDERSTANDING, APPLICATION = "knowledge_seeking", "knowledge_understanding", "knowledge_application"

LEVELS = {"1": SEEKING, "2": UNDERSTANDING, "3": APPLICATION}
"""The first digit of a task's id -> the facet ``level``."""

TASKS: dict[str, Task] = {
    "high_freq_ent": Task("1-1", "wiki", SEEKING),
    "low_freq_ent": Task("1-2", "wiki", SEEKING),
    "soay_easy": Task("1-3", "aminer", SEEKING),
    "csj": Task("2-1", "wiki", UNDERSTANDING),
    "cpj": Task("2-2", "wiki", UNDERSTANDING, has_labels=True),
    "cic": Task("2-3", "wiki", UNDERSTANDING),
    "profiling": Task("2-4", "aminer", UNDERSTANDING, has_labels=True),
    "hotpotqa": Task("3-1", "wiki", APPLICATION),
    "2wikimultihopqa": Task("3-2", "wiki", APPLICATION),
    "musique": Task("3-3", "wiki", APPLICATION),
    "kqapro": Task("3-4", "wiki", APPLICATION),
    "soay_hard": Task("3-5", "aminer", APPLICATION),
}
"""R-Eval's key of a dataset -> its task."""
