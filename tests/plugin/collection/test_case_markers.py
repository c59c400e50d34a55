"""Facets as markers: ``-k``, ``-m``, ``--markers``, ``--strict-markers``."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, Row, cases
from test_multiplying import names

ROWS: list[Row] = [
    {"topic": "Funds", "task": "extractive_qa", "level": "knowledge_seeking"},
    {"topic": "Funds", "task": "multi_hop_qa", "level": "knowledge_application"},
    {"topic": "Bonds", "task": "my_task", "self": "x", "year": 1931},
    {"topic": "Bonds", "task": "抽取式问答"},
    {"topic": "a 'b' \"c\"", "task": "skip"},
    {"task": "xfail"}, {"task": "parametrize"}, {"task": "usefixtures"}, {"task": "timeout"}, {"task": "rag"},
    {"task": "rag_case"}, {"task": "no identifier"}, {"task": "_private"}, {"task": "class"}, {"task": "mine"},
    {"task": "parameterize"}, {"task": "skipif"}, {"task": "flaky"}, {"task": "filterwarnings"},
    {"task": "xdist_group"},
]  # fmt: skip

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl")
    def test_it(rag): ...

    @rag_case("rgb:rgb.json", ability="noise_robustness", noise_rate=[0, 0.4], passages=2)
    def test_noise(rag): ...

    def test_other(): ...
"""


@pytest.fixture
def marked_cases(project: Project) -> Project:
    project.data([{**row, **facets} for row, facets in zip(cases(*["say Paris"] * len(ROWS)), ROWS, strict=True)])
    project.file(
        "rgb.json", '{"id": 1, "query": "Q?", "answer": ["A"], "positive": ["A.", "A!"], "negative": ["B."]}\n'
    )
    project.file("conftest.py", """
        import pytest

        def pytest_configure(config):
            config.addinivalue_line("markers", "mine: what a user's own conftest acts on")

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Paris"
    """)  # fmt: skip
    project.file("test_it.py", TEST)
    return project


SELECTED = {
    "noise_robustness": ["test_noise[rgb-1-noise_rate=0]", "test_noise[rgb-1-noise_rate=0.4]"],
    "extractive_qa": ["test_it[q1]"],
    "extractive_qa or knowledge_application": ["test_it[q1]", "test_it[q2]"],
    "knowledge_seeking and not extractive_qa": [],
    "my_task": ["test_it[q3]"],
    "抽取式问答": ["test_it[q4]"],
    "rag(topic='Funds')": ["test_it[q1]", "test_it[q2]"],
    "rag(topic='Funds', task='multi_hop_qa')": ["test_it[q2]"],
    "rag(noise_rate='0.4')": ["test_noise[rgb-1-noise_rate=0.4]"],
    "rag(ability='noise_robustness') and not rag(noise_rate='0')": ["test_noise[rgb-1-noise_rate=0.4]"],
    "rag(year='1931')": ["test_it[q3]"],
    "rag(year=1931, task='my_task')": ["test_it[q3]"],
    "rag(noise_rate=0, topic='Funds')": [],
    "rag(system='rag_system') and rag(dataset='rgb')": [
        "test_noise[rgb-1-noise_rate=0]",
        "test_noise[rgb-1-noise_rate=0.4]",
    ],
    "rag(task='skip')": ["test_it[q5]"],
    "mine": [],
    "not rag": ["test_other"],
}


@pytest.mark.parametrize("expression", list(SELECTED))
def test_marker_expressions_select_cases(marked_cases: Project, expression: str) -> None:
    assert names(marked_cases, "--strict-markers", "-m", expression) == SELECTED[expression]


@pytest.mark.parametrize(
    ("expression", "ids"),
    [
        ("q1 and not q10", ["test_it[q1]", *(f"test_it[q{n}]" for n in range(11, 20))]),
        ("noise_robustness and 0.4", ["test_noise[rgb-1-noise_rate=0.4]"]),
        ("my_task", ["test_it[q3]"]),
        ("test_other", ["test_other"]),
    ],
)
def test_keyword_expressions_select_cases(marked_cases: Project, expression: str, ids: list[str]) -> None:
    assert names(marked_cases, "-k", expression) == ids


def test_a_task_with_the_name_of_a_pytest_marker_does_not_act_as_that_marker(marked_cases: Project) -> None:
    run = marked_cases.run("--strict-markers", "-W", "error")
    assert run.status == 0
    run.result.assert_outcomes(passed=len(ROWS) + 3)
    assert [outcome["facets"]["task"] for outcome in run.results["outcomes"][: len(ROWS)]] == [r["task"] for r in ROWS]


def test_markers_are_listed(project: Project) -> None:
    run = project.run("--markers")
    assert run.status == 0
    for line in (
        "@pytest.mark.rag_case(dataset, *, ability, metrics, gates, ...): one test for each case of a dataset*",
        "@pytest.mark.rag(**facets): the facets of a RAG case*",
        "@pytest.mark.noise_robustness: RAG cases of this ability*",
        "@pytest.mark.knowledge_seeking: RAG cases of this level*",
        "@pytest.mark.dialogue: RAG cases of this task*",
    ):
        run.said(line)
