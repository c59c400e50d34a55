"""Files of earlier versions in `fixtures/stored` are read, and written back unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.samples.stored_values import BASELINE, INSTANCES, JOURNALED, OUTCOMES

from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_instance, decode_outcome, encode_instance, encode_outcome
from pytest_rageval.model.whole_answer import decode_whole_answer, encode_whole_answer
from pytest_rageval.report.files.baseline_file import read_baseline, write_baseline
from pytest_rageval.report.files.journals import read_journal
from pytest_rageval.report.run.json_text import to_json


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_outcomes_of_an_earlier_version_are_read_and_written_back_unchanged(fixtures_dir: Path) -> None:
    stored_lines = lines(fixtures_dir / "stored" / "outcomes.jsonl")
    assert [decode_outcome(json.loads(line)) for line in stored_lines] == list(OUTCOMES)
    assert [to_json(encode_outcome(outcome)) for outcome in OUTCOMES] == stored_lines


def test_instances_of_an_earlier_version_are_read_and_written_back_unchanged(fixtures_dir: Path) -> None:
    stored_lines = lines(fixtures_dir / "stored" / "instances.jsonl")
    for line, instance in zip(stored_lines, INSTANCES.values(), strict=True):
        plain = json.loads(line)
        assert decode_instance(plain["case_id"], plain["instance"], instance.facets) == instance
        assert to_json({"case_id": instance.id, "instance": encode_instance(instance)}) == line


def test_a_journal_of_an_earlier_version_is_read(fixtures_dir: Path) -> None:
    system, model, judge = read_journal(fixtures_dir / "stored" / "journal-main.jsonl")
    assert system.value is not None
    assert decode_whole_answer(system.value) == JOURNALED
    assert encode_whole_answer(JOURNALED) == system.value
    assert (system.state, system.key, system.recordings) == ("ended", "k", ("r1",))
    assert (system.calls, model.calls) == (Calls(1, 0, 2, 10, None, 0.5, 0.25), Calls(1, 0, 2, 10, 2, 0.5, 0.25))
    assert (judge.state, judge.calls) == ("cancelled", Calls(1, 0, 1, None, None, None, None, 1))


def test_a_baseline_of_an_earlier_version_is_read_and_written_back_unchanged(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    path = fixtures_dir / "stored" / "baseline.json"
    assert read_baseline(path) == BASELINE
    write_baseline(tmp_path / "baseline.json", BASELINE)
    assert (tmp_path / "baseline.json").read_bytes() == path.read_bytes()


def test_the_outcomes_of_an_earlier_results_json_are_written_back_unchanged(fixtures_dir: Path) -> None:
    for plain in json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))["outcomes"]:
        assert to_json(encode_outcome(decode_outcome(plain))) == to_json(plain)


def test_unknown_keys_are_ignored_and_keys_added_since_the_first_version_are_optional() -> None:
    plain = encode_outcome(OUTCOMES[0])
    plain["later"] = plain["answer"]["later"] = plain["calls"]["later"] = plain["scores"]["accuracy"]["later"] = [1]
    assert decode_outcome(plain) == OUTCOMES[0]
    for name in ("calls", "data", "said", "evidence"):
        del plain[name]
    assert decode_outcome(plain) == replace(OUTCOMES[0], calls=None, data="", said="", evidence=None)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"nodeid": 3}, "nodeid is not a text but 3"),
        ({"facets": {"topic": ["A"]}}, r"facets is not a text but \['A'\]"),
        ({"supplied": [None]}, "supplied is not a text but None"),
        ({"scores": {"accuracy": {"value": None}}}, "a Score has either a value or a reason"),
        ({"answer": []}, None),
        ({"history": [3]}, None),
    ],
)
def test_a_malformed_outcome_is_refused(change: dict[str, object], error: str | None) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError), match=error):
        decode_outcome(encode_outcome(OUTCOMES[0]) | change)


@pytest.mark.parametrize("name", ["nodeid", "facets", "status", "scores", "supplied", "error"])
def test_an_outcome_without_a_needed_key_is_refused(name: str) -> None:
    plain = encode_outcome(OUTCOMES[0])
    del plain[name]
    with pytest.raises(KeyError, match=name):
        decode_outcome(plain)
