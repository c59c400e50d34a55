"""Cases and recorded answers of two systems: dialogues, clusters, errors, missing answers, rankings and usage."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["OUTAGE", "answer_rows", "case_rows", "write_rows"]

WORDS = ("fare", "fund", "Paris", "Rome", "ticket", "rail", "board", "of", "the", "zone")

OUTAGE = [{"kind": "end", "detail": {"reason": "model_error", "detail": "503"}}]
"""The trace of a run that a broken model ended: its case is an error."""


def case_rows(n: int) -> Iterator[dict[str, Any]]:
    """Yield ``n`` records; a tenth are turns of dialogues, and all belong to one of ``n / 5`` documents."""
    draw = random.Random(1)
    for number in range(n):
        row = {
            "id": number if number % 7 == 0 else f"q{number}",
            "question": f"Question {number} about the {draw.choice(WORDS)}?",
            "answers": [" ".join(draw.sample(WORDS, 3)), "Paris"],
            "topic": draw.choice(["Fares", "Funds", "Rail"]),
            "doc": f"doc{draw.randrange(max(1, n // 5))}",
            "passages": [{"id": "d1", "text": "The fare of Paris.", "role": "positive"}],
        }
        if number % 10 == 0:
            row["dialogue"] = f"talk{number // 30}"
        yield row


def answer_rows(n: int, *, seed: int, right: float = 0.7, whole: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the answers of two systems to the cases of `case_rows`; unless ``whole``, some are missing or outages."""
    draw = random.Random(seed)
    for number in range(n):
        for system in ("alpha", "beta"):
            chance = 1.0 if whole else draw.random()
            if chance < 0.02:
                continue
            text = "Paris" if draw.random() < right else " ".join(draw.sample(WORDS, draw.randrange(1, 6)))
            row: dict[str, Any] = {"id": number if number % 7 == 0 else f"q{number}", "system": system, "answer": text}
            if chance < 0.04:
                row["trace"] = OUTAGE
            elif chance < 0.1:
                row |= {"answer": "", "abstained": True}
            if number % 3 == 0:
                row["ranking"] = [{"id": draw.choice(["d1", "d2"]), "score": 1.0}]
            row["usage"] = {"latency_s": round(draw.random(), 3), "cost_usd": 0.001, "prompt_tokens": 10,
                            "completion_tokens": 5}  # fmt: skip
            yield row


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as JSON Lines."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path
