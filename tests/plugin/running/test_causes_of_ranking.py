"""Broken cases of a ranking metric have the cause retrieval, even with all evidence."""

from __future__ import annotations

import json

from support.projects.rag_project import Project, case

N = 8
CORPUS = [{"id": f"p{at}", "text": f"The dish {at} costs {at + 10} euros."} for at in range(N)]
CASES = [case(f"q{at}", f"What does the dish {at} cost?", f"{at + 10} euros", qrels={f"p{at}": 1}) for at in range(N)]
CONFTEST = """
    import pytest
    from pytest_rageval import Ranking, ScoredPassage

    class Numbered:
        def __init__(self, passages):
            self.passages = {passage.id: passage for passage in passages}

        def search(self, query, k):
            number = int(query.split()[4])
            best = [self.passages[f"p{number}"], self.passages[f"p{(number + 1) % len(self.passages)}"]]
            return Ranking(tuple(ScoredPassage(p.id, 1.0 / rank, p.text) for rank, p in enumerate({order}, 1)))

    @pytest.fixture(scope="session")
    def rag_retriever(rag_corpus):
        return Numbered(rag_corpus)

    @pytest.fixture(scope="session")
    def rag_generator():
        return lambda query: {answer}
"""


def conftest(order: str, answer: str) -> str:
    return CONFTEST.replace("{order}", order).replace("{answer}", answer)


def test_lower_ranked_evidence_is_a_retrieval_cause_of_the_ranking_metric_only(project: Project) -> None:
    gates = 'gates=["RR >= baseline", "accuracy >= baseline"]'
    right = "next(p.text for p in query.passages if query.question.split()[4] in p.text.split())"
    project.says(CASES, gates, conftest=conftest("best", right))
    test = project.path / "test_it.py"
    test.write_text(test.read_text(encoding="utf-8").replace('["accuracy"]', '["RR", "accuracy"]'), encoding="utf-8")
    project.file("corpus.jsonl", "".join(json.dumps(row) + "\n" for row in CORPUS))
    project.file("pytest.ini", "[pytest]\nrag_corpus = jsonl:corpus.jsonl\nrag_top_k = 2\n")
    baseline = ("--rag-baseline", "rag-baseline.json")
    assert project.run(*baseline, "--rag-update-baseline").status == 0
    project.file("conftest.py", conftest("best[::-1]", "'Ask the waiter.'"))
    run = project.run(*baseline, "--rag-markdown", "rag.md", "--rag-html", "rag.html")
    assert run.status == 1
    none = {"retrieval": 0, "generation": 0, "both": 0, "unknown": 0}
    causes = {each["metric"]: each["causes"] for each in run.results["comparison"]["comparisons"] if not each["slice"]}
    assert causes == {"RR": none | {"retrieval": N}, "accuracy": none | {"generation": N}}
    run.said("*RR >= baseline*", f"*broke: retrieval {N}", "*accuracy >= baseline*", f"*broke: generation {N}")
    rows = (project.path / "rag.md").read_text(encoding="utf-8")
    assert rows.count("| retrieval |") == N
    assert "| generation |" not in rows
