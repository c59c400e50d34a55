"""A small town in documents, and questions about it without passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["CASES", "DOCUMENTS", "NAMES", "write_town"]

DOCUMENTS = {
    "museum": "The town museum opens at 9:00 on weekdays. It has 170 rooms.",
    "hall": "The concert hall of the town has 70 seats. The hall was built by Ann Lee.",
    "bridge": "The harbour bridge opened on 5 March 2019. It cost $1,577 million.",
    "library": "The town library was founded by Bo Ek. Ek retired in 1998.",
    "ferry": "The ferry to the island costs 4 euros. A bicycle on the ferry costs 9 euros.",
    "tram": "The tram crosses the old bridge of the town every few minutes and is free for children.",
    "cinema": "The cinema beside the concert hall shows films about the harbour and the town.",
    "market": "The town market is near the museum. It sells fish from the harbour.",
    "park": "The park behind the library is open all day. The town planted its trees.",
    "school": "The school of the town stands near the harbour. Its hall is used for concerts.",
    "island": "The island has a beach. The ferry from the town crosses in the morning.",
    "harbour": "The harbour of the town is deep. Boats of the museum are kept there.",
    "baths": "The town baths were rebuilt after a fire. Visitors of the museum pay less.",
    "copy": "The town museum opens at nine on weekdays; so the guide of the town says.",
}

CASES: list[dict[str, Any]] = [
    {"id": "open", "question": "When does the town museum open on weekdays?", "answers": ["9:00"], "page": "museum"},
    {"id": "seats", "question": "How many seats does the concert hall have?", "answers": ["70"], "page": "hall"},
    {"id": "date", "question": "When did the harbour bridge open?", "answers": ["5 March 2019"], "page": "bridge"},
    {"id": "founder", "question": "Who founded the town library?", "answers": ["Bo Ek"], "page": "library"},
    {"id": "fee", "question": "What does the ferry to the island cost?", "answers": ["4 euros"], "page": "ferry"},
    {"id": "free", "question": "For whom is the tram free?", "answers": ["children"], "page": "tram"},
]

NAMES = ("Ann Lee", "Bo Ek", "Maria Stone")


def write_town(folder: Path) -> None:
    """Write the questions as cases.jsonl, the documents as town.jsonl and the people as people.txt."""
    cases = [{**case, "provenance": [[case["page"]]], "topic": "Town"} for case in CASES]
    documents = [{"id": name, "text": text} for name, text in DOCUMENTS.items()]
    for name, rows in (("cases.jsonl", cases), ("town.jsonl", documents)):
        lines = [json.dumps({key: row[key] for key in row if key != "page"}) + "\n" for row in rows]
        (folder / name).write_text("".join(lines), encoding="utf-8")
    (folder / "people.txt").write_text("".join(f"{name}\n" for name in NAMES), encoding="utf-8")
