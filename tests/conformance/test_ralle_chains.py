"""Import RaLLe's 38 published experiments as chains, load them, and render their prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes.sandboxes import opened

from pytest_rageval.datasets.imports import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.ralle_chain import import_rows
from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.sandbox.protocol import Sandbox
from pytest_rageval.systems.chains.chain import Chain, Expression, sources_of
from pytest_rageval.systems.chains.chain_file import read_chain
from pytest_rageval.systems.chains.expressions import free_names
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.history import History, Output
from pytest_rageval.systems.chains.preview import Evaluate, preview


@pytest.fixture(scope="module")
def folder(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "ralle_chains"
    if not path.is_dir():
        pytest.skip(f"RaLLe's chains are not at {path}")
    return path


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = opened("monty")
    yield sandbox
    sandbox.close()


def chains(folder: Path, target: Path) -> dict[str, Chain]:
    """Return each experiment as a chain, by the name of its file."""
    read = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "rendered.json":
            continue
        result = ImportResult()
        import_rows(ImportRequest((path,)), result)
        assert not result.lost
        file = target / f"{path.stem}.toml"
        file.write_text(result.chain, encoding="utf-8")
        read[path.name] = read_chain(file, file.name)
    return read


def test_all_experiments_import_and_load(folder: Path, tmp_path: Path) -> None:
    read = chains(folder, tmp_path)
    assert len(read) == 38
    for name, chain in read.items():
        published = json.loads((folder / name).read_text(encoding="utf-8"))["chain_config"]["chain"]
        kinds = {"Retriever": ("retrieve",), "LLM": ("generate",), "Identity": ("template", "python")}
        assert all(each.do in kinds[action["function"]] for each, action in zip(chain.actions, published, strict=True))
        assert [each.k for each in chain.retrieves] == [each["npassage"] for each in published if "npassage" in each]


def test_every_template_renders_as_published(folder: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    """Templates are filled by the chain's own code; the 19 of the kind eval run in the sandbox."""
    expected = json.loads((folder / "rendered.json").read_text(encoding="utf-8"))
    read, evaluated = chains(folder, tmp_path), 0
    for row in expected["rendered"]:
        action = read[row["file"]].actions[row["action"]]
        (source,) = sources_of(action)
        history = History(Query(row["question"]), outputs(expected["history"]))
        if isinstance(source, Expression):
            ran = sandbox.run(source.code, values=history.values(free_names(source.code)))
            evaluated += 1
            text = f"error: {ran.error}" if ran.error else ran.value
        else:
            text = source.render(history.value)
        assert text.encode() == row["rendered"].encode(), (row["file"], row["action"])
    assert (len(expected["rendered"]), evaluated) == (57, 19)


def outputs(published: dict[str, Any]) -> dict[str, Output]:
    """Return a published history as the outputs of the actions a0 and a1: a search and a reply."""
    titles_in_reply = tuple(published["response"][0].split("; "))
    titles = [each.rpartition(", ") for each in re.split(r"(?<=\d); ", published["wiki_id_title"][0])]
    passages = tuple(ScoredPassage(name, title=title) for title, _, name in titles)
    assert "; ".join(f"{each.title}, {each.doc_id}" for each in passages) == published["wiki_id_title"][0]
    return {
        "a0": Output(published["prompt"][0], Value(titles_in_reply, "; "), passages),
        "a1": Output(published["prompt"][1], Value((published["response"][1],))),
    }


def test_a_preview_shows_every_prompt_without_a_request(folder: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    """Parts without a model or retriever are filled in; RaLLe's expressions also run on placeholders."""
    questions = {row["file"]: row["question"] for row in json.loads((folder / "rendered.json").read_text())["rendered"]}
    prompts = {
        name: [text for each in preview(chain, Query(questions[name]), evaluate(sandbox)) for _, text in each.texts]
        for name, chain in chains(folder, tmp_path).items()
    }
    assert sum(map(len, prompts.values())) == 57
    assert not [text for texts in prompts.values() for text in texts if "Error" in text]
    assert prompts["retrieve-read__01_ay2.json"] == ['What is "Paris" ?', "<a0.titles>"]
    assert "Titles: \n<a0.titles>\n\nDescription:\n<a1>\n" in prompts["3actions__ay2.json"][2]


def evaluate(sandbox: Sandbox) -> Evaluate:
    return lambda code, values: sandbox.run(code, values=values)
