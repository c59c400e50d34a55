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
    made = RunFolder(tmp_path, STARTED)
    yield made
    made.close()


@pytest.fixture
def texts(folder: RunFolder) -> Iterator[StoredTexts]:
    stored = StoredTexts(folder.path / OUTCOMES)
    yield stored
    stored.close()


def test_a_moved_text_is_read_from_its_file(folder: RunFolder, texts: StoredTexts) -> None:
    for name in ("a", "ä", "问"):
        texts[name] = to_json({"nodeid": name})
        texts.move(name, *folder.append(to_json({"nodeid": name})))
    assert list(texts) == ["a", "ä", "问"]
    assert [json.loads(str(texts[name])) for name in texts] == [{"nodeid": name} for name in texts]
    assert isinstance(texts["问"], JsonText)
    texts["a"] = to_json({"nodeid": "a", "missed": True})  # in memory again
    assert decode_results({"one": texts["a"]}) == {"one": {"nodeid": "a", "missed": True}}


def test_a_file_that_was_cut_is_a_fault(folder: RunFolder, texts: StoredTexts) -> None:
    texts.move("a", *folder.append(to_json({"nodeid": "a"})))
    (folder.path / OUTCOMES).write_bytes(b'{"nod')
    fault = try_to_write(folder.path / "results.json", lambda: decode_results({"one": texts["a"]}))
    assert fault is not None
    assert "a file of the run was cut while it ran" in fault


def test_an_instance_is_in_its_file_once_a_case_has_ended(folder: RunFolder) -> None:
    texts = StoredTexts(folder.path / ENDED)
    question = to_json({"question": "Wieviel kostet die Fähre?"})
    for case_id in ("q1", 'q"2'):
        texts.move(case_id, *folder.append_instance(case_id, question))
    assert (folder.path / ENDED).read_bytes() == b""  # the end of the first case flushes it
    assert folder.append_ended("{}")
    assert texts['q"2'] == texts["q1"] == question
    lines = [json.loads(line) for line in (folder.path / ENDED).read_text(encoding="utf-8").splitlines()[:2]]
    assert [(line["case_id"], line["instance"]) for line in lines] == [
        ("q1", {"question": "Wieviel kostet die Fähre?"}),
        ('q"2', {"question": "Wieviel kostet die Fähre?"}),
    ]
    texts.close()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_results_are_written_alike_from_memory_and_from_a_file(folder: RunFolder, texts: StoredTexts, n: int) -> None:
    known = {f"n{at}": to_json({"nodeid": f"n{at}"}) for at in range(n)}
    for name, text in known.items():
        texts.move(name, *folder.append(text))
    names = sorted(known, reverse=True)
    written = ["".join(json_lines({"outcomes": list_of(names, of), "instances": mapping_of(names, of), "end": 1}))
               for of in (known, texts)]  # fmt: skip
    assert written[0] == written[1]
    assert json.loads(written[0]) == {
        "outcomes": [{"nodeid": name} for name in names],
        "instances": {name: {"nodeid": name} for name in names},
        "end": 1,
    }
    assert len(list_of(names, texts)) == n
