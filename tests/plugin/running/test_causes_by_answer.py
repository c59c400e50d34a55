"""Causes of broken cases without labels: whether the passages contain the gold answer."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case

UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
AGAINST = ("--rag-baseline", "rag-baseline.json")
DISHES = (
    "soup",
    "salad",
    "pasta",
    "risotto",
    "goulash",
    "curry",
    "stew",
    "pie",
    "omelette",
    "pancake",
    "ramen",
    "taco",
)
NO_LABELS = [case(f"q{at}", f"What does the {dish} cost?", f"{at + 10} euros") for at, dish in enumerate(DISHES)]
MENU = "".join(f"The {dish} costs {at + 10} euros.\n" for at, dish in enumerate(DISHES))
PARTS = """
    import pytest
    from pytest_rageval import Ranking, ScoredPassage

    class Always:
        def __init__(self, passage):
            self.ranking = Ranking((ScoredPassage(passage.id, 1.0, passage.text),))

        def search(self, query, k):
            return self.ranking

    {retriever}
    @pytest.fixture(scope="session")
    def rag_generator():
        return lambda query: {answer}
"""
BROKEN_RETRIEVER = """@pytest.fixture(scope="session")
    def rag_retriever(rag_corpus):
        return Always(rag_corpus[0])
"""
SUPPLIED = """
    import pytest

    def answer(query):
        return {answer}

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def parts(retriever: str = "", answer: str = "query.passages[0].text") -> str:
    return PARTS.replace("{retriever}", retriever).replace("{answer}", answer)


@pytest.fixture
def menu(project: Project) -> Project:
    """Make a project without labels, and its baseline without a missed case."""
    project.says(NO_LABELS, 'gates=["accuracy >= baseline"]', conftest=parts())
    project.file("menu.txt", MENU)
    project.file("pytest.ini", "[pytest]\nrag_corpus = lines:menu.txt\nrag_top_k = 2\n")
    assert project.run(*UPDATE).status == 0
    return project


@pytest.mark.parametrize(
    ("conftest", "cause", "n"),
    [(parts(BROKEN_RETRIEVER), "retrieval", 11), (parts(answer="'Ask the waiter.'"), "generation", 12)],
    ids=["retriever", "prompt"],
)
def test_the_report_separates_a_broken_retriever_from_a_broken_prompt(
    menu: Project, conftest: str, cause: str, n: int
) -> None:
    menu.file("conftest.py", conftest)
    run = menu.run("-v", *AGAINST, "--rag-markdown", "rag.md", "--rag-html", "rag.html")
    assert run.status == 1
    (comparison,) = run.results["comparison"]["comparisons"]
    assert comparison["causes"] == {"retrieval": 0, "generation": 0, "both": 0, "unknown": 0} | {cause: n}
    assert comparison["by_answer"] == n
    run.said(f"*broke: {cause} {n}, by answer*", f"test_it accuracy: broke *({cause} {n}, by answer)")
    assert f"| {cause} by answer |" in (menu.path / "rag.md").read_text(encoding="utf-8")
    assert f"{n} {cause}, by answer" in (menu.path / "rag.html").read_text(encoding="utf-8")


def test_the_cause_is_generation_with_supplied_passages_and_unknown_without_texts(project: Project) -> None:
    passages = [{"id": "p", "text": "It costs 10 euros."}]
    rows = [case(f"q{at}", "What does it cost?", "10 euros", passages=passages) for at in range(6)]
    for row, causes in (({}, {"generation": 6}), ({"passages": None}, {"unknown": 6})):
        records = [{name: value for name, value in (each | row).items() if value is not None} for each in rows]
        project.says(records, conftest=SUPPLIED.replace("{answer}", '"10 euros"'))
        assert project.run(*UPDATE).status == 0
        project.file("conftest.py", SUPPLIED.replace("{answer}", '"nothing"'))
        (comparison,) = project.run(*AGAINST).results["comparison"]["comparisons"]
        assert comparison["causes"] == {"retrieval": 0, "generation": 0, "both": 0, "unknown": 0} | causes
