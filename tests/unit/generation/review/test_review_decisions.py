"""The file of decisions: which decision counts, what survives a kill, and which lines are refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.projects.review_project import ReviewProject, grade, of_task

from pytest_rageval.errors import DataError
from pytest_rageval.generation.review.decision import Decision, Edit, Undo
from pytest_rageval.generation.review.decisions_file import Decisions, append_decision, read_decisions

HEAD = '{"draft": "d", "reviewer": "A", "time": "t", "seen": "s", '
EDIT = Edit("Where?", (("Oslo", "Oslo city"), ("2011",)), ("Ann works in Oslo.",))


def decision(draft: str = "d1", reviewer: str = "Ann", grade: int = 4, seen: str = "s") -> Decision:
    return Decision(
        draft, seen, grade, reviewer, ("task", "evidence"), EDIT if grade == 3 else None, "2026-01-01T00:00Z"
    )


def test_decisions_read_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    entries: list[Decision | Undo] = [decision(), decision("d2", "Bö 李", 3), Undo("d1", "Ann", "2026-01-02T00:00Z")]
    for entry in entries:
        append_decision(path, entry)
    assert list(read_decisions(path).entries) == entries
    line = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert line["ticks"] == {
        "task": True, "topic": False, "self_contained": False, "answer": False, "evidence": True,
    }  # fmt: skip


def test_an_undo_brings_back_the_decision_before_it() -> None:
    first, second, other = decision(grade=5), decision(grade=1), decision(reviewer="Bo", grade=2)
    undo = Undo("d1", "Ann")
    assert Decisions((first, second, other)).standing == {"d1": {"Ann": second, "Bo": other}}
    assert Decisions((first, second, other, undo)).standing == {"d1": {"Ann": first, "Bo": other}}
    assert Decisions((first, second, other, undo, undo)).standing == {"d1": {"Bo": other}}
    assert Decisions((first, second, other, undo, undo, undo)).standing == {"d1": {"Bo": other}}
    assert Decisions((first, other)).last_of("Ann") == first
    assert Decisions((first, undo)).last_of("Ann") is None


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_last_line_cut_by_a_kill_loses_no_earlier_decision(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "decisions.jsonl"
    append_decision(path, decision("d1"))
    append_decision(path, decision("d2"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    draft_ids = ["d1", "d2"] if cut == 1 else ["d1"]  # only the line end is missing
    assert list(read_decisions(path).standing) == draft_ids
    append_decision(path, decision("d3"))
    assert list(read_decisions(path).standing) == [*draft_ids, "d3"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "invalid JSON"),
        ("[1]", "found an array of 1 for a record"),
        ('{"draft": "d"}', "reviewer: found nothing, wanted a text"),
        (HEAD + '"grade": 6}', "grade: found 6, wanted a whole"),
        (HEAD + '"grade": true}', "grade: found true"),
        (
            HEAD + '"grade": 4, "ticks": {"tasks": true}}',
            "ticks: unknown name 'tasks'; did you mean 'task'?",
        ),
        (
            HEAD + '"grade": 3, "edit": {"question": "Q", "gold": []}}',
            "edit.gold: wanted a list of slots",
        ),
        (
            HEAD + '"grade": 5, "edit": {"question": "Q", "gold": [["a"]]}}',
            "edit: only a case of grade 3 is corrected, found grade 5",
        ),
    ],
)
def test_a_malformed_line_in_the_middle_is_refused_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "decisions.jsonl"
    append_decision(path, decision())
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\n")
    append_decision(path, decision("d2"))
    with pytest.raises(DataError, match=r"decisions\.jsonl:2: ") as error:
        read_decisions(path)
    assert problem in str(error.value)


def test_a_decision_with_an_invalid_character_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    for text in ("a\0b", "\ud800"):
        with pytest.raises(DataError, match="the decision"):
            append_decision(path, Decision("d", "s", 3, "Ann", (), Edit(text, (("a",),), ()), "t"))
    assert not path.exists()


def test_decisions_survive_a_kill(generated: ReviewProject) -> None:
    script = (
        "import sys, pathlib\n"
        "from pytest_rageval.generation.review.session import ReviewSession\n"
        "from pytest_rageval.generation.review.presentation import seen_sha\n"
        "session = ReviewSession(pathlib.Path('cases'), 'Ann')\n"
        "for draft in session.folder.sample:\n"
        "    session.decide(draft.id, seen_sha(draft), 4)\n"
        "    print(draft.id, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=generated.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        draft_ids = [process.stdout.readline().strip()]
        process.stdin.write("\n")
        process.stdin.flush()
        draft_ids.append(process.stdout.readline().strip())
        os.kill(process.pid, signal.SIGKILL)
    session = generated.session()
    assert list(session.decisions.standing) == draft_ids
    assert session.progress.done == 2


def test_two_processes_append_whole_lines(generated: ReviewProject) -> None:
    script = (
        "import sys, pathlib\n"
        "from pytest_rageval.generation.review.decision import Decision\n"
        "from pytest_rageval.generation.review.decisions_file import append_decision\n"
        "path = pathlib.Path('cases/decisions.jsonl')\n"
        "for at in range(30):\n"
        "    append_decision(path, Decision(f'd{at}', 's', 4, sys.argv[1], (), None, 't'))\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", script, name], cwd=generated.folder) for name in ("Ann", "Bo")]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    by_draft = read_decisions(generated.decisions).standing
    assert len(by_draft) == 30
    assert all(set(by_person) == {"Ann", "Bo"} for by_person in by_draft.values())


def test_a_session_sees_the_new_decisions_of_another_person(generated: ReviewProject) -> None:
    ann, bo = generated.session("Ann"), generated.session("Bo")
    first = ann.following()
    assert first is not None
    assert bo.following() == first
    grade(ann, first, 5)
    bo.refresh()
    assert bo.following() != first
    grade(bo, of_task(bo, "extractive_qa")[-1], 2)
    assert ann.refresh() is False  # the drafts did not change
    assert ann.progress.done == 2
