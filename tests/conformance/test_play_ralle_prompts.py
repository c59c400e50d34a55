"""``POST /api/action`` renders RaLLe's 57 published prompts byte for byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.projects.play_project import PlayPage, play_project

from pytest_rageval.datasets.imports import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.ralle_chain import import_rows


def test_each_action_has_the_published_prompt(rageval_data: Path, tmp_path: Path) -> None:
    folder = rageval_data / "systems" / "ralle_chains"
    if not folder.is_dir():
        pytest.skip(f"RaLLe's chains are not at {folder}")
    expected = json.loads((folder / "rendered.json").read_text(encoding="utf-8"))
    outputs = published_outputs(expected["history"])
    project = play_project(tmp_path)
    for path in folder.glob("*.json"):
        if path.name != "rendered.json":
            result = ImportResult()
            import_rows(ImportRequest((path,)), result)
            (project / f"{path.stem}.toml").write_text(result.chain, encoding="utf-8")
    actions = set()
    with PlayPage(project) as page:
        page.wait()
        for row in expected["rendered"]:
            body = {
                "chain": row["file"].replace(".json", ".toml"),
                "name": f"a{row['action']}",
                "question": row["question"],
                "outputs": {f"a{at}": outputs[f"a{at}"] for at in range(row["action"])},
                "prompts_only": True,
            }
            answer = page.client.post("/api/action", json=body)
            assert answer.status_code == 200, (row["file"], answer.text)
            (text,) = (text for _, text in answer.json()["texts"])
            assert text.encode() == row["rendered"].encode(), (row["file"], row["action"])
            actions.add((row["file"], row["action"]))
    assert len(actions) == 57


def published_outputs(history: dict[str, list[str]]) -> dict[str, object]:
    """Return a published history as the outputs of a search and a reply."""
    titles = [each.rpartition(", ") for each in re.split(r"(?<=\d); ", history["wiki_id_title"][0])]
    passages = [{"id": name, "title": title, "text": ""} for title, _, name in titles]
    search = {"prompt": history["prompt"][0], "text": history["response"][0], "passages": passages}
    return {"a0": search, "a1": {"prompt": history["prompt"][1], "text": history["response"][1]}}
