"""Gates on diagnosis and tool calls of agents pass or fail, also in JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree

from support.projects.agent_project import agents
from support.projects.rag_project import Mode, Project, case

SYSTEMS = ("function_calling", "dfsdt")
GATES = (("diagnosis:TE", 0.1), ("tool_calls", 6))
CASES = [case(f"q{number}", "When was the lighthouse of Torhaven built?", "1884") for number in range(4)]

SEARCHES = """
    [[reply]]
    nth = 1
    tool = "Search"
    arguments = { title = "Torhaven" }
"""
ANSWERS = {
    "function_calling": """
    [[reply]]
    text = "1884"
""",
    "dfsdt": """
    [[reply]]
    tool = "Finish"
    arguments = { return_type = "give_answer", final_answer = "1884" }
""",
}
NEVER_ANSWERS = """
    [[reply]]
    tool = "Find"
"""
LIMITS = {"function_calling": "max_steps=8", "dfsdt": "max_calls=8; max_nodes=20"}


def write_project(project: Project) -> None:
    """Add each agent twice: one answers after a search, one stops after eight calls of an unknown tool."""
    lines = ["rag_systems ="]
    for system in SYSTEMS:
        project.file(f"{system}.toml", SEARCHES + ANSWERS[system])
        lines += [f"    {system}-good: {system}@script:{system}.toml"]
        lines += [f"    {system}-bad: {system}@script:bad.toml; {LIMITS[system]}"]
    project.file("bad.toml", NEVER_ANSWERS)
    agents(project, *lines, cases=CASES)


def test_gates_pass_and_fail_by_diagnosis_and_calls(project: Project, mode: Mode) -> None:
    write_project(project)
    names = [f"{system}-{kind}" for system in SYSTEMS for kind in ("good", "bad")]
    gates = [f"{metric}[system={name}] <= {bound}" for metric, bound in GATES for name in names]
    args = [arg for name in names for arg in ("--rag-system", name)]
    args += [arg for gate in gates for arg in ("--rag-gate", gate)]
    run = project.run(*args, "--junitxml=junit.xml", *mode)
    assert run.status == 1, run.text
    types = {(outcome["system"], outcome["diagnosis"]["type"]) for outcome in run.results["outcomes"]}
    assert types == {(name, "EM" if name.endswith("good") else "TE") for name in names}
    gates_by_expr = {expr: (gate["status"], gate["value"], gate["n"]) for expr, gate in run.gates.items()}
    for system in SYSTEMS:
        assert gates_by_expr[f"diagnosis:TE[system={system}-good] <= 0.1"] == ("passed", 0.0, 4)
        assert gates_by_expr[f"diagnosis:TE[system={system}-bad] <= 0.1"] == ("failed", 1.0, 4)
        assert gates_by_expr[f"tool_calls[system={system}-good] <= 6"] == ("passed", 1.0, 4)
        assert gates_by_expr[f"tool_calls[system={system}-bad] <= 6"] == ("failed", 8.0, 4)
    assert junit_gates(project) == {gate: "passed" if "-good]" in gate else "failed" for gate in gates}


def junit_gates(project: Project) -> dict[str, str]:
    """Return the gates in JUnit XML, each with its status."""
    root = ElementTree.parse(project.path / "junit.xml").getroot()  # noqa: S314 - we wrote it
    gates = [test for test in root.iter("testcase") if "gate: " in str(test.get("name"))]
    status = {True: "passed", False: "failed"}
    return {
        str(test.get("name")).partition("gate: ")[2].removesuffix("]"): status[test.find("failure") is None]
        for test in gates
    }


def test_agents_with_tools_run_without_a_key(project: Project, mode: Mode) -> None:
    agents(project)
    systems = ("react", *SYSTEMS)
    run = project.run("-v", *(arg for system in systems for arg in ("--rag-system", system)), *mode)
    assert run.status == 0, run.text
    run.said("15 cases: 15 scored, 0 errors * system dfsdt, function_calling, react*", "*model embedded")
    right_cases = {
        system: {o["case_id"] for o in run.results["outcomes"] if _is_right(o, system)} for system in systems
    }
    assert set(map(frozenset, right_cases.values())) == {frozenset({"inhabitants", "lighthouse", "director", "mayor"})}


def _is_right(outcome: dict[str, object], system: str) -> bool:
    scores = outcome["scores"]
    assert isinstance(scores, dict)
    return outcome["system"] == system and scores["has_answer"]["value"] == 1
