"""Output and logs of a system are in the report of its own test, however early it is asked."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest
from support.projects.look_ahead_project import paris
from support.projects.rag_project import Mode, Project, Run

LOUD = """
    import asyncio
    import json
    import logging
    import sys
    import threading
    import pytest

    asked = set()

    async def loud(query):
        number = query.question.rpartition(" ")[2]
        print(f"<out {number} a>")
        print(f"<err {number}>", file=sys.stderr)
        logging.getLogger("loud").warning("<log %s>", number)
        logging.getLogger("loud").info("<info %s>", number)
        await asyncio.sleep(0.03 / int(number))
        sys.stdout.writelines([f"<out {number}", " b>\\n"])
        asked.add(number)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return loud

    def pytest_runtest_logreport(report):
        if report.when in ("setup", "call"):
            with open("reports.jsonl", "a") as stream:
                row = [report.nodeid, report.when, report.capstdout, report.capstderr, report.caplog]
                stream.write(json.dumps(row) + "\\n")
"""

TESTS = """
    import logging
    import sys
    import time
    import pytest
    from pytest_rageval import rag_case

    @pytest.mark.parametrize("number", range(2))
    def test_quiet(number, caplog):
        assert caplog.text == ""

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_loud(rag, caplog):
        number = rag.case.id[1:]
        assert [r.getMessage() for r in caplog.get_records("setup")] == [f"<log {number}>"]
        print(f"<body {number}>")
        time.sleep(0.01)
        assert caplog.text == ""

    @pytest.mark.parametrize("number", range(2))
    def test_quiet_too(number, capsys):
        print("mine")
        time.sleep(0.01)
        assert capsys.readouterr() == ("mine\\n", "")
"""


def reports(project: Project) -> dict[tuple[str, str], list[str]]:
    """Return (name of a test, phase) -> its stdout, stderr and log until the end of that phase."""
    lines = (project.path / "reports.jsonl").read_text().splitlines()
    return {(nodeid.partition("::")[2], when): streams for nodeid, when, *streams in map(json.loads, lines)}


def write_loud_project(project: Project, count: int = 12, test: str = TESTS) -> None:
    project.says(paris(count), test=test, conftest=LOUD)


@pytest.mark.parametrize("capture", ["fd", "sys", "tee-sys"])
def test_every_test_has_its_own_output(project: Project, capture: str) -> None:
    streams = sys.stdout, sys.stderr
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    write_loud_project(project)
    run = project.run(f"--capture={capture}")
    assert run.status == 0
    _check_output(project, 12)
    assert (sys.stdout, sys.stderr) == streams
    assert logging.getLogger().handlers == handlers
    assert logging.getLogger().level == level


@pytest.mark.parametrize("args", [("-n2",), ("-p", "no:xdist")], ids=["n2", "no-xdist"])
def test_every_test_has_its_own_output_in_other_processes(project: Project, args: Mode) -> None:
    write_loud_project(project)
    assert project.run(*args).status == 0
    _check_output(project, 12)


def _check_output(project: Project, count: int) -> None:
    output = reports(project)
    for number in range(1, count + 1):
        out, err, log = output[f"test_loud[q{number}]", "setup"]
        assert out == f"<out {number} a>\n<out {number} b>\n"
        assert err == f"<err {number}>\n"
        assert [line.partition("<")[2] for line in log.splitlines()] == [f"log {number}>"]
        assert output[f"test_loud[q{number}]", "call"] == [f"{out}<body {number}>\n", err, log]
    for (name, _), (out, err, log) in output.items():
        if "quiet" in name:
            assert (out, err, log) == ("", "", "")


def test_the_log_level_setting_applies_to_answers(project: Project) -> None:
    test = TESTS.replace('== [f"<log {number}>"]', '== [f"<log {number}>", f"<info {number}>"]')
    write_loud_project(project, test=test)
    project.file("pytest.ini", "[pytest]\nlog_level = INFO\nlog_file = all.log")
    assert project.run().status == 0
    output = reports(project)
    for number in range(1, 13):
        log = output[f"test_loud[q{number}]", "setup"][2]
        assert [line.partition("<")[2] for line in log.splitlines()] == [f"log {number}>", f"info {number}>"]
    lines = (project.path / "all.log").read_text().splitlines()
    expected = [f"{word} {number}>" for number in range(1, 13) for word in ("log", "info")]
    assert [line.partition("<")[2] for line in lines] == expected


def test_records_of_a_separate_logger_are_not_lost(project: Project) -> None:
    write_loud_project(project)
    code = "\nlog = logging.getLogger('loud')\nlog.propagate = False\nlog.addHandler(logging.FileHandler('own.log'))\n"
    with (project.path / "conftest.py").open("a") as stream:
        stream.write(code)
    assert project.run().status == 0
    _check_output(project, 12)
    lines = (project.path / "own.log").read_text().split("\n")[:-1]
    assert sorted(lines) == sorted(f"<log {number}>" for number in range(1, 13))
    for handler in logging.getLogger("loud").handlers[:]:
        logging.getLogger("loud").removeHandler(handler)
        handler.close()
    logging.getLogger("loud").propagate = True


def test_without_capture_the_output_is_in_the_order_of_the_tests(project: Project) -> None:
    write_loud_project(project, 6)
    run = project.run("-s", "-v", forked=True)
    assert run.status == 0
    lines = [line for line in run.result.outlines if "<out" in line or "<body" in line or "::test_loud[" in line]
    patterns: list[str] = []
    for number in range(1, 7):
        patterns += [f"*::test_loud?q{number}?*<out {number} a>", f"<out {number} b>", f"<body {number}>"]
    run.result.stdout.fnmatch_lines(patterns)
    assert len(lines) == 18
    assert run.result.stderr.str().split("\n")[:6] == [f"<err {number}>" for number in range(1, 7)]


@pytest.mark.parametrize("plugin", ["logging", "capture"])
def test_look_ahead_works_without_the_plugins_that_capture(project: Project, plugin: str) -> None:
    test = TESTS.partition('@pytest.mark.parametrize("number", range(2))\n    def test_quiet_too')[0]
    test = test.replace(", caplog", "").replace('    assert caplog.text == ""', "    pass")
    test = test.replace(
        '        assert [r.getMessage() for r in caplog.get_records("setup")] == [f"<log {number}>"]\n', ""
    )
    write_loud_project(project, test=test)
    run = project.run("-p", f"no:{plugin}", forked=True)
    assert run.status == 0
    if plugin == "logging":
        for number in range(1, 13):
            out, err, _ = reports(project)[f"test_loud[q{number}]", "setup"]
            assert (out, err) == (f"<out {number} a>\n<out {number} b>\n", f"<err {number}>\n<log {number}>\n")
    else:
        positions = [run.text.index(f"<out {number} {part}>") for number in range(1, 13) for part in "ab"]
        assert positions == sorted(positions)


def test_live_logs_appear_under_their_own_test(project: Project) -> None:
    write_loud_project(project, 6)
    run = project.run("-o", "log_cli=true")
    logs: dict[str, list[str]] = {}
    current = ""
    for line in run.result.outlines:
        if line.startswith("test_it.py::"):
            current = line.split("::")[1].split()[0]
        if "<log" in line:
            logs.setdefault(current, []).append(line.partition("<")[2])
    assert logs == {f"test_loud[q{number}]": [f"log {number}>"] for number in range(1, 7)}


LATE = """
    import asyncio
    import pytest

    later = []

    async def say_more():
        await asyncio.sleep(0.05)
        print("<late>")

    async def answer(query):
        print("<early>")
        later.append(asyncio.create_task(say_more()))
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def test_output_after_the_answer_is_not_lost(project: Project) -> None:
    test = """
        import time
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag):
            time.sleep(0.1)
            assert 0
    """
    project.says(paris(1), test=test, conftest=LATE)
    run = project.run()
    assert run.status == 1
    run.said("*Captured stdout setup*", "<early>", "*Captured stdout call*", "<late>")


def test_streams_are_restored_after_an_interrupt(project: Project) -> None:
    streams = sys.stdout, sys.stderr
    stop = TESTS.replace('print(f"<body {number}>")', "raise KeyboardInterrupt")
    write_loud_project(project, test=stop)
    run = _run_interrupted(project)
    assert run.status == 2
    assert (sys.stdout, sys.stderr) == streams
    from _pytest.capture import CaptureIO, TeeCaptureIO

    assert "write" not in vars(CaptureIO)
    assert vars(TeeCaptureIO)["write"].__module__ == "_pytest.capture"


def _run_interrupted(project: Project) -> Run:
    no_reraise: dict[str, Any] = {"no_reraise_ctrlc": True}
    result = project.pytester.runpytest_inprocess(**no_reraise)
    return Run(result, None)


CHATTY = """
    import asyncio
    import sys
    import pytest

    async def chatty(query):
        for line in range(20):
            print("<out>")
            print("<err>", file=sys.stderr)
            await asyncio.sleep(0.002)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return chatty
"""


@pytest.mark.parametrize("fixture", ["capsys", "capfd", "capteesys"])
def test_a_test_captures_only_its_own_output(project: Project, fixture: str) -> None:
    test = f"""
        import time
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag, {fixture}):
            {fixture}.readouterr()
            print("mine")
            time.sleep(0.005)
            assert {fixture}.readouterr() == ("mine\\n", "")
    """
    project.says(paris(12), test=test, conftest=CHATTY)
    run = project.run("--rag-concurrency", "3")
    run.result.assert_outcomes(passed=12)
