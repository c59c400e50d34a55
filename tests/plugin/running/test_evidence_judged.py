"""Rankings judged by evidence: new chunking, retrievers without spans, missing evidence."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads modules, and this one loads only once per process
from support.projects.rag_project import Mode, Project, Row, case

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag):
        ...
"""
WORDS = [
    "the",
    "ferry",
    "tram",
    "desk",
    "opens",
    "early",
    "near",
    "old",
    "harbour",
    "with",
    "a",
    "map",
    "free",
    "seats",
]
FACTS = [f"Line {name} leaves pier {at} at {at}:15 on working days." for at, name in enumerate("ABCDEFGHIJKL", 1)]


def handbook(project: Project, chunking: str) -> list[Row]:
    """Write twelve pages of 600 words, a fact in each, and return a question for each fact."""
    rng = random.Random(7)
    for at, fact in enumerate(FACTS):
        filler = [rng.choice(WORDS) for _ in range(600)]
        place = rng.randrange(50, 550)
        project.file(f"docs/{at}.md", " ".join([*filler[:place], fact, *filler[place:]]))
    set_chunking(project, chunking, "rag_baseline = b.json")
    return [
        case(f"q{at}", f"When does line {fact[5]} leave pier {at + 1}?", f"{at + 1}:15", evidence=[quote(at, fact)])
        for at, fact in enumerate(FACTS)
    ]


def quote(page: int, text: str) -> Row:
    return {"page": f"docs/{page}.md", "quote": text.upper()}


def set_chunking(project: Project, chunking: str, *more: str) -> None:
    lines = ["[pytest]", "rag_corpus = docs/*.md", f"rag_chunking = {chunking}", *more]
    project.file("pytest.ini", "\n".join(lines))


def values(run: Any, metric: str) -> dict[str, Any]:
    scores = {name: outcome["scores"][metric] for name, outcome in run.outcomes.items()}
    return {name: score["reason"] if score["value"] is None else score["value"] for name, score in scores.items()}


def test_another_chunking_changes_neither_values_nor_pairs(project: Project, mode: Mode) -> None:
    project.says(handbook(project, "tokens 120 20"), "metrics=['R@5'], gates=['R@5 >= baseline']", TEST, conftest="")
    before = project.run(*mode, "--rag-update-baseline")
    assert before.status == 0, before.text
    assert values(before, "R@5") == {f"q{at}": 1.0 for at in range(12)}
    set_chunking(project, "tokens 100 20", "rag_baseline = b.json")
    after = project.run(*mode)
    assert after.status == 0, after.text
    assert values(after, "R@5") == values(before, "R@5")
    assert [outcome["data"] for outcome in after.outcomes.values()] == [
        outcome["data"] for outcome in before.outcomes.values()
    ]
    assert after.gates["R@5 >= baseline"]["status"] == "passed"
    assert after.gates["R@5 >= baseline"]["n"] == 12
    ids = {before.outcomes[name]["answer"]["ranking"][0]["doc_id"] for name in before.outcomes}
    assert ids != {after.outcomes[name]["answer"]["ranking"][0]["doc_id"] for name in after.outcomes}


def test_a_worse_retriever_fails_the_gate_with_the_cause_retrieval(project: Project) -> None:
    rows = handbook(project, "tokens 100 20")
    gates = "metrics=['R@1', 'accuracy'], gates=['R@1 >= baseline']"
    project.says(rows, gates, TEST, conftest="")
    assert project.run("--rag-update-baseline").status == 0
    blind = """
        import pytest
        from pytest_rageval import Ranking, ScoredPassage

        @pytest.fixture(scope="session")
        def rag_retriever():
            return lambda query, k: [{"id": "docs/0.md#0"}, {"id": "docs/1.md#0"}]
    """
    project.file("conftest.py", blind)
    run = project.run()
    assert run.status == 1
    assert sum(values(run, "R@1").values()) <= 1
    assert run.gates["R@1 >= baseline"]["status"] == "failed"
    assert "broke: retrieval 1" in run.prose


def museum(project: Project, *evidence: Any, arguments: str = "metrics=['R@5', 'nDCG@10']") -> None:
    """Write a project whose records q1, q2 ... have this evidence, over two pages."""
    project.file("docs/visit.md", "# Visit\n\nThe museum opens\nat 9:00. Tickets cost five euros.")
    project.file("docs/shop.md", "# Shop\n\nThe shop sells books. It closes at 18:00.")
    rows = [case(f"q{at}", "When does the museum open?", "9:00", evidence=each) for at, each in enumerate(evidence, 1)]
    project.says(rows, arguments, TEST, conftest="")
    set_chunking(project, "sentences 1")


OPENS = {"page": "docs/visit.md", "quote": "museum opens at 9:00"}


def test_a_chunk_without_the_answer_breaks_cases_with_the_cause_both(project: Project) -> None:
    """The retriever finds the first half of each quote, and the answer is in the second half."""
    facts = {f"q{at}": f"Sensor {name} measures the air in hall {at}" for at, name in enumerate("ABCDEFGH")}
    for name, fact in facts.items():
        project.file(f"docs/{name}.md", f"{fact}, which has no windows.")
    rows = [
        case(
            name,
            f"Where does sensor {fact[7]} measure?",
            fact[-6:],
            evidence=[{"page": f"docs/{name}.md", "quote": fact}],
        )
        for name, fact in facts.items()
    ]
    more = ("rag_baseline = b.json", "rag_top_k = 1")
    set_chunking(project, "sections", *more)
    gates = "metrics=['R@1', 'accuracy'], gates=['accuracy >= baseline']"
    project.says(rows, gates, TEST, conftest="")
    assert project.run("--rag-update-baseline").status == 0
    set_chunking(project, "tokens 6", *more)
    run = project.run()
    assert run.status == 1
    assert values(run, "R@1") == dict.fromkeys(facts, 1.0)
    assert {outcome["evidence"] for outcome in run.results["outcomes"]} == {0.5}
    run.said("  1 both: accuracy 1.00 -> 0.00 (8 of 8 broke*")
    process = project.command("show", "--case", "q0")
    assert "RE wrong: searched badly (the answer was not retrieved)" in process.stdout


def test_evidence_that_the_corpus_does_not_hold_is_unscored_and_counted(project: Project) -> None:
    missing = {"page": "docs/visit.md", "quote": "museum opens at 10:00"}
    museum(
        project,
        [OPENS],
        [missing],
        [[missing], [OPENS]],
        arguments="metrics=['R@5'], gates=['R@5 >= 0.5']",
    )
    run = project.run("-v")
    assert run.status == 0
    assert values(run, "R@5") == {"q1": 1.0, "q2": "evidence_not_in_corpus", "q3": 1.0}
    run.said("unscored: 1 evidence_not_in_corpus (R@5)")
    warning = (
        "test_it.py::test_it: rag_corpus does not hold the evidence of 1 of 3 cases with evidence, and their rankings "
        "are unscored (evidence_not_in_corpus); the first at cases.jsonl:2: the quote 'museum opens at 10:00' of its "
        "evidence is not in the document 'docs/visit.md'; run rageval lint --corpus"
    )
    assert run.prose.count(warning) == 1
    assert run.results["instances"]["q2"]["evidence"] == [[missing | {"grade": 1}]]


def test_reports_without_texts_hold_no_quote(project: Project) -> None:
    museum(project, [OPENS], [{"page": "docs/visit.md", "quote": "Xylophone"}])
    set_chunking(project, "sentences 1", "rag_report_texts = false")
    run = project.run()
    run.said("*the first at cases.jsonl:2; run rageval lint --corpus*")
    assert "Xylophone" not in json.dumps(run.results) + run.text
    assert run.results["instances"]["q2"]["evidence"] == [[{"page": "docs/visit.md", "grade": 1}]]


@pytest.mark.parametrize("retriever", ["callable", "langchain", "own corpus", "recorded texts", "recorded ids"])
def test_evidence_recall_is_computed_for_every_kind_of_retriever(project: Project, retriever: str) -> None:
    span = {"page": "docs/visit.md", "span": [9, 34]}
    museum(project, [OPENS], [span], [{"page": "docs/shop.md", "quote": "It closes at 18:00"}])
    text = "# Visit\n\nThe museum opens at 9:00."
    args: tuple[str, ...] = ()
    if retriever.startswith("recorded"):
        texts = {"id": "a17", "page": "docs/visit.md", "text": text}
        item = {"id": "docs/visit.md#1"} if retriever.endswith("ids") else texts
        rows = [{"id": f"q{at}", "answer": "At 9:00.", "ranking": [item]} for at in (1, 2, 3)]
        project.file("answers.jsonl", "\n".join(map(json.dumps, rows)))
        args = ("--rag-answers", "answers.jsonl")
    else:
        project.file("conftest.py", CONFTESTS[retriever].replace("{text}", repr(text)))
    run = project.run(*args)
    assert run.status == 0, run.text
    expected = {"q1": 1.0, "q2": 1.0, "q3": "evidence_not_in_corpus" if retriever == "own corpus" else 0.0}
    assert values(run, "R@5") == expected
    assert values(run, "nDCG@10") == expected


CONFTESTS = {
    "callable": """
        import pytest

        @pytest.fixture(scope="session")
        def rag_retriever():
            return lambda query, k: [("nothing at all", 2.0), ({text}, 1.0)][1:]
    """,
    "langchain": """
        import pytest
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever

        class Fixed(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                return [Document({text}, metadata={"source": "docs/visit.md"})]

        @pytest.fixture(scope="session")
        def rag_retriever():
            return Fixed()
    """,
    "own corpus": """
        import pytest
        from pytest_rageval import Passage

        @pytest.fixture(scope="session")
        def rag_corpus():
            return [Passage("docs/visit.md", {text})]
    """,
}
