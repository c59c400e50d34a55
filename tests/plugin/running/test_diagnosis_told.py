"""The diagnosis of answers in gates, in results.json and in the summary."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Row

SYSTEM = """
    import pytest
    from pytest_rageval import Answer, Step

    def search(text, **more):
        return Step("tool", {"name": "Search", "arguments": {"title": "Rome"}, "result": text, **more})

    FAILED = search(None, error="TimeoutError: slow")
    LIMIT = Step("end", {"reason": "step_limit"})
    ANSWERS = {
        "retrieved": Answer("Rome", trace=(search("It is in Rome."),)),
        "memory": Answer("Rome", trace=(search("It is in Italy."),)),
        "missed": Answer("Lima", trace=(search("It is in Italy."),)),
        "ignored": Answer("Lima", trace=(search("It is in Rome."),)),
        "broken": Answer("", trace=(FAILED, FAILED, search("It is in Italy."), LIMIT)),
        "silent": Answer("Rome"),
    }

    def answer(query):
        if query.question == "raise":
            raise ValueError("no")
        return ANSWERS[query.question]

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["token_f1"], gates=[{gates}])
    def test_agent(rag):
        ...
"""

QUESTIONS = ("retrieved", "retrieved", "memory", "missed", "ignored", "broken")


def rows(*questions: str, **more: Any) -> list[Row]:
    return [
        {"id": f"q{at}", "question": question, "answers": ["Rome"], "topic": "odd" if at % 2 else "even", **more}
        for at, question in enumerate(questions, 1)
    ]


def make(project: Project, *gates: str, questions: tuple[str, ...] = QUESTIONS, ini: str = "") -> None:
    project.data(rows(*questions))
    project.file("conftest.py", SYSTEM)
    project.file("test_a.py", TEST.replace("{gates}", ", ".join(map(repr, gates))))
    if ini:
        project.file("pytest.ini", f"[pytest]\n{ini}\n")


def test_gates_on_types_pass_and_fail(project: Project, mode: Mode) -> None:
    make(
        project,
        "diagnosis:TE <= 0.2",
        "diagnosis:TE <= 0.05",
        "diagnosis:TE[topic=odd] <= 0.1",
        "diagnosis:TE[topic=even] <= 0.1",
        "diagnosis:EM >= 0.3",
        "diagnosis:ACC >= 60%",
        "diagnosis:WA <= 0.5",
    )
    run = project.run("-v", "--junitxml=junit.xml", *mode)
    assert {name: gate["status"] for name, gate in run.gates.items()} == {
        "diagnosis:TE <= 0.2": "passed",
        "diagnosis:TE <= 0.05": "failed",
        "diagnosis:TE[topic=odd] <= 0.1": "passed",
        "diagnosis:TE[topic=even] <= 0.1": "failed",
        "diagnosis:EM >= 0.3": "passed",
        "diagnosis:ACC >= 60%": "failed",
        "diagnosis:WA <= 0.5": "passed",
    }
    assert run.status == 1
    junit = (project.path / "junit.xml").read_text(encoding="utf-8")
    failed = run.gates["diagnosis:TE <= 0.05"]
    assert f"{failed['value']:.2f} &gt; 0.05 (n {failed['n']})" in junit
    assert run.outcomes["q6"]["diagnosis"] == {
        "type": "TE",
        "right": False,
        "grounded": "no",
        "end": "step_limit",
        "why": "2 of 3 tool calls failed: Search",
    }
    assert [run.outcomes[f"q{at}"]["diagnosis"]["type"] for at in range(1, 7)] == ["EM", "EM", "AM", "RE", "GE", "TE"]
    run.said(
        "diagnosis - % of scored cases; right: EM retrieved, AM from memory, A[?] not known; wrong: GE RE TE ME W?"
    )


def test_a_baseline_gate_on_a_type_fails_after_a_drop(project: Project, mode: Mode) -> None:
    """All ten answers change from retrieved to memory: a significant drop."""
    gate = "diagnosis:EM >= baseline - 0.02"
    make(project, gate, questions=("retrieved",) * 10)
    assert project.run("--rag-update-baseline", "--rag-baseline", "base.jsonl", *mode).status == 0
    assert project.run("--rag-baseline", "base.jsonl", *mode).gates[gate]["status"] == "passed"
    worse = SYSTEM.replace("ANSWERS[query.question]", "ANSWERS['memory']")
    project.file("conftest.py", worse)
    failed = project.run("--rag-baseline", "base.jsonl", *mode).gates[gate]
    assert (failed["status"], failed["value"], failed["baseline"]) == ("failed", 0.0, 1.0)


def test_the_section_appears_when_a_trace_has_tools(project: Project) -> None:
    make(project, questions=("silent", "silent"))
    assert "diagnosis - %" not in project.run("-v").text, "no trace has tools"
    make(project, questions=("memory", "retrieved", "raise", "silent"))
    run = project.run("-v")
    run.said("rag_system  *2*100*50*50*0*0*0*0*0*0", "rag_system: 2 without a type (error 1, no_trace 1)")
    assert run.results["sections"]["diagnosis"][0]["types"]["AM"] == 1
    project.file("pytest.ini", "[pytest]\nrag_diagnosis = metric=rouge_l; threshold=0.9\n")
    run = project.run("-v")
    assert run.results["run"]["settings"]["rag_diagnosis"] == "metric=rouge_l; threshold=0.9"
    assert run.outcomes["q1"]["scores"]["rouge_l"]["value"] == pytest.approx(1)


def test_the_setting_shows_the_section_without_tools(project: Project) -> None:
    project.data([{**each, "passages": [{"id": "p", "text": "In Rome."}]} for each in rows("silent", "silent")])
    project.file("conftest.py", SYSTEM)
    project.file("test_a.py", TEST.replace("{gates}", ""))
    assert "diagnosis - %" not in project.run("-v").text
    project.file("pytest.ini", "[pytest]\nrag_diagnosis = threshold=0.9\n")
    project.run("-v").said("rag_system  *2*100*100*0*0*0*0*0*0*0")


def test_no_text_leaks_without_texts(project: Project) -> None:
    make(project, ini="rag_report_texts = false")
    run = project.run()
    text = (project.path / "results.json").read_text(encoding="utf-8")
    assert "Rome" not in text
    assert run.outcomes["q6"]["diagnosis"]["why"] == "2 of 3 tool calls failed: Search"


@pytest.mark.parametrize(
    ("ini", "gates", "problem"),
    [
        ("rag_gates = diagnosis:TEE <= 0.1", [], "*unknown metric 'diagnosis:TEE'; did you mean 'diagnosis:TE'?*"),
        ("", ["diagnosis:em >= 0.1"], "*test_a.py:*unknown metric 'diagnosis:em'; did you mean 'diagnosis:EM'?*"),
        ("rag_diagnosis = metric=hotpot", [], "*rag_diagnosis: unknown metric 'hotpot'; did you mean 'hotpot_f1'?*"),
        ("rag_diagnosis = metric=P@5", [], "*rag_diagnosis: metric 'P@5' does not say which answers are right*"),
        ("rag_diagnosis = hotpot_f1", [], "*rag_diagnosis has the part 'hotpot_f1'; write 'metric=hotpot_f1*"),
        (
            "rag_diagnosis = treshold=1",
            [],
            "*rag_diagnosis has the unknown option 'treshold'; did you mean 'threshold'?*",
        ),
        ("rag_diagnosis = threshold=2", [], "*rag_diagnosis has threshold='2'; write a number above 0 and up to 1*"),
        ("rag_diagnosis = threshold=1; threshold=1", [], "*rag_diagnosis has threshold twice; write it once*"),
    ],
)
def test_bad_settings_are_refused(project: Project, ini: str, gates: list[str], problem: str) -> None:
    make(project, *gates, ini=ini)
    run = project.run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    output = "\n".join([*run.result.outlines, *run.result.errlines])
    pytest.LineMatcher(output.splitlines()).fnmatch_lines([problem])


def test_a_diagnosis_gate_needs_a_metric_of_right_answers(project: Project) -> None:
    project.data(rows("memory"))
    project.file("conftest.py", SYSTEM)
    project.file("test_a.py", TEST.replace("{gates}", "'diagnosis:EM >= 0'").replace("token_f1", "R@5"))
    run = project.run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    message = "".join(run.result.errlines)
    assert "'diagnosis:EM' needs a metric that says which answers are right; add one to metrics" in message


def test_a_test_can_read_and_check_the_diagnosis_of_its_case(project: Project) -> None:
    make(project, questions=("broken", "silent"))
    body = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["token_f1"])
    def test_agent(rag):
        if rag.case.instance.question == "broken":
            assert rag["diagnosis:TE"] == 1
            rag.check("diagnosis:EM <= 0")
        else:
            assert "diagnosis:TE" not in rag.scores
"""
    project.file("test_a.py", body)
    assert project.run().status == 0


def test_rageval_analyze_errors_prints_types_and_failed_tools(project: Project) -> None:
    make(project)
    project.run()
    process = project.command("analyze", "errors", "--by", "topic")
    assert process.returncode == 0, process.stderr
    assert "TE wrong: tools failed" in process.stdout
    assert "rag_system: tools that failed in its 1 TE answer: Search in 1" in process.stdout
    assert "diagnosis" not in process.stderr


def test_testbeds_of_abilities_have_no_types(project: Project) -> None:
    """A diagnosis gate fails because no case has a value; each score has the reason."""
    passage = {"id": "p", "text": "In Rome.", "role": "positive"}
    project.data([{**each, "passages": [passage]} for each in rows("retrieved")])
    project.file("conftest.py", SYSTEM)
    body = TEST.replace("{gates}", "'diagnosis:EM >= 0'")
    project.file("test_a.py", body.replace("gates=", "ability='noise_robustness', passages=1, gates="))
    run = project.run()
    assert run.gates["diagnosis:EM >= 0"]["status"] == "failed"
    assert run.outcomes["q1"]["scores"]["diagnosis:EM"]["reason"] == "not_applicable: ability_testbed"
    assert "diagnosis" not in run.outcomes["q1"]


def test_errors_and_unanswerable_cases_have_no_types(project: Project) -> None:
    make(project, "diagnosis:EM >= 0.9", questions=("retrieved", "raise"))
    unanswerable = {**rows("retrieved", "missed")[1], "id": "q3", "answerable": False}
    project.data([*rows("retrieved", "raise"), unanswerable])
    run = project.run("-v")
    gate = run.gates["diagnosis:EM >= 0.9"]
    assert (gate["status"], gate["n"], gate["n_errors"]) == ("passed", 1, 1)
    run.said("rag_system: 2 without a type (error 1, unanswerable 1)")
    output = project.command("analyze", "errors").stdout
    assert "rag_system: 2 without a type (error 1, unanswerable 1)" in output


def test_the_analysis_refuses_runs_without_texts_or_diagnosis(project: Project) -> None:
    make(project, ini="rag_report_texts = false")
    project.run()
    assert project.command("analyze", "errors").returncode == 0
    process = project.command("analyze", "errors", "--compat", "reval")
    assert process.returncode == 2
    assert "--compat reval reads answers and traces, and the run was stored without texts" in process.stderr
    project.file("pytest.ini", "[pytest]\n")
    project.data(rows("silent"))
    project.run()
    process = project.command("analyze", "errors")
    assert process.returncode == 2
    assert "the run has no diagnosis; it needs gold answers" in process.stderr
