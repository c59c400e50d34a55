"""Gates as pytest items: counts, node ids, selection, and one run after all cases."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
from support.projects.rag_project import RAISES, RIGHT, SAYS, WRONG, Project, Run, cases

LOOSE, STRICT = "accuracy >= 0.5", "accuracy >= 0.9"
BOTH = f"""
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["{LOOSE}", "{STRICT}"])
    def test_it(rag): ...

    class TestOther:
        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["n >= 1"])
        def test_other(self, rag): ...

    @pytest.mark.parametrize("door", ["gate: open"])
    def test_plain(door): ...
"""
GATES = {
    f"test_it.py::test_it[gate: {LOOSE}]": "PASSED",
    f"test_it.py::test_it[gate: {STRICT}]": "FAILED",
    "test_it.py::TestOther::test_other[gate: n >= 1]": "PASSED",
    "rag::session[gate: n >= 2]": "PASSED",
}


@pytest.fixture
def both(project: Project) -> Project:
    project.says(cases(RIGHT, WRONG), test=BOTH)
    project.file("pytest.ini", "[pytest]\nrag_gates = n >= 2\n")
    return project


def statuses_by_id(run: Run) -> dict[str, str]:
    """Return node id -> status of each test, as ``-v`` prints it; fail if a test ran twice."""
    matches = re.findall(r"^(?:\[gw\d\] \[[ \d]+%\] )?(\S+::.+?) ([A-Z]+)(?: |$)|", run.text, re.MULTILINE)
    # the line of a worker has the status first
    matches += [(b, a) for a, b in re.findall(r"^\[gw\d\] \[[ \d]+%\] ([A-Z]+) (\S+::.+?) *$", run.text, re.MULTILINE)]
    pairs = [(name, status) for name, status in matches if name]
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


def gates(run: Run) -> dict[str, str]:
    return {name: status for name, status in statuses_by_id(run).items() if re.search(r"\[gate: .*[<>]", name)}


def test_gates_are_counted_after_all_selection(both: Project) -> None:
    run = both.run("-v")
    run.said("*collected 9 items", "*1 failed, 6 passed, 2 missed*")
    assert gates(run) == GATES
    run = both.run("-v", "-k", "not TestOther and q1", "-o", "rag_partial_gates=decide")
    run.said("*collected 8 items / 4 deselected / 4 selected")
    prefixes = ("rag::session", "test_it.py::test_it")
    assert gates(run).keys() == {name for name in GATES if name.startswith(prefixes)}
    run.said("*SKIPPED  n >= 1 *all its cases were deselected")  # in the summary only


ORDERS = """
    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(config, items):
        result = yield
        print("SEEN", [item.name for item in items if ">=" in item.name])
        items.reverse()
        return result
"""


def test_other_plugins_neither_select_nor_order_gates(both: Project) -> None:
    both.file("conftest.py", dedent(SAYS) + dedent(ORDERS))
    run = both.run("-v", "-s", "-m", "not rag_nothing", "-o", "markers=rag_nothing")
    run.said("*SEEN []")
    assert list(statuses_by_id(run))[-4:] == list(GATES)


@pytest.mark.parametrize("dist", ["load", "worksteal", "loadfile", "loadgroup", "loadscope", "each"])
def test_the_controller_runs_gates_in_every_xdist_mode(both: Project, dist: str) -> None:
    workers = ("--tx", "2*popen") if dist == "each" else ("-n2",)
    run = both.run("--junitxml", "junit.xml", "--dist", dist, *workers)
    assert run.status == 1
    assert {gate["nodeid"]: gate["status"].upper() for gate in run.results["gates"]} == GATES
    names = re.findall(r'name="([^"]*\[gate: [^"]*=[^"]*)"', (both.path / "junit.xml").read_text("utf-8"))
    assert len(names) == len(GATES)
    run.said(f"FAILED test_it.py::test_it?gate: {STRICT}? - 0.?? < 0.90 (n *")


@pytest.mark.parametrize(
    ("argument", "n"),
    [
        (f"test_it.py::test_it[gate: {LOOSE}]", 2),
        ("test_it.py::test_it[gate: accuracy>=0.5]", 2),
        ("test_it.py::TestOther::test_other[gate: n >= 1]", 2),
        ("rag::session[gate: n >= 2]", 4),
        ("{path}/pytest.ini::session[gate: n >= 2]", 4),
        ("test_it.py::test_plain[gate: open]", 0),
    ],
)
def test_the_id_of_a_gate_runs_its_cases(both: Project, argument: str, n: int) -> None:
    run = both.run("-v", argument.format(path=both.path))
    assert len(run.results["outcomes"] if run.results else []) == n
    name = argument.format(path=both.path).rpartition("::")[2].replace(">=", " >= ").replace("  ", " ")
    assert [status for node, status in statuses_by_id(run).items() if node.endswith(name)] == ["PASSED"]


def test_ids_of_gates_and_of_cases_can_be_combined(both: Project) -> None:
    ids = [f"test_it.py::test_it[gate: {LOOSE}]", "test_it.py::TestOther::test_other[q1]"]
    run = both.run(*ids, "-v")
    assert {name: status for name, status in gates(run).items() if "::test_it[" in name} == {
        name: status for name, status in GATES.items() if "::test_it[" in name
    }
    assert len(run.results["outcomes"]) == 3
    assert run.gates[LOOSE]["status"] == "passed"
    assert run.gates["n >= 1"]["reason"] == "not decided: 1 of 2 cases selected"


def test_a_gate_that_does_not_exist_is_refused(both: Project) -> None:
    run = both.run("test_it.py::test_it[gate: accuracy >= 0.6]")
    assert run.status == 4
    error = f"ERROR: no such gate: test_it.py::test_it[gate: accuracy >= 0.6]; its gates are {LOOSE}; {STRICT} [RAG114]"
    assert error in run.result.errlines
    assert both.run("rag::session[gate: n >= 3]").status == 4
    assert both.run("test_it.py::test_gone[gate: n >= 3]").status == 4


def test_the_id_of_a_session_gate_means_all_testpaths(project: Project) -> None:
    for folder in ("one", "two", "three"):
        project.data(cases(RIGHT), f"{folder}/cases.jsonl")
        project.file(
            f"{folder}/test_{folder}.py",
            'from pytest_rageval import rag_case\n\n@rag_case("jsonl:cases.jsonl")\ndef test_it(rag): ...',
        )
    project.file("conftest.py", SAYS)
    project.file("pytest.ini", "[pytest]\nrag_gates = n >= 2\ntestpaths = one t*o\n")
    run = project.run("one/test_one.py", "rag::session[gate: n >= 2]")
    assert run.status == 0
    assert run.gates["n >= 2"]["value"] == 2


MARKED = """
    import pytest
    from pytest_rageval import rag_case

    pytestmark = [pytest.mark.flaky(reruns=2), pytest.mark.xfail(reason="not yet", strict=False)]

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.9"])
    def test_it(rag): ...
"""


def test_gates_are_never_rerun_and_have_no_marks_of_their_tests(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), test=MARKED)
    run = project.run("--reruns", "2", "-v")
    assert run.status == 1
    assert gates(run) == {f"test_it.py::test_it[gate: {STRICT}]": "FAILED"}
    assert "rerun" not in run.result.outlines[-1]


@pytest.mark.parametrize("option", [["-x"], ["-x", "-n2"], ["--sw"], ["--pdb"]], ids=" ".join)
def test_a_failed_gate_stops_no_other_gate(both: Project, option: list[str]) -> None:
    run = both.run("-v", *option)
    assert run.status == 1
    assert gates(run) == GATES
    assert "(Pdb)" not in run.text


@pytest.mark.parametrize("option", [["-x"], ["-x", "-n2"]], ids=" ".join)
def test_gates_are_reported_after_a_stop(both: Project, option: list[str]) -> None:
    both.data(cases(*[RAISES] * 20))
    run = both.run("-v", "-rs", *option)
    assert set(gates(run).values()) <= {"SKIPPED", "FAILED"}
    assert gates(run).keys() == GATES.keys()
    assert gates(run)["rag::session[gate: n >= 2]"] == "SKIPPED"
    run.said("*SKIPPED*pytest.ini:2: gate n >= 2: * of its cases did not run, because the session stopped early")


FIXTURES = """

    @pytest.fixture(scope="session", autouse=True)
    def service():
        yield
        print("\\nSTOPPED")
        raise ValueError("the service does not stop")
"""


def test_fixtures_end_before_gates_run(both: Project) -> None:
    both.file("conftest.py", dedent(SAYS) + dedent(FIXTURES))
    run = both.run("-v", "-s", "-rE")
    run.said("ERROR test_it.py::test_plain?gate: open? - ValueError: the service does not stop")
    lines = run.result.outlines
    assert lines.index("STOPPED") < next(at for at, line in enumerate(lines) if f"[gate: {LOOSE}]" in line)
    assert "ERROR at teardown of test_plain[gate: open]" in run.text


RECIPE = """

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        report.description = str(item.function.__doc__)
        used = "page" in item.fixturenames and item.funcargs["page"]
        place = item.cls, item.module, item.get_closest_marker("slow")
        return report
"""


def test_hooks_that_ask_each_test_for_its_function_do_not_fail(both: Project) -> None:
    both.file("conftest.py", dedent(SAYS) + dedent(RECIPE))
    assert gates(both.run("-v")) == GATES


def test_a_dry_run_collects_no_gate(both: Project) -> None:
    run = both.run("--rag-dry-run")
    run.said("*collected 5 items")
    assert run.status == 0
