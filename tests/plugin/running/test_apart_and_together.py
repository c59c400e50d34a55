"""Systems under one gate, datasets with equal ids and folders with fixtures are separate."""

from __future__ import annotations

import pytest
from support.projects.rag_project import RIGHT, RUNS, WRONG, Mode, Project, case, cases

RATES = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:a.jsonl")
    @rag_case("jsonl:b.jsonl", passages=[1, 2])
    def test_it(rag):
        ...
"""
SKIPPED = """
    import pytest
    from pytest_rageval import rag_case

    @pytest.mark.skip(reason="not today")
    @rag_case("jsonl:a.jsonl")
    def test_a(rag): ...

    @pytest.mark.skip(reason="not today")
    @rag_case("jsonl:b.jsonl")
    def test_b(rag): ...
"""
CORPUS = """
    import pytest
    from pytest_rageval import Passage

    @pytest.fixture(scope="session")
    def rag_corpus():
        return [Passage("d", "The capital is {town}.")]
"""


def test_a_gate_holds_for_each_system_that_is_compared(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, RIGHT), "gates=['accuracy >= 0.5']")
    project.file("desks.py", "good = lambda query: 'Paris'\nbad = lambda query: 'Rome'")
    run = project.run(*mode, "--rag-system", "desks:good", "--rag-system", "desks:bad")
    assert run.status == 1
    gate = run.gates["accuracy >= 0.5"]
    assert (gate["status"], gate["value"], gate["n"], gate["slice"]) == ("failed", 0.0, 2, {"system": "desks:bad"})
    assert [cell["value"] for cell in gate["cells"]] == [0.0, 1.0]


def test_recorded_answers_are_used_for_datasets_that_share_ids(project: Project) -> None:
    pool = [{"id": f"d{n}", "text": "text"} for n in range(2)]
    project.data([case("q 1", "first?", passages=pool)], "a.jsonl")
    project.data([case("q 1", "second?", passages=pool)], "b.jsonl")
    project.data([{"id": "q 1", "answer": "Paris", "note": "by hand"}], "answers.jsonl")
    project.file("test_it.py", RATES)
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.statuses == {"jsonl:a.jsonl:q 1": "scored", "jsonl:b.jsonl:q 1": "scored"}
    assert len(run.results["outcomes"]) == 3
    assert {i["question"] for i in run.results["instances"].values()} == {"first?", "second?"}
    run.said("*warning: recorded answers have the keys note, which are facets of no case*")


def test_skipped_cases_with_the_same_id_have_separate_instances(project: Project) -> None:
    project.data([case("q1", "first?")], "a.jsonl")
    project.data([case("q1", "second?")], "b.jsonl")
    project.file("test_it.py", SKIPPED)
    run = project.run()
    assert {i["question"] for i in run.results["instances"].values()} == {"first?", "second?"}
    assert set(run.statuses) == set(run.results["instances"])


@pytest.mark.parametrize("args", [(), ("--rag-system", "extractive")], ids=["default", "named"])
def test_two_folders_may_each_have_a_corpus(project: Project, args: Mode) -> None:
    for folder, town in (("a", "Paris"), ("b", "Rome")):
        project.data([case(f"q-{folder}", "What is the capital?", town)], f"{folder}/cases.jsonl")
        project.file(f"{folder}/conftest.py", CORPUS.replace("{town}", town))
        project.file(f"{folder}/test_{folder}.py", RUNS.replace("{arguments}", ", gates=['accuracy >= 1']"))
    assert project.run(*args).status == 0


def test_a_corpus_of_the_wrong_type_is_reported(project: Project) -> None:
    project.says(cases(RIGHT), conftest=CORPUS.replace('[Passage("d", "The capital is {town}.")]', '["Paris"]'))
    run = project.run()
    assert run.status == 1
    run.said("*rag_corpus holds 'Paris'; give a list of Passage(id=..., text=...)*")


@pytest.mark.parametrize(
    ("value", "binary", "problem"), [(2.0, False, "must be in 0..1"), (0.5, True, "must be 0 or 1, as it is binary")]
)
def test_a_value_out_of_range_is_an_error_and_not_a_better_score(
    project: Project, value: float, binary: bool, problem: str
) -> None:
    conftest = f"""
        import pytest
        from pytest_rageval import Metric, Score

        def pytest_rageval_register(registry):
            registry.metrics.register("odd", Metric("odd", lambda sample: Score({value}), binary={binary}))

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Paris"
    """
    test = RUNS.replace('"accuracy"', '"odd"')
    project.says(cases(RIGHT), "gates=['odd >= 0.1']", test=test, conftest=conftest)
    run = project.run()
    assert run.status == 1
    assert run.outcomes["q1"]["error_type"] == "metric_error"
    assert problem in run.outcomes["q1"]["error"]
    assert run.gates["odd >= 0.1"]["value"] is None


def test_the_cost_of_an_unscored_answer_counts(project: Project) -> None:
    conftest = """
        import pytest
        from pytest_rageval import Answer, Metric, Score, Usage

        def sound(sample):
            return Score(1.0) if sample.answer.text == "Paris" else 1 / 0

        def pytest_rageval_register(registry):
            registry.metrics.register("sound", Metric("sound", sound))

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: Answer(query.question.split()[1], usage=Usage(1, 1, 5.0))
    """
    test = RUNS.replace('"accuracy"', '"sound"')
    project.says(cases(RIGHT, WRONG), "gates=['cost_usd <= 6', 'tokens <= 4']", test=test, conftest=conftest)
    run = project.run()
    assert run.statuses == {"q1": "scored", "q2": "error"}
    assert (run.gates["cost_usd <= 6"]["status"], run.gates["cost_usd <= 6"]["value"]) == ("failed", 10.0)
    assert run.gates["tokens <= 4"]["status"] == "passed"


def test_an_ini_gate_without_a_case_is_skipped_in_a_partial_run_and_refused_in_a_complete_one(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file("pytest.ini", "[pytest]\nrag_gates = accuracy[kind=x] >= 0.5")
    part = project.run("test_it.py")
    assert part.status == 0
    assert part.gates["accuracy[kind=x] >= 0.5"]["reason"] == "no case of this session matches it"
    whole = project.run()
    assert whole.status == pytest.ExitCode.USAGE_ERROR
    assert "rag_gates: gate 'accuracy[kind=x] >= 0.5': unknown facet 'kind'" in whole.result.stderr.str()


def test_an_ini_gate_on_a_baseline_ignores_testbeds_without_its_metric(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file("test_other.py", RUNS.format(arguments="").replace("accuracy", "token_f1"))
    project.file("pytest.ini", "[pytest]\nrag_baseline = b.json\nrag_gates = accuracy >= baseline\n")
    assert project.run("--rag-update-baseline").status == 0
    assert project.run().gates["accuracy >= baseline"]["verdict"] == "not_worse"
    part = project.run("test_other.py")
    assert part.status == 0
    assert part.gates["accuracy >= baseline"]["reason"] == "no case of this session matches it"
    assert set(part.outcomes["q1"]["scores"]) == {"token_f1"}


def test_gates_of_unselected_functions_are_not_reported(project: Project) -> None:
    two = RUNS + RUNS.partition("import rag_case")[2].replace("test_it", "test_other")
    project.says(cases(RIGHT), "gates=['accuracy >= 0.5']", test=two)
    assert len(project.run("test_it.py").results["gates"]) == 2
    assert [gate["nodeid"] for gate in project.run("test_it.py::test_it").results["gates"]] == [
        "test_it.py::test_it[gate: accuracy >= 0.5]"
    ]
