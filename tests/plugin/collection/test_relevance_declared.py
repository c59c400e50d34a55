"""Relevance comes from a file of judgements (qrels), or from a testbed's ``relevance``."""

from __future__ import annotations

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads what a run imports, and this module can be loaded only once
from support.projects.rag_project import Project, Row, case
from support.projects.refused_projects import refused

RETRIEVES = """
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    TEXTS = {"a": "Nothing of it.", "b": "It opens at nine, says the sign.", "c": "A sign says: it opens at nine."}

    @pytest.fixture(scope="session")
    def rag_system():
        def retrieve(query):
            passages = [ScoredPassage(name, text=TEXTS[name]) for name in query.question.split()]
            return Answer("nine", Ranking(tuple(passages)))
        return retrieve
"""

GOLD = [{"id": "g", "text": "At the gate a sign says: it opens at nine.", "role": "positive"}]


def rows() -> list[Row]:
    return [
        case("q1", "a b", "nine", qrels={"a": 1}, passages=GOLD, topic="Hours"),
        case("q2", "a c", "nine", qrels={"a": 1}, passages=GOLD, topic="Hours"),
    ]


def write_project(project: Project, arguments: str) -> None:
    project.says(rows(), arguments, conftest=RETRIEVES, test=TEST)


TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", passages="retrieved"{arguments})
    def test_it(rag):
        ...
"""


def values(project: Project, metric: str, *args: str) -> dict[str, float | None]:
    run = project.run(*args)
    assert run.status == 0, run.text
    return {name: outcome["scores"][metric].get("value") for name, outcome in run.outcomes.items()}


@pytest.mark.parametrize(
    ("arguments", "metric", "expected"),
    [
        ("", "RR", {"q1": 1.0, "q2": 1.0}),
        ('relevance="ids"', "RR", {"q1": 1.0, "q2": 1.0}),
        ('relevance="answers"', "RR", {"q1": 0.5, "q2": 0.5}),
        ('relevance="overlap"', "nDCG@2", {"q1": 0.0, "q2": 0.6309297535714575}),
    ],
)
def test_a_testbed_declares_what_is_relevant(
    project: Project, arguments: str, metric: str, expected: dict[str, float]
) -> None:
    write_project(project, ", ".join(filter(None, [arguments, f'metrics=["{metric}"], gates=["{metric} >= 0"]'])))
    assert values(project, metric) == expected


def test_a_suite_also_declares_relevance(project: Project) -> None:
    project.data(rows())
    project.file("conftest.py", RETRIEVES)
    project.file("it.rag.toml", """
        [[testbed]]
        name = "answers"
        dataset = "jsonl:cases.jsonl"
        passages = "retrieved"
        relevance = "answers"
        metrics = ["P@2"]
    """)  # fmt: skip
    assert values(project, "P@2") == {"q1": 0.5, "q2": 0.5}


@pytest.mark.parametrize("arguments", ['metrics=["R@5"]', 'metrics=["accuracy"], gates=["R@5 >= 0.1"]'])
def test_relevance_by_answers_refuses_metrics_of_recall(project: Project, arguments: str) -> None:
    write_project(project, f'relevance="answers", {arguments}')
    assert refused(project) == (
        "test_it.py:3: metric 'R@5' counts passages that were not retrieved, and relevance 'answers' judges only "
        "retrieved ones; use P@k, RR or Success@k, or relevance 'overlap'"
    )


def test_a_session_gate_on_recall_is_unscored_with_relevance_by_answers(project: Project) -> None:
    write_project(project, 'relevance="answers", metrics=["P@2"]')
    run = project.run("--rag-gate", "R@2 >= 0.1")
    assert run.status == 1
    assert run.outcomes["q1"]["scores"]["R@2"] == {"value": None, "reason": "not_applicable: unknown_relevant"}


def test_a_file_of_judgements_overrides_the_qrels_of_records(project: Project) -> None:
    write_project(project, 'qrels="judged/it.qrels", metrics=["RR"]')
    project.file("judged/it.qrels", "q1 0 b 2\nq9 0 a 1\nq1 0 a -1")
    run = project.run()
    assert run.outcomes["q1"]["scores"]["RR"] == {"value": 0.5}
    assert run.outcomes["q2"]["scores"]["RR"]["reason"] == "not_applicable: no_qrels"
    assert run.results["instances"]["q1"]["qrels"] == {"b": 2, "a": -1}
    before = run.results["run"]["fingerprint"]
    project.file("judged/it.qrels", "query-id\tcorpus-id\tscore\nq1\tb\t1\nq2\tc\t1")
    assert values(project, "RR") == {"q1": 0.5, "q2": 0.5}
    assert project.run().results["run"]["fingerprint"] != before


def test_two_testbeds_may_be_judged_by_different_files(project: Project) -> None:
    project.data(rows()[:1])
    project.file("conftest.py", RETRIEVES)
    project.file("one.qrels", "q1 0 b 1")
    testbed = (
        '[[testbed]]\nname = "{0}"\ndataset = "jsonl:cases.jsonl"\npassages = "retrieved"\nmetrics = ["RR"]\n{1}\n'
    )
    project.file("it.rag.toml", testbed.format("own", "") + testbed.format("filed", 'qrels = "one.qrels"'))
    assert values(project, "RR") == {"jsonl:cases.jsonl:q1": 1.0, "jsonl:cases.jsonl+one.qrels:q1": 0.5}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "Q1 0 a 1",
            "test_it.py:3: qrels 'it.qrels' judges no record of 'jsonl:cases.jsonl'; its ids are like 'Q1', *",
        ),
        (
            "q1 0 a 1\nq1 a 1",
            "it.qrels:2: found 3 columns in 'q1 a 1', wanted 4 (query, iteration, document, grade), *",
        ),
        (
            "q1 0 a 1\nq1 0 a 0",
            "it.qrels:2: the document 'a' has the grade 0 for the query 'q1', and 1 in an earlier line*",
        ),
        ("q1 0 a high", "it.qrels:1: grade: found 'high', wanted an integer"),
        (None, "test_it.py:3: qrels 'it.qrels' is missing: no *"),
    ],
)
def test_bad_judgements_are_refused(project: Project, text: str | None, sentence: str) -> None:
    write_project(project, 'qrels="it.qrels", metrics=["RR"]')
    if text is not None:
        project.file("it.qrels", text)
    message = refused(project)
    assert message.startswith(sentence.rstrip("*"))


def test_retrieved_passages_are_refused_with_an_ability_that_supplies_passages(project: Project) -> None:
    write_project(project, 'ability="noise_robustness"')
    assert refused(project) == (
        "test_it.py:3: passages 'retrieved' supplies no passages, but noise_robustness tests supplied passages; "
        "leave one of them out"
    )
