"""Several systems: ``system`` is a facet of ids, gates and matrices."""

from __future__ import annotations

from support.projects.rag_project import RIGHT, RUNS, Mode, Project, cases

DESKS = """
    def paris(query):
        return "Paris"

    async def rome(query):
        return "Rome"

    class Desk:
        def __call__(self, query):
            return "Paris, by the desk"
"""

REGISTERED = """
    def pytest_rageval_register(registry):
        registry.systems.register("fixed", lambda parts: lambda query: "Paris")
"""


def _desks(project: Project, arguments: str = "") -> None:
    project.says(cases(RIGHT, RIGHT), arguments, conftest=REGISTERED)
    project.file("desks.py", DESKS)
    project.file("pytest.ini", "[pytest]\npythonpath = .\n")


def test_systems_are_compared(project: Project, mode: Mode) -> None:
    _desks(project, "gates=['accuracy[system=desks:paris] >= 1', 'accuracy[system=*] >= 0.5']")
    names = ["desks:paris", "desks:rome", "fixed", "desks:Desk"]
    run = project.run("-v", *mode, *(part for name in names for part in ("--rag-system", name)))
    assert {(o["system"], o["facets"]["system"]) for o in run.results["outcomes"]} == {(name, name) for name in names}
    assert len(run.results["outcomes"]) == 8
    means = {matrix["system"]: matrix["total"]["mean"] for matrix in run.results["matrices"]}
    assert means == {"desks:paris": 1.0, "desks:rome": 0.0, "fixed": 1.0, "desks:Desk": 1.0}
    assert run.gates["accuracy[system=desks:paris] >= 1"]["status"] == "passed"
    worst = run.gates["accuracy[system=*] >= 0.5"]
    assert worst["status"] == "failed"
    assert worst["slice"] == {"system": "desks:rome"}
    assert len(worst["cells"]) == 4
    differences = {(each["system"], each["minus"]): each["total"]["mean"] for each in run.results["differences"]}
    assert differences == {
        ("desks:rome", "desks:paris"): -1,
        ("fixed", "desks:paris"): 0,
        ("desks:Desk", "desks:paris"): 0,
    }
    run.said("accuracy by dataset x ability · desks:rome - desks:paris*mean difference (n)*", "cases *-1.00 (2)[*]*")
    ids = {outcome["nodeid"] for outcome in run.results["outcomes"]}
    assert {"test_it.py::test_it[q1-system=fixed]", "test_it.py::test_it[q2-system=fixed]"} < ids
    assert run.status == 1


def test_one_named_system_does_not_change_ids(project: Project) -> None:
    _desks(project)
    run = project.run("--rag-system", "desks:paris")
    assert {outcome["nodeid"] for outcome in run.results["outcomes"]} == {
        "test_it.py::test_it[q1]",
        "test_it.py::test_it[q2]",
    }


def test_one_of_several_systems_can_be_selected(project: Project) -> None:
    _desks(project)
    args = ("--rag-system", "desks:paris", "--rag-system", "fixed", "-m", "rag(system='fixed')")
    run = project.run(*args)
    assert {outcome["system"] for outcome in run.results["outcomes"]} == {"fixed"}
    run.result.assert_outcomes(passed=2, deselected=2)


def test_the_option_overrules_the_fixture_and_the_fixture_the_ini(project: Project) -> None:
    _desks(project)
    project.file("pytest.ini", "[pytest]\npythonpath = .\nrag_system = desks:rome\n")
    assert {o["system"] for o in project.run().results["outcomes"]} == {"desks:rome"}
    project.file("test_it.py", RUNS.replace("{arguments}", ""))
    fixture = "import pytest\n\n@pytest.fixture(scope='session')\ndef rag_system():\n    return lambda query: 'mine'\n"
    project.file("conftest.py", fixture)
    assert {o["answer"]["text"] for o in project.run().results["outcomes"]} == {"mine"}
    run = project.run("--rag-system", "desks:paris")
    assert {o["answer"]["text"] for o in run.results["outcomes"]} == {"Paris"}


def test_a_broken_system_does_not_stop_the_other_systems(project: Project) -> None:
    _desks(project)
    project.file("desks.py", "def good(query):\n    return 'Paris'\n\ndef bad(query):\n    return 7\n")
    run = project.run("--rag-system", "desks:good", "--rag-system", "desks:bad")
    by_system: dict[str, list[str]] = {}
    for outcome in run.results["outcomes"]:
        by_system.setdefault(outcome["system"], []).append(outcome["status"])
    assert by_system == {"desks:good": ["scored", "scored"], "desks:bad": ["error", "error"]}
