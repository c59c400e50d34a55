"""Reports of one case share their keywords: pytest stores all reports until a session ends."""

from __future__ import annotations

from support.projects.rag_project import RIGHT, SAYS, Project, cases

CONFTEST = (
    SAYS
    + """
    reports = []

    def pytest_runtest_logreport(report):
        reports.append(report)

    def pytest_terminal_summary(terminalreporter):
        for number in range(0, len(reports), 3):
            setup, call, teardown = (report.keywords for report in reports[number : number + 3])
            terminalreporter.write_line(f"{reports[number].nodeid} {setup is call} {call is teardown} {'slow' in call}")
"""
)
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_marked(rag, request):
        request.node.keywords["slow"] = True
"""


def test_keywords_are_shared_until_a_test_changes_them(project: Project) -> None:
    project.says(cases(RIGHT, RIGHT), conftest=CONFTEST, test=TEST)
    run = project.run()
    run.said(
        "test_it.py::test_it*q1* True True False",
        "test_it.py::test_it*q2* True True False",
        "test_it.py::test_marked*q1* False True True",
        "test_it.py::test_marked*q2* False True True",
    )
