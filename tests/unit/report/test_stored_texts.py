from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_rageval.report.files.run_folder import ENDED, OUTCOMES, RunFolder, try_to_write
from pytest_rageval.report.run.json_text import JsonText, decode_results, json_lines, to_json
from pytest_rageval.report.run.stored_texts import StoredTexts, list_of, mapping_of

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    run_folder = RunFolder(tmp_path, STARTED)
    yield run_folder
    run_folder.close()


@pytest.fixture
def texts(folder: RunFolder) -> Iterator[StoredTexts]:
    stored_texts = StoredTexts(folder.path / OUTCOMES)
    yield stored_texts
    stored_texts.close()


def test_a_moved_text_is_read_from_its_file(folder: RunFolder, texts: StoredTexts) -> None:
    for name in ("a", "ä", "问"):
        texts[name] = to_json({"nodeid": name})
        texts.move(name, *folder.append(to_json({"nodeid": name})))
    assert list(texts) == ["a", "ä", "问"]
    assert [json.loads(str(texts[name])) for name in texts] == [{"nodeid": name} for name in texts]
    assert isinstance(texts["问"], JsonText)
    texts["a"] = to_json({"nodeid": "a", "missed": True})  # in memory again
    assert decode_results({"one": texts["a"]}) == {"one": {"nodeid": "a", "missed": True}}


def test_a_file_truncated_during_the_run_is_reported(folder: RunFolder, texts: StoredTexts) -> None:
    texts.move("a", *folder.append(to_json({"nodeid": "a"})))
    (folder.path / OUTCOMES).write_bytes(b'{"nod')
    fault = try_to_write(folder.path / "results.json", lambda: decode_results({"one": texts["a"]}))
    assert fault is not None
    assert "a file of the run was cut while it ran" in fault


def test_instances_are_flushed_to_their_file_when_a_case_ends(folder: RunFolder) -> None:
    texts = StoredTexts(folder.path / ENDED)
    question = to_json({"question": "Wieviel kostet die Fähre?"})
    for case_id in ("q1", 'q"2'):
        texts.move(case_id, *folder.append_instance(case_id, question))
    assert (folder.path / ENDED).read_bytes() == b""  # the end of the first case flushes the file
    assert folder.append_ended("{}")
    assert texts['q"2'] == texts["q1"] == question
    lines = [json.loads(line) for line in (folder.path / ENDED).read_text(encoding="utf-8").splitlines()[:2]]
    assert [(line["case_id"], line["instance"]) for line in lines] == [
        ("q1", {"question": "Wieviel kostet die Fähre?"}),
        ('q"2', {"question": "Wieviel kostet die Fähre?"}),
    ]
    texts.close()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_results_from_memory_and_from_a_file_are_the_same(folder: RunFolder, texts: StoredTexts, n: int) -> None:
    in_memory = {f"n{at}": to_json({"nodeid": f"n{at}"}) for at in range(n)}
    for name, text in in_memory.items():
        texts.move(name, *folder.append(text))
    names = sorted(in_memory, reverse=True)
    outputs = [
        "".join(json_lines({"outcomes": list_of(names, each), "instances": mapping_of(names, each), "end": 1}))
        for each in (in_memory, texts)
    ]
    assert outputs[0] == outputs[1]
    assert json.loads(outputs[0]) == {
        "outcomes": [{"nodeid": name} for name in names],
        "instances": {name: {"nodeid": name} for name in names},
        "end": 1,
    }
    assert len(list_of(names, texts)) == n
