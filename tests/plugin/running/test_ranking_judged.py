"""Rankings of a user's system, judged by qrels: in the matrix, gates and results.json."""

from __future__ import annotations

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads modules, and this one loads only once per process
from support.projects.rag_project import Project, Row, case

RETRIEVES = """
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    def retrieve(query):
        word, _, ids = query.question.partition(" ")
        ranking = Ranking(tuple(ScoredPassage(name) for name in ids.split())) if word == "find" else None
        return Answer("Paris", ranking)

    @pytest.fixture(scope="session")
    def rag_system():
        return retrieve
"""
"""A conftest whose system retrieves the ids in the question."""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag):
        if rag.case.id == "q1":
            rag.check("P@5 >= 0.2")
            assert rag["RR"] == 1
"""

QRELS = {"d#1": 2, "e#1": 1}


def rows() -> list[Row]:
    return [
        case("q1", "find d#1 e#1 f#1", qrels=QRELS, topic="Funds", task="slot_filling"),
        case("q2", "find f#1 e#1", qrels=QRELS, topic="Bonds", task="slot_filling"),
        case("q3", "find ", qrels=QRELS, topic="Bonds", task="slot_filling"),
        case("q4", "find d#1", topic="Bonds", task="slot_filling"),
        case("q5", "say", qrels=QRELS, topic="Bonds", task="slot_filling"),
    ]


def test_ranking_scores_are_in_the_matrix_the_gates_and_the_results(project: Project) -> None:
    gates = 'gates=["nDCG@10 >= 0.4", "R@5[topic=Funds] >= 1", "kilt:accuracy >= 90%", "page_R@5 >= 0.3"]'
    project.says(rows(), f'metrics=["nDCG@10", "R@5"], {gates}', test=TEST, conftest=RETRIEVES)
    run = project.run("-v", "--rag-gate", "Success@1 >= 0.3")
    assert run.status == 1
    run.said("nDCG@10 by topic x task*", "Funds*1.00 (1)*", "Bonds*0.12 (2+2)*")
    assert {name: gate["status"] for name, gate in run.gates.items()} == {
        "nDCG@10 >= 0.4": "passed",
        "R@5[topic=Funds] >= 1": "passed",
        "kilt:accuracy >= 90%": "failed",
        "page_R@5 >= 0.3": "passed",
        "Success@1 >= 0.3": "passed",
    }
    scores = {name: outcome["scores"] for name, outcome in run.outcomes.items()}
    assert {name: each["R@5"].get("value") for name, each in scores.items()} == {
        "q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": None, "q5": None,
    }  # fmt: skip
    assert {scores[name]["R@5"]["reason"] for name in ("q4", "q5")} == {
        "not_applicable: no_qrels", "no_ranking",
    }  # fmt: skip
    run.said("*PASSED*nDCG@10 >= 0.4*n 3 *1 unscored (no_ranking)*")
    assert run.gates["kilt:accuracy >= 90%"]["n"] == 5
    assert run.results["instances"]["q1"]["qrels"] == QRELS


def test_the_matrix_can_show_a_cutoff_that_no_testbed_names(project: Project) -> None:
    project.says(rows(), 'metrics=["nDCG@10"]', test=TEST, conftest=RETRIEVES)
    run = project.run("--rag-matrix", "R@5")
    run.said("R@5 by topic x task*", "Bonds*0.25 (2+2)*")


def test_a_suite_can_name_ranking_metrics(project: Project) -> None:
    project.data([{**row, "provenance": [["d", "e"], ["f"]]} for row in rows()])
    project.file("conftest.py", RETRIEVES)
    project.file("it.rag.toml", """
        [[testbed]]
        name = "pages"
        dataset = "jsonl:cases.jsonl"
        metrics = ["page_Rprec", "page_Success@1"]
        gates = ["page_R@1 >= 0.2"]
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0
    values = {name: outcome["scores"]["page_Rprec"].get("value") for name, outcome in run.outcomes.items()}
    assert values == {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.5, "q5": None}
    assert run.results["instances"]["q1"]["provenance"] == [["d", "e"], ["f"]]


def test_a_duplicate_document_in_a_ranking_is_an_error(project: Project) -> None:
    project.says([case("q1", "find d d", qrels=QRELS)], 'metrics=["AP"]', test=TEST, conftest=RETRIEVES)
    run = project.run()
    assert (run.status, run.outcomes["q1"]["error_type"]) == (1, "bad_ranking")
    assert run.outcomes["q1"]["error"].splitlines()[0] == (
        "metric 'AP' on case 'q1': the ranking has the document 'd' at ranks 1 and 2, wanted each once"
    )


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        ('metrics=["nDCG@0"]', (), "test_it.py:3: metric 'nDCG@0' has no valid cutoff; write nDCG@K with *"),
        ('gates=["P@x >= 0.2"]', (), "test_it.py:3: metric 'P@x' has no valid cutoff; write P@K with *"),
        ('metrics=["ndcg@10"]', (), "test_it.py:3: unknown metric 'ndcg@10'; did you mean 'nDCG@10'?"),
        ("", ("--rag-gate", "ndcg@10 >= 1"), "--rag-gate: gate 'ndcg@10 >= 1': unknown metric *mean 'nDCG@10'?"),
        ("", ("--rag-gate", "R@ >= 1"), "--rag-gate: metric 'R@' has no valid cutoff; write R@K with *"),
        ("", ("--rag-matrix", "P"), "--rag-matrix: metric 'P' has no valid cutoff; write P@K with *"),
    ],
)
def test_an_invalid_name_of_a_ranking_metric_is_a_usage_error(
    project: Project, arguments: str, options: tuple[str, ...], problem: str
) -> None:
    project.says(rows(), arguments, test=TEST, conftest=RETRIEVES)
    run = project.run(*options)
    assert run.status == 4
    run.result.stderr.fnmatch_lines([f"ERROR: {problem} [[]RAG*"])


def test_a_session_without_the_extra_ends_with_its_install_command(project: Project) -> None:
    hidden = f"{RETRIEVES}\n    import sys; sys.modules['pytrec_eval_ext'] = None\n"
    project.says(rows(), 'metrics=["nDCG@10"]', test=TEST, conftest=hidden)
    run = project.run(forked=True)
    assert run.status == 4
    message = "a ranking metric needs an optional dependency: pip install 'pytest-rageval[[]ranking]'"
    run.result.stderr.fnmatch_lines([f"ERROR: *{message} [[]RAG106]"])


@pytest.mark.parametrize(("n_rankings", "status"), [(1, "failed"), (3, "passed")])
def test_a_gate_fails_if_too_few_cases_have_a_ranking(project: Project, n_rankings: int, status: str) -> None:
    rows = [case(f"q{at}", "find d#1" if at < n_rankings else "say", qrels={"d#1": 1}) for at in range(6)]
    test = TEST.partition("        if rag")[0] + "        ..."
    project.says(rows, 'metrics=["R@5"], gates=["R@5 >= 0.9"]', test=test, conftest=RETRIEVES)
    run = project.run("--rag-markdown", "a.md", "--rag-html", "a.html")
    unscored = f"{6 - n_rankings} unscored (no_ranking)"
    assert (run.gates["R@5 >= 0.9"]["status"], run.status) == (status, int(status == "failed"))
    assert run.gates["R@5 >= 0.9"]["unscored"] == {"no_ranking": 6 - n_rankings}
    run.said(f"unscored: {6 - n_rankings} no_ranking (R@5)")
    if status == "failed":
        run.said(f"too few scored, 1 of 6: {unscored} (rag_min_compared = 0.5)")
    assert unscored in (project.path / "a.md").read_text("utf-8").replace("\\", "")
    assert unscored in (project.path / "a.html").read_text("utf-8")


def test_a_testbed_without_any_ranking_is_counted_in_the_summary(project: Project) -> None:
    rows = [case(f"q{at}", "say", qrels={"d#1": 1}) for at in range(3)]
    test = TEST.partition("        if rag")[0] + "        ..."
    project.says(rows, 'metrics=["nDCG@10", "accuracy"], gates=["accuracy >= 0"]', test=test, conftest=RETRIEVES)
    run = project.run()
    assert run.status == 0
    run.said("unscored: 3 no_ranking (nDCG@10)")
