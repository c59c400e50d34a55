"""Plans with documents and a model, and the drafts of a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.loading import load_material
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.stage import add_drafts
from pytest_rageval.generation.plan import read_plan
from pytest_rageval.generation.quotas import apply_quotas
from pytest_rageval.model.chat import Message
from pytest_rageval.testing import ScriptedLLM

HISTORY = """\
# The town museum

The town museum was founded in 1903 by Ann Lee. It opens at 9:00 on weekdays.

## Tickets

A ticket for the town museum costs 12 euros. A child's ticket costs 5 euros. The guide book costs 20 euros.

## The founder

Ann Lee was born in Bergen in 1870. She collected maps of the fjord.
"""
ANNEX = """\
# The annex

The annex was founded in 1950. A ticket for the annex costs 8 euros.
"""
FERRY = """\
# 渡轮

渡轮每天早上八点开船，单程票价为六元。渡轮公司成立于1988年。
"""
DOCUMENTS = {"Museum/history.md": HISTORY, "Museum/annex.md": ANNEX}

HEAD = """
[[corpus]]
path = "docs/documents.jsonl"
chunking = "sections"
[model]
name = "MODEL"
"""

KEEP = '{"reason": "fine", "verdict": "keep"}'

Json = dict[str, Any]


def item(question: str, answer: str, evidence: str, **more: Any) -> Json:
    """Return an item in the form that the prompts ask for."""
    return {"question": question, "answers": [answer], "evidence": [evidence], **more}


FOUNDED = item("When was the town museum founded?", "1903", "The town museum was founded in 1903")
PRICE = item(
    "How much does a ticket for the town museum cost?", "12 euros", "A ticket for the town museum costs 12 euros"
)


def write_documents(folder: Path, documents: Mapping[str, str] = DOCUMENTS) -> None:
    """Write the documents of a plan; the topic of each is the first part of its id."""
    rows = [{"id": name, "text": text, "topic": name.partition("/")[0]} for name, text in documents.items()]
    (folder / "docs").mkdir(exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "docs" / "documents.jsonl").write_text(lines, encoding="utf-8")


def model_plan(folder: Path, *tasks: str, head: str = "", model: str = "scripted", more: str = "") -> Path:
    """Write documents and a plan whose model drafts some tasks; return the plan."""
    if not (folder / "docs").exists():
        write_documents(folder)
    path = folder / "plan.toml"
    text = f"tasks = {json.dumps(tasks)}\n{dedent(head)}{HEAD.replace('MODEL', model)}{dedent(more)}"
    path.write_text(text, encoding="utf-8")
    return path


def drafts_of(plan: Path, model: ScriptedLLM, **others: ScriptedLLM) -> tuple[list[Draft], Material]:
    """Return the drafts of a plan's model, which is scripted; ``others`` are models of other names.

    No rule drafts, so every draft is the model's.
    """
    material = load_material(read_plan(plan), None)
    material.models = ModelAccess(lambda name: others.get(name, model))
    return model_stages(material), material


def model_stages(material: Material) -> list[Draft]:
    """Return the drafts of a plan's model after the quotas of the plan."""
    return apply_quotas(material, add_drafts(material, []))


def replying(
    drafts: Mapping[str, Sequence[Json] | str], inspect: str | Callable[[Sequence[Message]], str] = KEEP
) -> ScriptedLLM:
    """Return a model that replies to a request for drafts by a text in it, and to one to inspect by ``inspect``.

    A request that no key fits gets no drafts.
    """

    def reply(messages: Sequence[Message]) -> str:
        request = next(str(message["content"]) for message in messages if message["role"] == "user")
        if "Item to inspect:" in request:
            return inspect if isinstance(inspect, str) else inspect(messages)
        items = next((value for text, value in drafts.items() if text in request), [])
        return items if isinstance(items, str) else json.dumps(items)

    return ScriptedLLM(reply)


def reasons(drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    """Return the reason ("" for a kept draft) and the question of each draft, in order."""
    assert all((draft.state == "kept") == (draft.reason == "") for draft in drafts)
    return [(draft.reason, draft.question) for draft in drafts]
