"""Huge records are handled; terminal escapes and bidirectional marks are escaped."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import RUNS, SAYS, Mode, Project, Run, case

ESC, BELL, RIGHT_TO_LEFT, CSI = "\x1b[31mred\x1b]0;title\x07", "\x07", "\u202egnp.exe\u2066", "\x9b31m"
EVIL = f"{ESC}{BELL}{RIGHT_TO_LEFT}{CSI}"

FORBIDDEN = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066")

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"]{gates})
    def test_it(rag):
        if rag.case.id == "checked":
            rag.check("accuracy >= 1")
        assert rag["accuracy"] == 1
"""

GATES = ', gates=["accuracy >= 1", "n[topic=*] >= 9"]'


def expect_inert(run: Run) -> None:
    output = run.text + run.result.stderr.str()
    for character in FORBIDDEN:
        assert character not in output, ascii(output)


def test_no_escape_reaches_the_terminal(project: Project, mode: Mode) -> None:
    evil = {
        **case(f"q{EVIL}", f"say {EVIL}", gold=f"gold {EVIL}"),
        "topic": f"topic {EVIL}", "task": f"task {EVIL}", EVIL: EVIL,
        "passages": [{"id": f"d{EVIL}", "text": EVIL, "title": EVIL, "role": "positive"}],
    }  # fmt: skip
    checked = {**evil, "id": "checked"}
    project.says(
        [evil, checked, case("fails", f"raise {EVIL}", topic=f"other {EVIL}")], test=TEST.replace("{gates}", GATES)
    )
    run = project.run("-v", "-rA", "-l", "--color=no", *mode)
    assert run.status == 1
    assert run.statuses == {f"q{EVIL}": "scored", "checked": "scored", "fails": "error"}
    assert run.outcomes[f"q{EVIL}"]["answer"]["text"] == EVIL
    expect_inert(run)
    expect_inert(project.run("--collect-only", "-v", "--color=no", json_path=None))
    expect_inert(project.run("--rag-rows", EVIL, "--rag-cols", "task", "--color=no", "--tb=short"))


def test_no_escape_of_a_refusal_reaches_the_terminal(project: Project, mode: Mode) -> None:
    project.says([case(f"q{EVIL}"), case(f"q{EVIL}")], test=TEST.replace("{gates}", GATES))
    expect_inert(project.run("--color=no", *mode))
    project.says([case("q1", topic=EVIL)], f"where={{'topic': 'no'}}, gates=[{'n[topic=' + EVIL + '] > 1'!r}]")
    expect_inert(project.run("--color=no"))


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_records_of_ten_megabytes_are_scored_and_not_printed(project: Project, args: Mode) -> None:
    text = "word " * 1_000_000
    rows = [case("small"), case("large", f"say Paris {text}", passages=[{"id": "d", "text": text}])]
    project.file("conftest.py", SAYS)
    project.file("test_it.py", RUNS.replace("{arguments}", ', gates=["accuracy >= 1"]'))
    (project.path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = project.run("-v", *args)
    assert run.status == 0
    assert run.statuses == {"small": "scored", "large": "scored"}
    assert len(run.text) < 5_000
