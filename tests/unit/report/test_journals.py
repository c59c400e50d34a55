"""Journals: the calls that a process writes, and their state after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.llm.client.journal import CaseJournal, Journal, JournaledCall
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.whole_answer import decode_whole_answer, encode_whole_answer
from pytest_rageval.report.files.journals import calls_in_flight, has_unfinished_calls, journal_path, read_journal

PAID = Calls(1, 0, 1, 10, 5, 0.01, 0.01)


def test_each_call_is_read_with_its_state_and_its_answer(tmp_path: Path) -> None:
    journal = Journal(journal_path(tmp_path, "gw1"))
    first, second, third = (journal.start(f"t.py::test[q{at}]", "system") for at in (1, 2, 3))
    waiting = journal.start("t.py::test[q4]", "model", within=third, key="k", waits=True)
    journal.end(first, encode_whole_answer(Answer("Paris")), PAID, ["r1"])
    journal.fail(second, cancelled=True, calls=Calls())
    calls = read_journal(journal_path(tmp_path, "gw1"))
    assert [call.state for call in calls] == ["ended", "cancelled", "running", "waiting"]
    assert (calls[0].calls, calls[0].recordings) == (PAID, ("r1",))
    assert calls[0].value is not None
    assert decode_whole_answer(calls[0].value) == Answer("Paris")
    assert has_unfinished_calls(journal_path(tmp_path, "gw1"))
    assert calls_in_flight(calls) == []  # the third call waits for its model, which has no slot yet
    journal.mark_sent(waiting)
    assert [
        (call.nodeid, call.within, call.key) for call in calls_in_flight(read_journal(journal_path(tmp_path, "gw1")))
    ] == [("t.py::test[q4]", third, "k")]


@pytest.mark.parametrize("n_missing", [1, 5, 30])
def test_a_call_is_running_if_a_kill_truncated_its_end_line(tmp_path: Path, n_missing: int) -> None:
    path = journal_path(tmp_path, "main")
    journal = Journal(path)
    journal.end(journal.start("t", "system"), encode_whole_answer(Answer("Zürich\n")), PAID)
    path.write_bytes(path.read_bytes()[: -n_missing - 1])
    assert [call.nodeid for call in calls_in_flight(read_journal(path))] == ["t"]
    assert has_unfinished_calls(path)


def test_a_journal_has_unfinished_calls_until_each_call_ends(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "main")
    assert not has_unfinished_calls(path)
    journal = Journal(path)
    journal.mark_running("t")
    numbers = [journal.start("t", "system"), journal.start("t", "model")]
    journal.end(numbers[0], None, PAID)
    assert has_unfinished_calls(path)
    journal.fail(numbers[1], cancelled=False, calls=Calls())
    assert not has_unfinished_calls(path)
    journal.fail(journal.start("t", "model"), cancelled=True, calls=Calls())
    assert has_unfinished_calls(path)


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", '{"end": 1, "calls": 3}', '{"end": 9}', "[" * 9999, '{"start": []}'])
def test_a_malformed_line_is_left_out(tmp_path: Path, line: str) -> None:
    path = journal_path(tmp_path, "main")
    Journal(path).start("t", "system")
    with path.open("a") as stream:
        stream.write(f"{line}\n")
    assert [call.state for call in read_journal(path)] == ["running"]


def test_secrets_are_masked_and_texts_are_left_out_if_reports_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_KEY", 'sk-"quoted"-0123456789')
    answer = encode_whole_answer(Answer('the key is sk-"quoted"-0123456789, at https://me:pw@desk/'))
    for name, texts in (("main", True), ("gw0", False)):
        journal = Journal(journal_path(tmp_path, name), texts=texts)
        journal.end(journal.start("t", "system"), answer, PAID)
    masked, without_texts = journal_path(tmp_path, "main").read_text(), journal_path(tmp_path, "gw0").read_text()
    assert "the key is <DESK_KEY>, at https://<masked>@desk/" in masked
    assert "sk-" not in masked
    assert "the key" not in without_texts
    assert read_journal(journal_path(tmp_path, "gw0"))[0].calls == PAID


def test_a_call_is_failed_after_an_error_and_cancelled_after_an_interrupt(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "main")
    case = CaseJournal(Journal(path), "t")

    def fail(error: BaseException) -> None:
        with JournaledCall(case, "system") as call:
            call.start()
            raise error

    for error in (ValueError("no"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            fail(error)
    assert [call.state for call in read_journal(path)] == ["failed", "cancelled"]


def test_a_failed_write_is_reported_once_and_raises_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "missing" / "journal-main.jsonl")
    journal.start("t", "system")
    journal.start("t", "system")
    assert journal.fault == (
        f"answers that no test has taken yet are not stored in {tmp_path / 'missing'}: No such file or directory"
    )
    Journal().start("t", "system")


def test_a_whole_answer_round_trips() -> None:
    items = (ScoredPassage("d1", 1.0, "text", span=(3, 7)), ScoredPassage("d2", None, page="p1"))
    answer = Answer("", Ranking(items), abstained=True, generated=False)
    assert decode_whole_answer(encode_whole_answer(answer)) == answer
