"""Cassette files: format, order, damaged lines and cleaning up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_rageval.errors import DataError
from pytest_rageval.llm.recordings.cassette import append, read, sort_records
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.records import to_line
from pytest_rageval.llm.recordings.request import Request

NAME = "model-m.jsonl"
SHORT_KEY = b'{"key": "abc", "params": {}, "response": {"text": "a long text that is as long as a key"}}'


def question(number: int, repeat: int = 1) -> Request:
    return Request("model", "m", {"temperature": 0}, [{"role": "user", "content": f"question {number}"}], repeat)


def reply(number: int) -> dict[str, object]:
    return {"text": f"answer {number}", "finish_reason": "stop", "prompt_tokens": 3, "cost_usd": 0.0}


def record_calls(folder: Path, numbers: Sequence[int], mode: str = "new_episodes") -> Path:
    cassettes = Cassettes(folder, mode)
    for number in numbers:
        cassettes.record(question(number), reply(number))
    cassettes.close()
    return folder / NAME


def test_a_record_is_one_readable_line(tmp_path: Path) -> None:
    path = record_calls(tmp_path / "cassettes", [1])
    assert path.read_text(encoding="utf-8") == (
        f'{{"key": "{question(1).key}", "kind": "model", "model": "m", "params": {{"temperature": 0}}, '
        '"messages": [{"content": "question 1", "role": "user"}], "repeat": 1, '
        '"response": {"cost_usd": 0.0, "finish_reason": "stop", "prompt_tokens": 3, "text": "answer 1"}}\n'
    )
    assert os.listdir(path.parent) == [NAME]


def test_text_is_readable_and_control_characters_are_escaped(tmp_path: Path) -> None:
    text = '基金 é 😀 \x1b[31m \u202e \x7f \u2028 \u200b \U000e0001 \ud800 \\ " \n'
    request = Request("model", "m", {}, text, 1)
    cassettes = Cassettes(tmp_path, "all")
    cassettes.record(request, {"text": text})
    line = (tmp_path / NAME).read_text(encoding="utf-8")
    assert '"基金 é 😀 \\u001b[31m \\u202e \\u007f \\u2028 \\u200b \\udb40\\udc01 \\ud800 \\\\ \\" \\n"' in line
    assert line.removesuffix("\n").isprintable()
    assert Cassettes(tmp_path).find(request) == {"text": text}


@pytest.mark.parametrize("order", [[1, 2, 3, 4, 5], [5, 3, 1, 2, 4], [1, 1, 2, 5, 4, 3, 2]])
def test_the_order_of_recording_changes_no_byte(order: list[int], tmp_path: Path) -> None:
    expected = record_calls(tmp_path / "a", [3, 1, 4, 2, 5]).read_bytes()
    path = record_calls(tmp_path / "b", order)
    assert path.read_bytes() == expected
    keys = [json.loads(line)["key"] for line in expected.splitlines()]
    assert keys == sorted(question(number).key for number in range(1, 6))


@pytest.mark.parametrize("mode", ["all", "new_episodes"])
def test_recording_again_does_not_touch_the_file(mode: str, tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2, 3])
    before = path.read_bytes()
    record_calls(tmp_path, [3, 2, 1], mode)
    assert path.read_bytes() == before
    stamp = path.stat()
    assert sort_records(path) == 0
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (stamp.st_ino, stamp.st_mtime_ns)
    assert os.listdir(tmp_path) == [NAME]


def test_a_record_is_on_disk_at_once_and_the_last_record_of_a_key_counts(tmp_path: Path) -> None:
    cassettes = Cassettes(tmp_path, "new_episodes")
    cassettes.record(question(1), {"text": "old"})
    assert Cassettes(tmp_path).find(question(1)) == {"text": "old"}
    cassettes.record(question(1), {"text": "new"})
    assert cassettes.find(question(1)) == Cassettes(tmp_path).find(question(1)) == {"text": "new"}
    assert len((tmp_path / NAME).read_bytes().splitlines()) == 2
    cassettes.close()
    assert len((tmp_path / NAME).read_bytes().splitlines()) == 1
    assert Cassettes(tmp_path).find(question(1)) == {"text": "new"}


def test_a_returned_recording_can_be_changed_without_effect_on_the_cassette(tmp_path: Path) -> None:
    record_calls(tmp_path, [1])
    cassettes = Cassettes(tmp_path)
    first = cassettes.find(question(1))
    assert first is not None
    first.clear()
    assert cassettes.find(question(1)) == reply(1)


def test_a_truncated_line_is_ignored_and_repaired(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    whole, third = path.read_bytes(), to_line(question(3), reply(3))
    for cut in (1, 20, 60, len(whole.splitlines()[1]) - 1):
        path.write_bytes(whole + whole[:cut])
        assert set(read(path)) == {question(1).key, question(2).key}
        append(path, third)
        assert path.read_bytes() == whole + third + b"\n"
        assert set(read(path)) == {question(number).key for number in (1, 2, 3)}


def test_a_complete_line_without_a_line_break_is_read(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(read(path)) == 2
    record_calls(tmp_path, [1, 2], "all")
    assert path.read_bytes() == whole


def test_sorting_removes_a_truncated_line(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "abc')
    assert sort_records(path) == 0
    assert path.read_bytes() == whole


def test_a_file_with_windows_line_ends_is_read(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"\n", b"\r\n") + b"\n")
    assert Cassettes(tmp_path).find(question(2)) == reply(2)
    record_calls(tmp_path, [1], "all")
    assert path.read_bytes() == whole


def test_a_reformatted_record_is_read(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1])
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n")
    assert Cassettes(tmp_path).find(question(1)) == reply(1)


@pytest.mark.parametrize(
    "bad", [b"<<<<<<< HEAD", b"[]", b'{"key": 1, "response": {}}', b'{"key": "x"}', b"\xff\xfe", SHORT_KEY]
)
def test_a_malformed_line_is_refused_with_its_number(bad: bytes, tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, bad, second, b""]))
    with pytest.raises(DataError, match=r"model-m\.jsonl:2: this line is no recording; take it out"):
        Cassettes(tmp_path).find(question(1))
    with pytest.raises(DataError, match=r"model-m\.jsonl:2"):
        sort_records(path)


def test_a_malformed_record_is_refused_when_it_is_replayed(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2])
    lines = path.read_bytes().splitlines()
    number = next(n for n, line in enumerate(lines) if question(2).key.encode() in line)
    lines[number] = lines[number].replace(b'"repeat": ', b'"repeat": ]')
    path.write_bytes(b"\n".join([*lines, b""]))
    assert Cassettes(tmp_path).find(question(1)) == reply(1)
    with pytest.raises(DataError, match=rf"model-m\.jsonl:{number + 1}: "):
        Cassettes(tmp_path).find(question(2))


def test_a_record_whose_digests_are_not_an_object_is_refused(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1])
    path.write_bytes(path.read_bytes().replace(b'"response"', b'"depends": 3, "response"'))
    with pytest.raises(DataError, match=r"model-m\.jsonl:1: this line is no recording"):
        Cassettes(tmp_path).find(question(1))


def test_an_unusable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    cassettes = Cassettes(tmp_path / "file" / "cassettes", "all")
    cassettes.record(question(1), reply(1))
    assert cassettes.find(question(1)) == reply(1)  # this session still replays it
    cassettes.close()
    assert re.search(r"recordings cannot be written here \(.*\); make room, correct the rights", str(cassettes.fault))
    (tmp_path / NAME).mkdir()
    with pytest.raises(DataError, match=r"model-m\.jsonl: recordings cannot be read here"):
        Cassettes(tmp_path).find(question(1))


def test_a_secret_in_a_reply_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "tok-987654321")
    Cassettes(tmp_path, "all").record(question(1), {"text": "you sent tok-987654321"})
    assert b"987654321" not in (tmp_path / NAME).read_bytes()
    assert Cassettes(tmp_path).find(question(1)) == {"text": "you sent <SERVICE_TOKEN>"}


def test_sorting_removes_unused_records_and_empty_files(tmp_path: Path) -> None:
    path = record_calls(tmp_path, [1, 2, 3])
    keys = [question(number).key for number in (1, 2, 3)]
    assert sort_records(path, lambda key: key != keys[1]) == 1
    assert set(read(path)) == {keys[0], keys[2]}
    assert sort_records(path, lambda key: False) == 2
    assert not path.exists()
    assert sort_records(path, lambda key: False) == 0
