"""Records of JSON and JSON Lines files, and errors with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.source import read_bytes, read_records, shown_path
from pytest_rageval.errors import DataError

FILE_ERRORS = [
    (b"", "bad.json:1: the file holds no record; it needs at least one JSON object"),
    (b"\n  \r\n", "bad.json:1: the file holds no record; it needs at least one JSON object"),
    (b"[]", "bad.json:1: the file holds no record; it needs at least one JSON object"),
    (b'{"a": 1}\n{"b": "caf\xe9"}\n', "bad.json:2: byte 0xe9 at offset 19 is not UTF-8; save the file as UTF-8"),
    (b"\xff\xfe{\x00", "bad.json:1: byte 0xff at offset 0 is not UTF-8; save the file as UTF-8"),
    (b'{"a": 1}\n{"b\x00": 2}', "bad.json:2: found a NUL byte, wanted UTF-8 text; is the file binary or UTF-16?"),
    (
        b'{"a": 1}\n\n{"b": "cut sh',
        "bad.json:3: invalid JSON at column 7 (Unterminated string starting at), "
        "wanted one complete JSON object a line",
    ),
    (b'{"a": 1}\n"text"', "bad.json:2: found 'text' for a record, wanted a JSON object"),
    (b'{"a": 1}\n[1, 2]', "bad.json:2: found an array of 2 for a record, wanted a JSON object"),
    (b'{"a": 1}\nnull', "bad.json:2: found null for a record, wanted a JSON object"),
    (b'[\n{"a": 1},\n["x"]]', "bad.json:3: found an array of 1 for a record, wanted a JSON object"),
    (b"[true]", "bad.json:1: found true for a record, wanted a JSON object"),
    (
        b'{"a": 1} {"b": 2}',
        "bad.json:1: found more text after the record, at column 10, wanted one JSON object a line",
    ),
    (b'[{"a": 1}\n', "bad.json:2: the file ends after a record of the array, wanted ',' or ']'"),
    (b'[{"a": 1}\n;]', "bad.json:2: found ';' after a record of the array, wanted ',' or ']'"),
    (b'[{"a": 1}]\n\n{}', "bad.json:3: found more text after the end of the array, wanted one JSON array"),
    (
        b'[\n{"a":\n 1',
        "bad.json:3: invalid JSON at column 3 (Expecting ',' delimiter), wanted a complete JSON array of objects",
    ),
    (b'{"a": NaN}', "bad.json:1: found NaN, which is not JSON, wanted a finite number"),
    (
        b'{"a": 1}\n{"b": [{"c": "x"}, {"c": "y\\u0000"}]}',
        "bad.json:2: b[1].c: found a NUL character (\\u0000), wanted text without NUL",
    ),
    (b'[{"a\\u0000": 1}]', "bad.json:1: a\\x00: found a NUL character (\\u0000), wanted text without NUL"),
    (b'{"a": -Infinity}', "bad.json:1: found -Infinity, which is not JSON, wanted a finite number"),
    (b'{"a": 1e999}', "bad.json:1: the number '1e999' is too large, wanted a finite number"),
    (b'{"a": 1, "b": {"c": 1, "c": 2}}', "bad.json:1: the key 'c' occurs twice in one object, wanted it once"),
    (
        b'{"a": 1}\n{"a": "\\ud83d"}',
        "bad.json:2: found half of a surrogate pair (an escape such as \\ud83d alone), wanted whole characters",
    ),
]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("content", "message"), FILE_ERRORS)
def test_an_invalid_file_is_one_sentence_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        read_records(path)
    assert str(error.value) == message


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_json_that_is_nested_too_deep_is_a_data_error(tmp_path: Path, opening: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"a": 1}\n' + opening * 100_000)
    with pytest.raises(DataError, match=r"^deep.json:2: the JSON is nested too deep"):
        read_records(path)


def test_deep_json_in_an_error_message_needs_no_recursion(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 500 + "]" * 500)
    with pytest.raises(DataError, match=r"^deep.json:1: found an array of 1 for a record"):
        read_records(path)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"^none\.jsonl: no such file; correct the path"):
        read_records(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"^folder: is a directory; name a file in it$"):
        read_records(tmp_path / "folder")
    with pytest.raises(DataError, match=r"^a\\x00b: "):
        read_records(Path("a\0b"))


def test_line_numbers_count_blank_lines_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\r\n{"a": "x\xe2\x80\xa8y"}\r\n\r\n   \r\n  {"a": 2}  \r\n')
    assert read_records(path) == [(2, {"a": "x\u2028y"}), (5, {"a": 2})]


def test_a_record_of_an_array_has_the_line_of_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'\r\n [\r\n{"a":\r\n 1}, {"a": 2}\r\n,\r\n{"a": [\n3]}\r\n]\r\n')
    assert read_records(path) == [(3, {"a": 1}), (4, {"a": 2}), (6, {"a": [3]})]


def test_large_records_and_surrogate_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    large = "北x" * 2_500_000
    path.write_text(
        json.dumps({"a": large}, ensure_ascii=False) + '\n{"a": "\\ud83d\\ude00 \\\\ud83d"}', encoding="utf-8"
    )
    assert path.stat().st_size > 10_000_000 - 1
    assert read_records(path) == [(1, {"a": large}), (2, {"a": "\U0001f600 \\ud83d"})]


def test_a_path_is_printed_relative_and_escaped(tmp_path: Path) -> None:
    assert shown_path(tmp_path / "a" / "b.json") == "a/b.json"
    assert shown_path(Path("/elsewhere/b.json")) == "/elsewhere/b.json"
    assert shown_path(tmp_path / "a\x1b[31m\u202eb.json") == "a\\x1b[31m\\u202eb.json"


def test_an_escaped_backslash_before_u0000_is_not_a_nul(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": "\\\\u0000"}')
    assert read_records(path) == [(1, {"a": "\\u0000"})]


def test_the_last_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    original_read = Path.read_bytes

    def count_read(path: Path) -> bytes:
        reads.append(path.name)
        return original_read(path)

    monkeypatch.setattr(Path, "read_bytes", count_read)
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}')
    read_records(path)
    assert read_bytes(path) == b'{"a": 1}'
    assert reads == ["a.json"]
    path.write_bytes(b'{"a": 1, "b": 2}')
    assert read_bytes(path) == b'{"a": 1, "b": 2}'
    assert reads == ["a.json", "a.json"]
