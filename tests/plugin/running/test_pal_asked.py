"""The agent ``pal``: without a key, with a script, without its sandbox, and interrupted."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from support.processes import process_table
from support.processes.sandboxes import opened
from support.projects.model_projects import KEY, loaded, stop  # noqa: F401
from support.projects.rag_project import Mode, Project
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer

pytest.importorskip("pydantic_monty")

PAGES = """
    {"id": "p1", "title": "Ann Lee", "text": "Ann Lee designed the bridge of Tarn. She was born in 1901."}
    {"id": "p2", "title": "Tarn", "text": "Tarn is a town. Its bridge opened in 1934."}
"""
CASES = """
    {"id": "q1", "question": "When was Ann Lee born?", "answers": ["1901"]}
    {"id": "q2", "question": "When did the bridge of Tarn open?", "answers": ["1934"]}
    {"id": "q3", "question": "Where was Zo Zabb born?", "answers": ["Quum"]}
"""
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], passages="retrieved", gates=["accuracy >= 0.6"])
    def test_it(rag):
        ...
"""
INI = """
    [pytest]
    rag_corpus = jsonl:pages.jsonl
"""


@pytest.fixture
def town(project: Project) -> Project:
    project.file("pages.jsonl", PAGES)
    project.file("cases.jsonl", CASES)
    project.file("test_it.py", TEST)
    project.file("pytest.ini", INI)
    return project


def test_a_first_run_needs_no_key(town: Project, mode: Mode) -> None:
    run = town.run("--rag-system=pal", *mode)
    assert run.status == 0, run.text
    outcomes = run.outcomes
    assert outcomes["q1"]["answer"]["text"] == "She was born in 1901."
    assert {name: each["scores"]["accuracy"]["value"] for name, each in outcomes.items()} == {"q1": 1, "q2": 1, "q3": 0}
    assert outcomes["q1"]["facets"]["workflow"] == "pal"
    assert outcomes["q1"]["facets"]["model"] == "embedded"
    kinds = [step["kind"] for step in outcomes["q1"]["answer"]["trace"]]
    assert kinds[:3] == ["completion", "program", "tool"]
    assert kinds[-1] == "end"


SCRIPT = r'''
    [[reply]]
    when = "Ann Lee"
    text = """
    ```python
    print("\u001b[31mred\u202e")
    answer = Search("Ann Lee").split()[-1].strip(".")
    ```"""

    [[reply]]
    when = "bridge"
    text = "```python\n1 / 0\n```"

    [[reply]]
    text = "I do not know."
'''


def test_show_escapes_programs_and_their_output(town: Project) -> None:
    town.file("replies.toml", SCRIPT)
    run = town.run("--rag-system=pal@script:replies.toml", "--rag-gate=diagnosis:TE <= 0.1")
    assert run.status == 1
    outcomes = run.outcomes
    assert outcomes["q1"]["answer"]["text"] == "1901"
    assert {name: outcomes[name]["answer"]["trace"][-1]["detail"]["reason"] for name in outcomes} == {
        "q1": "finished", "q2": "program_error", "q3": "program_error",
    }  # fmt: skip
    assert set(run.statuses.values()) == {"scored"}
    output = town.command("show", "--case", "q1").stdout
    assert "\x1b[31m" not in output
    assert "\u202e" not in output
    assert " program  1901  " in output
    assert r'-> print("\x1b[31mred\u202e")' in output
    assert 'Search(title="Ann Lee")' in output


PROGRAMS = """
~~~python
import random

page = Search("Tarn")
answer = page.split()[-1].strip(".") + " " + str(random.random())
~~~
"""


def test_a_recorded_run_gives_the_same_answers_without_the_network(town: Project, openai_server: OpenAIServer) -> None:
    params = f"    rag_model = openai/m\n    rag_model_params =\n        api_base = {openai_server.base_url}\n"
    town.file(
        "pytest.ini", f"{INI}{params}        api_key = {KEY}\n    rag_systems =\n        mine: pal; answer=model\n"
    )
    openai_server.reply = lambda body: "in 1934" if "gave this value" in last_user(body) else PROGRAMS
    first = town.run("--rag-system=mine", "--rag-record-mode=all")
    assert len(openai_server.requests) == 6
    stop(openai_server)
    again = town.run("--rag-system=mine", "--rag-record-mode=none", "-n2")
    for each, other in zip(first.results["outcomes"], again.results["outcomes"], strict=True):
        assert other["answer"]["text"] == each["answer"]["text"] == "in 1934"
        programs = [
            step["detail"] for run in (each, other) for step in run["answer"]["trace"] if step["kind"] == "program"
        ]
        assert programs[0]["value"] == programs[1]["value"]
        assert programs[0]["value"].startswith("1934 0.")


def test_programs_can_use_all_of_python_in_bubblewrap(town: Project) -> None:
    opened("bubblewrap").close()
    code = (
        "import statistics\\npages = [Search(name) for name in ('Tarn', 'Ann Lee')]\\nstatistics.mean(map(len, pages))"
    )
    town.file("replies.toml", f'[[reply]]\ntext = "{code}"')
    town.file("pytest.ini", INI + "    rag_sandbox = bubblewrap\n")
    run = town.run("--rag-system=pal@script:replies.toml", "-n2")
    completion, program, *tools, end = run.outcomes["q1"]["answer"]["trace"]
    assert "whole library" in completion["detail"]["prompt"][0]["content"]
    assert program["detail"]["sandbox"] == "bubblewrap"
    assert [tool["detail"]["arguments"]["title"] for tool in tools] == ["Tarn", "Ann Lee"]
    assert end["detail"] == {"reason": "finished"}


def test_without_a_sandbox_no_test_runs(town: Project) -> None:
    town.file("blocker.py", "import sys\nsys.modules['pydantic_monty'] = None")
    run = town.run("-p", "blocker", "--rag-system=pal", subprocess=True)
    assert run.status == 4
    errors = [line for line in run.result.stderr.lines if line]
    assert errors == ['ERROR: pal needs a sandbox: pip install "pytest-rageval[agents]", or set rag_sandbox [RAG106]']
    assert run.results is None


def test_a_bad_option_ends_the_session_before_it_runs(town: Project) -> None:
    town.file("pytest.ini", INI + "    rag_systems =\n        mine: pal; repair=1\n")
    run = town.run("--rag-system=mine")
    assert run.status == 4
    run.result.stderr.fnmatch_lines(
        ["ERROR: rag_systems: mine has the unknown option 'repair'; did you mean 'repairs'?*"]
    )


LOOP = """
    [[reply]]
    text = '''
    ```python
    begin("now")
    while True: pass
    ```'''
"""
TOOL = """
    import pathlib

    def begin(word: str) -> str:
        \"\"\"Begin.\"\"\"
        pathlib.Path("running").touch()
        return word
"""


@pytest.mark.skipif(not process_table.is_listed() or sys.platform == "win32", reason="finds processes as Linux does")
def test_ctrl_c_ends_a_program(town: Project) -> None:
    town.file("replies.toml", LOOP)
    town.file("desk.py", TOOL)
    town.file("pytest.ini", "[pytest]\nrag_environments =\n    desk: desk:begin\n")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}  # pytest inspects all modules when it reports an interrupt
    before = set(process_table.descendants())
    with process_table.adopting_orphans(), (town.path / "output.txt").open("wb") as output:
        streams = (output.fileno(),) * 3
        session = town.process(("--rag-system=pal@script:replies.toml",), streams, environment)
        wait_for(town.path / "running")
        processes = process_table.descendants().keys() - before
        assert len(processes) >= 3  # pytest, the sandbox's process and its interpreter
        start = time.monotonic()
        os.killpg(session.pid, signal.SIGINT)
        assert session.wait(10) == 2
        assert time.monotonic() - start < 2
        assert process_table.wait_until_ended(processes) == set()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
