"""Planted regressions: the first sentence of the account names the cause."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Row, case

BASELINE = ("--rag-baseline", "rag-baseline.json")
THINGS: dict[str, tuple[str, ...]] = {
    "Food": ("soup", "salad", "pasta", "risotto", "goulash", "curry", "stew", "pie"),
    "Travel": ("ferry", "tram", "bus", "taxi", "train", "gondola", "bicycle", "scooter"),
    "Stay": ("hotel", "hostel", "cabin", "villa", "tent", "houseboat", "castle", "lodge"),
}
THINGS_ZH: dict[str, tuple[str, ...]] = {
    "Food": ("米饭", "面条", "饺子", "豆腐"),
    "Travel": ("地铁", "轮船", "飞机", "马车"),
}
INI = """
    [pytest]
    rag_corpus = docs/*.md
    rag_chunking = tokens {size} 0
    rag_top_k = 2
    rag_judge_model = script:judge.toml
"""
DESK = """
    import re
    from pathlib import Path

    import pytest
    from pytest_rageval import Ranking, ScoredPassage

    HERE = Path(__file__).parent
    STATE = (HERE / "state.txt").read_text().strip()
    FOOD = "soup salad pasta risotto goulash curry stew pie".split() + list("米饭面条饺子豆腐")
    STAY = "hotel hostel cabin villa tent houseboat castle lodge".split()

    def prompt(query):
        if "terse" in STATE:
            return "short"
        if "model" in STATE:
            return "declines"
        if "zh" in STATE and query.language == "zh":
            return "declines"
        if "topic" in STATE and words(query.question) & set(STAY):
            return "short"
        return "full"

    def write(query):
        if "raises" in STATE and "ferry" in query.question:
            raise ConnectionError("the model's server closed the connection")
        style = prompt(query)
        if style == "declines":
            return "I cannot answer this question."
        if not query.passages:
            return "I cannot answer this question."
        text = " ".join(passage.text for passage in query.passages)
        return text if style == "full" else text[:6]

    @pytest.fixture(scope="session")
    def rag_generator():
        return write

    def words(text):
        return set(re.findall(r"[a-z]+|[\u4e00-\u9fff]", text.lower())) - set("a for one day does what cost".split())

    class Words:
        def __init__(self, corpus):
            self.corpus = list(corpus)

        def search(self, query, k):
            query_words = words(query)
            if "lost" in STATE and ("both" not in STATE or query_words & set(FOOD)):
                return Ranking(())
            ranking = sorted(self.corpus, key=lambda each: (-len(query_words & words(each.text)), each.id))
            return Ranking(tuple(ScoredPassage(each.id, 1 / at, each.text) for at, each in enumerate(ranking[:k], 1)))

    @pytest.fixture(scope="session")
    def rag_retriever(rag_corpus):
        return Words(rag_corpus)
"""
JUDGE = """
    [[reply]]
    text = '{"reason": "as told", "label": "LABEL"}'
"""
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "R@2"{judge}], gates=[{gates}])
    def test_town(rag):
        ...
"""


def write_town(project: Project, *, with_judge: bool = False) -> None:
    """Write cases about 32 prices in two languages, their tests, and a baseline of the good state."""
    rows: list[Row] = []
    for topic, things in THINGS.items():
        for thing in things:
            at = 10 + len(rows)
            fact = f"A {thing} for one day costs {at} euros."
            question = f"What does a {thing} cost for one day?"
            rows.append(_case(project, topic, thing, "en", fact, question, f"{at} euros"))
    for topic, things in THINGS_ZH.items():
        for thing in things:
            at = 10 + len(rows)
            fact = f"一份{thing}的价格是{at}元。"
            rows.append(_case(project, topic, thing, "zh", fact, f"一份{thing}的价格是多少？", f"{at}元"))
    project.data(rows)
    project.file("pytest.ini", INI.replace("{size}", "60"))
    project.file("conftest.py", DESK)
    gates = "'accuracy >= baseline', 'R@2 >= baseline'" + (", 'accuracy_judged >= baseline'" if with_judge else "")
    project.file(
        "test_town.py", TEST.replace("{judge}", ", 'accuracy_judged'" if with_judge else "").replace("{gates}", gates)
    )
    project.file("state.txt", "good")
    project.file("judge.toml", JUDGE.replace("LABEL", "right"))
    run = project.run(*BASELINE, "--rag-update-baseline")
    assert run.status == 0, run.text
    assert all(each["scores"]["accuracy"]["value"] == 1 for each in run.results["outcomes"])


def _case(project: Project, topic: str, thing: str, language: str, fact: str, question: str, gold: str) -> Row:
    project.file(f"docs/{thing}.md", fact)
    evidence = [{"page": f"docs/{thing}.md", "quote": fact}]
    return case(f"{topic}-{thing}", question, gold, topic=topic, language=language, evidence=evidence)


def run_account(project: Project, *args: str) -> Any:
    run = project.run(*BASELINE, *args)
    assert run.status == 1, run.text
    return run.results["account"]


def first_sentence(account: Any) -> str:
    sentence: str = account["findings"][0]["sentence"]
    return sentence


def test_a_broken_retriever_is_named_as_the_cause(project: Project, mode: Mode) -> None:
    write_town(project)
    project.file("state.txt", "lost")
    account = run_account(project, *mode)
    assert account["verdict"] == "2 of 2 gates failed - 32 cases broke, 1 cause"
    assert first_sentence(account) == "retrieval: accuracy 1.00 -> 0.00 (32 of 32 broke, p < 0.001), passages missing"


def test_a_changed_prompt_is_reported_as_generation(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "terse")
    account = run_account(project)
    assert account["verdict"] == "1 of 2 gates failed - 32 cases broke, 1 cause"
    assert first_sentence(account) == "generation: accuracy 1.00 -> 0.00 (32 of 32 broke, p < 0.001), answers shorter"


def test_another_model_that_abstains_is_named_as_the_cause(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "model")
    assert (
        first_sentence(run_account(project))
        == "generation: accuracy 1.00 -> 0.00 (32 of 32 broke, p < 0.001), abstained"
    )


def test_removed_documents_are_reported_as_missing(project: Project) -> None:
    write_town(project)
    for thing in THINGS["Travel"]:
        (project.path / f"docs/{thing}.md").unlink()
    account = run_account(project)
    assert (
        first_sentence(account)
        == "missing document: topic=Travel accuracy 1.00 -> 0.33 (8 of 12 broke, p 0.0078), passages missing"
    )


def test_chunks_that_cut_the_evidence_are_reported_as_retrieval(project: Project) -> None:
    write_town(project)
    project.file("pytest.ini", INI.replace("{size}", "3"))
    assert first_sentence(run_account(project)).startswith("retrieval: ")


def test_a_stricter_judge_is_named_as_the_cause(project: Project) -> None:
    write_town(project, with_judge=True)
    project.file("judge.toml", JUDGE.replace("LABEL", "wrong"))
    assert first_sentence(run_account(project)) == "judge: accuracy_judged 1.00 -> 0.00 (32 of 32 broke, p < 0.001)"


def test_a_drop_in_one_topic_is_named_with_the_topic(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "topic")
    account = run_account(project)
    assert (
        first_sentence(account)
        == "generation: topic=Stay accuracy 1.00 -> 0.00 (8 of 8 broke, p 0.0078), answers shorter"
    )


def test_a_drop_in_one_language_is_named_with_the_language(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "zh")
    account = run_account(project)
    assert (
        first_sentence(account) == "generation: language=zh accuracy 1.00 -> 0.00 (8 of 8 broke, p 0.0039), abstained"
    )


def test_errors_are_the_first_cause(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "raises")
    account = run_account(project)
    assert account["verdict"].endswith(" - 1 error, 1 cause")
    assert first_sentence(account).startswith("error system_error: 1 of 32 cases: ")
    assert "the model's server closed the connection" in first_sentence(account)


def test_two_causes_at_once_are_separated(project: Project) -> None:
    write_town(project)
    project.file("state.txt", "lost both topic")
    account = run_account(project)
    sentences = [each["sentence"] for each in account["findings"]]
    assert sentences == [
        "retrieval: topic=Food accuracy 1.00 -> 0.00 (12 of 12 broke, p < 0.001), passages missing",
        "generation: topic=Stay accuracy 1.00 -> 0.00 (8 of 8 broke, p 0.0078), answers shorter",
    ]
    assert account["verdict"] == "2 of 2 gates failed - 20 cases broke, 2 causes"


def test_an_unchanged_system_has_no_findings(project: Project) -> None:
    write_town(project)
    run = project.run(*BASELINE)
    assert run.status == 0
    assert run.results["account"] == {"verdict": "all 2 gates hold", "state": "passed", "findings": []}


@pytest.mark.parametrize("state", ["terse", "lost"])
def test_fixed_cases_are_reported_as_an_improvement(project: Project, state: str) -> None:
    write_town(project)
    project.file("state.txt", state)
    project.run(*BASELINE, "--rag-update-baseline")
    project.file("state.txt", "good")
    project.file("judge.toml", JUDGE.replace("LABEL", "right"))
    run = project.run(*BASELINE)
    assert run.status == 0
    (finding, *_) = run.results["account"]["findings"]
    assert finding["kind"] == "improvement"
    assert finding["sentence"] == "improved: accuracy 0.00 -> 1.00 (32 of 32 fixed, p < 0.001)"
