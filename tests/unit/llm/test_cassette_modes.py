"""Record modes of cassettes, and the error for a request without a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.llm.recordings.cassettes import MODES, Cassettes, recording_files
from pytest_rageval.llm.recordings.request import Request

SYSTEM = {"role": "system", "content": "Answer briefly.\nSay nothing else."}


def ask(text: str, *, repeat: int = 1, kind: str = "model", **params: Any) -> Request:
    return Request(kind, "m", params, [SYSTEM, {"role": "user", "content": text}], repeat)


OLD, NEW = ask("What is old?"), ask("What is new?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cassettes = Cassettes(tmp_path / "cassettes", "new_episodes")
    cassettes.record(OLD, {"text": "recorded"})
    cassettes.close()
    return tmp_path / "cassettes"


def find_text(cassettes: Cassettes, request: Request) -> str | None:
    """Return the text that is replayed, "refused", or None if the model may be asked."""
    try:
        response = cassettes.find(request)
    except ModelError as error:
        return "refused" if (error.kind, error.attempts) == ("not_recorded", 0) else str(error)
    return None if response is None else response["text"]


@pytest.mark.parametrize(
    ("mode", "old", "new"),
    [
        ("none", "recorded", "refused"),
        ("once", "recorded", "refused"),
        ("new_episodes", "recorded", None),
        ("all", None, None),
    ],
)
def test_record_modes_work_as_in_vcr(mode: str, old: str | None, new: str | None, folder: Path) -> None:
    cassettes = Cassettes(folder, mode)
    assert (find_text(cassettes, OLD), find_text(cassettes, NEW)) == (old, new)
    assert cassettes.may_ask("model", "m") is (new is None)


@pytest.mark.parametrize(("mode", "new"), [("none", "refused"), ("once", None), ("new_episodes", None), ("all", None)])
def test_a_model_without_a_file_is_asked_in_every_mode_except_none(mode: str, new: str | None, folder: Path) -> None:
    cassettes = Cassettes(folder, mode)
    judge_request = ask("What is old?", kind="judge")
    assert find_text(cassettes, judge_request) == new
    assert cassettes.may_ask("judge", "m") is (new is None)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "none"])
def test_only_the_mode_all_replaces_a_recording(mode: str, folder: Path) -> None:
    cassettes = Cassettes(folder, mode)
    if cassettes.find(OLD) is None:
        cassettes.record(OLD, {"text": "again"})
        assert cassettes.find(OLD) == {"text": "again"}  # a session asks and records a call once
    cassettes.close()
    assert Cassettes(folder).find(OLD) == {"text": "again" if mode == "all" else "recorded"}


def test_once_records_all_calls_of_the_session_that_created_the_file(tmp_path: Path) -> None:
    files_before = recording_files(tmp_path)
    first = Cassettes(tmp_path, "once", files_before)
    assert first.find(OLD) is None
    first.record(OLD, {"text": "recorded"})
    second = Cassettes(tmp_path, "once", files_before)  # another process of the session, which starts later
    assert second.find(OLD) == {"text": "recorded"}
    assert second.find(NEW) is None
    second.record(NEW, {"text": "too"})
    first.close()
    second.close()
    assert find_text(Cassettes(tmp_path, "once"), ask("What else?")) == "refused"
    assert Cassettes(tmp_path, "once").find(NEW) == {"text": "too"}


def test_only_recordings_are_listed_as_recording_files(folder: Path) -> None:
    (folder / "README.md").write_text("ours")
    (folder / ".model-m.jsonl.part").write_text("left over")
    assert recording_files(folder) == ("model-m.jsonl",)
    assert recording_files(folder / "nowhere") == ()


def test_replay_writes_nothing(folder: Path) -> None:
    folder.chmod(0o500)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    cassettes = Cassettes(folder, "none")
    cassettes.find(OLD)
    cassettes.close()
    folder.chmod(0o700)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="the record mode cannot be 'ones'; did you mean 'once'"):
        Cassettes(tmp_path, "ones")


def refusal(folder: Path, request: Request) -> list[str]:
    with pytest.raises(ModelError) as error:
        Cassettes(folder, "none").find(request)
    return str(error.value).splitlines()


def test_a_miss_shows_how_the_nearest_recording_differs(folder: Path) -> None:
    cassettes = Cassettes(folder, "all")
    cassettes.record(ask("A long text. It says much more. What is it about?", temperature=0), {"text": "x"})
    cassettes.close()
    assert refusal(folder, ask("A long text. It says much less. What is it about?", temperature=1)) == [
        "no reply of model 'm' to this request is recorded (2 are in cassettes/model-m.jsonl); "
        "ask and record it with --rag-record-mode new_episodes",
        "the nearest recording differs so:",
        "--- recorded",
        "+++ asked for",
        "@@ -1,4 +1,4 @@",
        " repeat: 1",
        "-temperature: 0",
        "+temperature: 1",
        " [system]",
        "   Answer briefly.",
        "@@ -6,4 +6,4 @@",
        " [user]",
        "   A long text.",
        "-  It says much more.",
        "+  It says much less.",
        "   What is it about?",
    ]


def test_a_miss_reports_that_only_the_repeat_differs(folder: Path) -> None:
    assert refusal(folder, ask("What is old?", repeat=3))[1:] == [
        "only the repeat differs: 1 is recorded, 3 was asked for"
    ]


def test_a_miss_without_recordings_is_one_line(tmp_path: Path) -> None:
    assert refusal(tmp_path / "cassettes", OLD) == [
        "no reply of model 'm' to this request is recorded (0 are in cassettes/model-m.jsonl); "
        "ask and record it with --rag-record-mode new_episodes"
    ]


def test_a_difference_is_short_and_escaped(folder: Path) -> None:
    lines = refusal(folder, ask("\n".join(f"\x1b[31m line {n} {'x' * 9_000}" for n in range(500))))
    assert len(lines) == 42
    assert lines[-1].startswith("... and ")
    assert all(line.isprintable() and len(line) < 220 for line in lines[1:])


def test_arguments_differ_by_position(tmp_path: Path) -> None:
    cassettes = Cassettes(tmp_path, "all")
    cassettes.record(Request("system", "s", {}, {"query": {"$": "Query", "question": "a?"}, "k": 5}, 1), {"result": 1})
    cassettes.close()
    lines = refusal(tmp_path, Request("system", "s", {}, {"query": {"$": "Query", "question": "b?"}, "k": 5}, 1))
    assert "no reply of system 's'" in lines[0]
    assert lines[-3:] == [" [query.question]", "-  a?", "+  b?"]


def test_the_nearest_of_many_recordings_is_found(tmp_path: Path) -> None:
    cassettes = Cassettes(tmp_path, "all")
    text = "Read the passages.\n{}\nQuestion: what is the number of the house {} in the street?\nAnswer:"
    for number in range(1_000):
        cassettes.record(ask(text.format("Passage.", number)), {"text": str(number)})
    lines = refusal(tmp_path, ask(text.format("Read them all.", 777)))
    assert "   Question: what is the number of the house 777 in the street?" in lines
    assert [line for line in lines if line[0] in "+-"][2:] == ["-  Passage.", "+  Read them all."]
