"""``--junitxml``: the properties of each test, of each gate and of the session."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.projects.rag_project import RAISES, RIGHT, RUNS, SAYS, WRONG, Mode, Project, case, cases

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE

SCHEMA = Path(__file__).parents[3] / "fixtures" / "junit" / "xunit2.xsd"
GATED = 'gates=["accuracy >= 0.5"]'
PRINTED_PROPERTY = re.compile(r"^\[\[PROPERTY\|([^=]+)=(.*)\]\]$", re.MULTILINE)


QUOTES = """
    from pytest_rageval import Metric, Score

    def pytest_rageval_register(registry):
        registry.metrics.register("odd", Metric("odd", lambda sample: Score(reason=f"odd: {sample.answer.text}")))
"""


FAILS = """
    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(session):
        result = yield
        session.testsfailed += 1  # pytest-cov does the same if the coverage is too low
        return result
"""


def suite_of(project: Project) -> ElementTree.Element:
    suite = ElementTree.parse(project.path / "junit.xml").getroot().find("testsuite")  # noqa: S314 - we wrote it
    assert suite is not None
    return suite


def properties_by_test(project: Project) -> dict[str, list[dict[str, str]]]:
    """Return the properties of each test element: from its property tags and its output."""
    properties: dict[str, list[dict[str, str]]] = {}
    for test in suite_of(project).iter("testcase"):
        from_tags = {each.attrib["name"]: each.attrib["value"] for each in test.iter("property")}
        from_output = dict(PRINTED_PROPERTY.findall("".join(each.text or "" for each in test.iter("system-out"))))
        properties.setdefault(test.attrib["name"], []).append(from_tags | from_output)
    return properties


def properties_of(project: Project, name: str) -> dict[str, str]:
    (properties,) = properties_by_test(project)[name]
    return properties


def session_properties_of(project: Project) -> dict[str, str]:
    return {each.attrib["name"]: each.attrib["value"] for each in suite_of(project).findall("properties/property")}


def validate(project: Project) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="xmlschema, of the extra dev, is not installed")
    xmlschema.XMLSchema(str(SCHEMA)).validate(str(project.path / "junit.xml"))


def test_tests_and_gates_agree_with_results_json(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG, RAISES, topic="Funds"), GATED)
    run = project.run(*mode, "--junitxml=junit.xml", "-o", "junit_logging=all")
    validate(project)
    assert {len(test.findall("system-out")) for test in suite_of(project).iter("testcase")} == {1}
    for outcome in run.results["outcomes"]:
        properties = properties_of(project, outcome["nodeid"].partition("::")[2])
        assert properties["rag.case"] == outcome["case_id"]
        assert properties["rag.facet.topic"] == "Funds"
        assert properties["rag.status"] == outcome["status"]
        assert properties.get("rag.error_type") == outcome["error_type"]
        scores = {f"rag.score.{name}": str(score["value"]) for name, score in outcome["scores"].items()}
        assert {name: value for name, value in properties.items() if name.startswith("rag.score.")} == scores
    gate = properties_of(project, "test_it[gate: accuracy >= 0.5]")
    assert (gate["rag.gate.value"], gate["rag.gate.n"], gate["rag.gate.bound"]) == ("0.5", "2", ">= 0.5")
    session_properties = session_properties_of(project)
    assert session_properties["rag.run"] == run.results["run"]["id"]
    assert session_properties["rag.fingerprint"] == run.results["run"]["fingerprint"]
    assert session_properties["rag.systems"] == "rag_system"
    account = run.results["account"]
    assert session_properties["rag.verdict"] == account["verdict"]
    causes = [each["sentence"] for each in account["findings"] if each["kind"] in CAUSES_OF_FAILURE]
    assert causes
    assert [value for name, value in session_properties.items() if name.startswith("rag.cause.")] == causes


def test_a_message_is_the_first_line_of_its_text(project: Project, mode: Mode) -> None:
    body = RUNS.replace("...", "assert rag.answer.text == 'Paris', 'not the capital:' + chr(10) + 'of France'")
    project.says(cases(RIGHT, WRONG, RAISES), GATED.replace("0.5", "0.9"), body)
    project.run(*mode, "--junitxml=junit.xml")
    validate(project)
    failures = {
        test.attrib["name"]: part
        for test in suite_of(project).iter("testcase")
        for part in test
        if part.tag in ("failure", "error")
    }
    gate = failures["test_it[gate: accuracy >= 0.9]"]
    lines = (gate.text or "").splitlines()
    assert len(lines) > 1
    messages = {name: failure.attrib["message"] for name, failure in failures.items()}
    error = "system 'rag_system' failed on case 'q3': ValueError: no such model [RAG302]"
    assert messages == {
        "test_it[q2]": "AssertionError: not the capital:",
        "test_it[q3]": f'failed on setup with "Failed: {error}',
        "test_it[gate: accuracy >= 0.9]": lines[0],
    }
    assert "of France" in (failures["test_it[q2]"].text or "")


def test_the_verdict_is_red_if_only_the_exit_status_is(project: Project) -> None:
    project.says(cases(RIGHT), conftest=SAYS + FAILS)
    assert project.run("--junitxml=junit.xml").status == 1
    session_properties = session_properties_of(project)
    assert session_properties["rag.verdict"] == "nothing failed, and yet the exit status is 1"


def test_xunit1_has_the_properties_of_tests_as_elements(project: Project) -> None:
    project.says(cases(WRONG, topic="Funds"), GATED)
    project.run("--junitxml=junit.xml", "-o", "junit_family=xunit1")
    assert [list(dict.fromkeys(part.tag for part in test)) for test in suite_of(project).iter("testcase")] == [
        ["properties"],
        ["properties", "failure"],
    ]
    assert properties_of(project, "test_it[q1]")["rag.score.accuracy"] == "0.0"
    assert properties_of(project, "test_it[gate: accuracy >= 0.5]")["rag.gate.value"] == "0.0"


@pytest.mark.parametrize("logging", ["system-out", "system-err", "out-err", "all"])
def test_what_a_test_prints_stays_one_element(project: Project, logging: str) -> None:
    prints = RUNS.replace("...", "print('a line of the test'); assert rag.case.id == 'q1'")
    project.says(cases(RIGHT, RIGHT), GATED, prints)
    project.run("--junitxml=junit.xml", "-o", f"junit_logging={logging}")
    validate(project)
    for name in ("test_it[q1]", "test_it[q2]"):
        (test,) = [each for each in suite_of(project).iter("testcase") if each.attrib["name"] == name]
        (printed,) = [each.text or "" for each in test.iter("system-out")]
        assert ("a line of the test" in printed) is (logging != "system-err")
        assert properties_of(project, name)["rag.score.accuracy"] == "1.0"
        assert printed.rstrip().splitlines()[-1].startswith("[[PROPERTY|")


def test_control_characters_and_markup_are_escaped(project: Project) -> None:
    marks = "\x01\x1b[31m\u202e</property>]]>"
    project.says([case("q1", topic=marks, **{"to\x02pic": "x"}), case("q2", f"raise {marks}")])
    project.run("--junitxml=junit.xml")
    validate(project)
    assert properties_of(project, "test_it[q1]")["rag.facet.topic"] == "\\x01\\x1b[31m\\u202e</property>]]>"
    assert properties_of(project, "test_it[q1]")["rag.facet.to\\x02pic"] == "x"


def test_without_texts_only_facets_and_numbers_are_reported(project: Project) -> None:
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    body = RUNS.replace("...", "assert 'secret' not in rag.answer.text or rag.case.id == 'q1'")
    project.says(
        cases("say Paris, my secret", "raise secret", "say secret", gold="secret"),
        'gates=["odd >= 0.5"]',
        body,
        SAYS + QUOTES,
    )
    project.run("--junitxml=junit.xml")
    validate(project)
    assert properties_of(project, "test_it[q1]")["rag.score.accuracy"] == "1.0"
    assert properties_of(project, "test_it[q2]")["rag.error_type"] == "system_error"
    assert properties_of(project, "test_it[gate: odd >= 0.5]")["rag.gate.n"] == "0"
    assert "secret" not in (project.path / "junit.xml").read_text(encoding="utf-8")


def test_a_teardown_that_fails_hides_no_property(project: Project) -> None:
    body = """
        import pytest
        from pytest_rageval import rag_case

        @pytest.fixture(autouse=True)
        def broken():
            yield
            raise OSError("no way back")

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag):
            assert rag.answer.text == "Paris"
    """
    for family in ("xunit1", "xunit2"):
        project.says(cases(WRONG), test=body)
        project.run("--junitxml=junit.xml", "-o", f"junit_family={family}")
        properties, *_ = properties_by_test(project)["test_it[q1]"]
        assert properties["rag.score.accuracy"] == "0.0", family
    validate(project)


def test_tests_of_others_get_no_properties(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file(
        "test_other.py", "def test_other(record_testsuite_property):\n    record_testsuite_property('mine', 1)"
    )
    project.run("--junitxml=junit.xml")
    assert properties_of(project, "test_other") == {}
    names = [each.attrib["name"] for each in suite_of(project).findall("properties/property")]
    assert "mine" in names
    project.run("--junitxml=junit.xml", "test_other.py")
    assert [each.attrib["name"] for each in suite_of(project).findall("properties/property")] == ["mine"]


def test_nothing_is_reported_without_a_requested_file(project: Project) -> None:
    checks_reports = """
    def pytest_runtest_logreport(report):
        assert report.user_properties == []
    """
    project.says(cases(RIGHT), conftest=SAYS + checks_reports)
    project.run().result.assert_outcomes(passed=1)
