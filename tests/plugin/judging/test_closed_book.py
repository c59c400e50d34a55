"""What the model answers without passages: score, facet ``knew`` and gain from retrieval."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case
from support.projects.scripted_projects import NOTED, asked_of, conftest, contents, refused, values

KNOWS = """
    @pytest.fixture(scope="session")
    def rag_llm():
        def reply(messages):
            prompt = messages[-1]["content"]
            if "Documents:" in prompt:
                return "ohne" if "hard" in prompt else prompt.partition("[1]")[2].partition("Question")[0]
            return "It is Paris." if "France" in prompt or "hard" in prompt else "I do not know."
        return Noted("llm", reply, usage=Usage(10, 2, 0.5))
"""


def _row(name: str, question: str, topic: str, text: str = "Paris it is.") -> dict[str, object]:
    return case(name, question, topic=topic, passages=[{"id": "d1", "text": text, "role": "positive"}])


ROWS = [
    _row("france", "Capital of France?", "Easy"),
    _row("gaul", "Capital of Gaul?", "Easy"),
    _row("hard", "The hard question?", "Hard"),
    _row("wrong", "Capital of Elsewhere?", "Hard", "Rome it is."),
]

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "closed_book_accuracy"], gates=GATES)
    def test_it(rag):
        ...
"""


def _write_project(project: Project, gates: list[str], model: str = KNOWS) -> None:
    project.data(ROWS)
    conftest(project, NOTED, model)
    project.file("test_it.py", TEST.replace("GATES", repr(gates)))


def test_the_model_is_asked_with_and_without_passages(project: Project) -> None:
    gates = [
        "closed_book_accuracy >= 0.5",
        "accuracy[knew=true] >= 0.5",
        "accuracy[knew=*] >= 0.5",
        "n[knew=false] >= 2",
    ]
    _write_project(project, gates)
    run = project.run()
    assert run.status == 0, run.text
    assert values(run, "accuracy") == {"france": 1.0, "gaul": 1.0, "hard": 0.0, "wrong": 0.0}
    assert values(run, "closed_book_accuracy") == {"france": 1.0, "gaul": 0.0, "hard": 1.0, "wrong": 0.0}
    knew = {name: outcome["facets"]["knew"] for name, outcome in run.outcomes.items()}
    assert knew == {"france": "true", "gaul": "false", "hard": "true", "wrong": "false"}
    assert run.outcomes["gaul"]["calls"]["calls"] == 2
    assert run.outcomes["gaul"]["answer"]["usage"]["prompt_tokens"] == 10  # without the closed-book call
    assert {name: (gate["status"], gate["n"]) for name, gate in run.gates.items()} == {
        gates[0]: ("passed", 4), gates[1]: ("passed", 2), gates[2]: ("passed", 2), gates[3]: ("passed", 2),
    }  # fmt: skip
    assert [cell["slice"] for cell in run.gates[gates[2]]["cells"]] == [{"knew": "false"}, {"knew": "true"}]
    assert run.results["usage"]["cost_usd"] == 4.0


def test_closed_book_asks_the_question_and_nothing_else(project: Project) -> None:
    _write_project(project, [])
    project.run()
    prompts = contents(asked_of(project, "llm"), "user")
    closed_book_prompts = [text for text in prompts if "Documents:" not in text]
    assert sorted(closed_book_prompts) == sorted(f"Question: {row['question']}" for row in ROWS)
    assert len(prompts) == 8


def test_the_gain_from_retrieval_is_a_matrix(project: Project) -> None:
    _write_project(project, [])
    run = project.run("-v")
    gain = run.results["matrices"][-1]
    assert gain["metric"] == "accuracy - closed_book_accuracy"
    assert gain["rows"] == ["Easy", "Hard"]
    assert [row[0]["mean"] for row in gain["cells"]] == [0.5, -0.5]
    assert (gain["total"]["mean"], gain["total"]["n"]) == (0.0, 4)
    run.said(
        "accuracy - closed_book_accuracy by topic x ability*mean difference*", "Easy*+0.50 (2)*", "Hard*-0.50 (2)*"
    )


def test_cases_are_split_by_whether_the_model_knew_the_answer(project: Project) -> None:
    _write_project(project, [])
    run = project.run("--rag-rows", "knew", "--rag-cols", "topic")
    matrix = run.results["matrix"]
    assert (matrix["rows"], matrix["cols"]) == (["false", "true"], ["Easy", "Hard"])
    assert [[cell["mean"] for cell in row] for row in matrix["cells"]] == [[1.0, 0.0], [1.0, 0.0]]


CHANGED = """
    from pytest_rageval import Metric, Score

    def changed(sample):
        return Score(float("Paris" in sample.answer.text and "Paris" not in sample.closed_book.text))

    def pytest_rageval_register(registry):
        registry.metrics.register("changed", Metric("changed", changed, needs=("closed_book",)))
"""


def test_a_users_metric_names_the_inputs_that_it_reads(project: Project) -> None:
    _write_project(project, [], KNOWS + CHANGED)
    project.file("test_it.py", TEST.replace("GATES", "[]").replace(', "closed_book_accuracy"', ', "changed"'))
    run = project.run()
    assert values(run, "changed") == {"france": 0.0, "gaul": 1.0, "hard": 0.0, "wrong": 0.0}
    conftest(project, NOTED, KNOWS, CHANGED.replace('needs=("closed_book",)', 'needs=("closedbook",)'))
    assert "its needs name the unknown scoring input 'closedbook'; did you mean 'closed_book'?" in refused(project)


NO_MODEL = """
    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: "Paris"
"""


UNKNOWN = "nothing was scored: no case of 4 shows whether the model knew the answer (model_unavailable)"


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ("closed_book_accuracy >= 0", "nothing was scored: 4 cases, 0 errors (model_unavailable)"),
        ("accuracy[knew=true] >= 0", UNKNOWN),
        ("accuracy[knew=*] >= 0", UNKNOWN),
    ],
)  # fmt: skip
def test_without_a_model_the_closed_book_metric_is_unscored_and_its_gates_fail(
    project: Project, gate: str, reason: str
) -> None:
    _write_project(project, [gate], NO_MODEL)
    run = project.run()
    assert run.status == 1
    score = run.outcomes["gaul"]["scores"]["closed_book_accuracy"]
    assert score == {"value": None, "reason": "model_unavailable"}
    assert "knew" not in run.outcomes["gaul"]["facets"]
    assert (run.gates[gate]["status"], run.gates[gate]["reason"]) == ("failed", reason)
    assert [matrix["metric"] for matrix in run.results["matrices"]] == ["accuracy"]  # no gain without both


def test_a_gate_on_knew_fails_if_the_model_knew_no_case(project: Project) -> None:
    gate = "accuracy[knew=true] >= 0"
    _write_project(
        project, [gate], '@pytest.fixture(scope="session")\ndef rag_llm():\n    return ScriptedLLM("No idea.")\n'
    )
    run = project.run()
    assert run.gates[gate]["status"] == "failed"
    assert run.gates[gate]["reason"] == "nothing was scored: no case of 4 has knew=true"


def test_a_gate_on_knew_is_skipped_if_its_cases_were_deselected(project: Project) -> None:
    gate = "accuracy[knew=true, topic=Hard] >= 0"
    _write_project(project, [gate])
    run = project.run("-k", "france")
    assert run.gates[gate]["status"] == "skipped"
    assert run.gates[gate]["reason"] == "all its cases were deselected"


def test_the_facet_is_unknown_without_the_closed_book_metric(project: Project) -> None:
    _write_project(project, ["accuracy[knew=true] >= 0"])
    project.file(
        "test_it.py", TEST.replace("GATES", "['accuracy[knew=true] >= 0']").replace(', "closed_book_accuracy"', "")
    )
    assert "unknown facet 'knew'" in refused(project)


def test_both_arms_can_be_compared_as_systems(project: Project) -> None:
    _write_project(project, [])
    project.file("test_it.py", TEST.replace("GATES", "[]").replace(', "closed_book_accuracy"', ""))
    run = project.run("--rag-system", "llm", "--rag-system", "closed_book")
    means = {matrix["system"]: matrix["total"]["mean"] for matrix in run.results["matrices"]}
    assert means == {"llm": 0.5, "closed_book": 0.5}
    assert {o["facets"]["system"] for o in run.results["outcomes"]} == {"llm", "closed_book"}
    assert len(contents(asked_of(project, "llm"), "user")) == 8


def test_the_gain_from_retrieval_is_the_difference_of_both_arms(project: Project) -> None:
    _write_project(project, [])
    gain = project.run().results["matrices"][-1]
    project.file("test_it.py", TEST.replace("GATES", "[]").replace(', "closed_book_accuracy"', ""))
    (difference,) = project.run("--rag-system", "closed_book", "--rag-system", "llm").results["differences"]
    names = {"metric": "accuracy", "system": "llm", "minus": "closed_book"}
    assert difference == {**gain, **names}
    assert difference["total"]["ci95"] == [-1, 1]


@pytest.mark.parametrize("system", ["llm", "closed_book"])
def test_a_system_without_its_model_reports_how_to_name_one(project: Project, system: str) -> None:
    _write_project(project, [], NO_MODEL)
    run = project.run("--rag-system", system)
    assert run.status == 1
    run.said(
        f"*system '{system}' needs a model: set rag_model in the ini, pass --rag-model, or override the `rag_llm`*"
    )
    assert sorted(run.statuses.values()) == ["error", "skipped", "skipped", "skipped"]


def test_recorded_answers_have_a_closed_book_arm(project: Project) -> None:
    _write_project(project, ["accuracy[knew=false] >= 0.5"])
    project.data([{"id": row["id"], "answer": "Paris"} for row in ROWS], "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.status == 0
    assert values(run, "closed_book_accuracy") == {"france": 1.0, "gaul": 0.0, "hard": 1.0, "wrong": 0.0}
    assert len(asked_of(project, "llm")) == 4


def test_a_check_asks_the_closed_book_question_when_it_is_reached(project: Project) -> None:
    project.data(ROWS[:2])
    conftest(project, NOTED, KNOWS)
    test = TEST.replace("GATES", "[]").replace(', "closed_book_accuracy"', "")
    project.file("test_it.py", test.replace("...", 'rag.check("closed_book_accuracy >= 1")'))
    run = project.run()
    assert run.status == 1
    run.result.assert_outcomes(passed=1, failed=1)
    assert values(run, "closed_book_accuracy") == {"france": 1.0, "gaul": 0.0}
