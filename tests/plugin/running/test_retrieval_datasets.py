"""Questions of KILT, BEIR and RGB; the default system retrieves evidence from a corpus."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads modules, and this one loads only once per process
from support.projects.rag_project import Project

RUNS = """
    from pytest_rageval import rag_case

    @rag_case("{dataset}"{arguments})
    def test_it(rag):
        ...
"""


def write_project(project: Project, dataset: str, corpus: str, arguments: str) -> None:
    project.file("pytest.ini", f"[pytest]\nrag_corpus = {corpus}\nrag_top_k = 2")
    project.file("test_it.py", RUNS.replace("{dataset}", dataset).replace("{arguments}", f", {arguments}"))


@pytest.fixture
def data(project: Project, fixtures_dir: Path) -> Path:
    return Path(shutil.copytree(fixtures_dir / "datasets", project.path / "data"))


def values(project: Project, metric: str, *args: str) -> dict[str, float | None]:
    run = project.run(*args)
    assert run.status == 0, run.text
    return {name: outcome["scores"][metric].get("value") for name, outcome in run.outcomes.items()}


@pytest.mark.usefixtures("data")
def test_the_whole_pool_of_rgb_is_searched_and_its_positives_are_relevant(project: Project) -> None:
    metrics = 'metrics=["R@2", "nDCG@10", "page_Success@1"], gates=["R@2 >= 0.1", "Success@1 >= 0.5"]'
    write_project(project, "rgb:data/rgb/en.json", "rgb:data/rgb/en.json", f'passages="retrieved", {metrics}')
    run = project.run()
    assert run.status == 0, run.text
    assert {outcome["facets"]["passages"] for outcome in run.outcomes.values()} == {"retrieved"}
    assert run.outcomes["en-4"]["scores"]["R@2"]["reason"] == "not_applicable: no_qrels"  # it has no positives
    for name, outcome in run.outcomes.items():
        if name == "en-4":
            continue
        pool = run.results["instances"][name]["passages"].values()
        positives = {passage["page"] for passage in pool if passage["role"] == "positive"}
        doc_ids = [item["doc_id"] for item in outcome["answer"]["ranking"]]
        assert outcome["supplied"] == []
        assert outcome["scores"]["R@2"]["value"] == len(positives & set(doc_ids)) / len(positives)
        assert outcome["scores"]["page_Success@1"]["value"] == float(positives == {doc_ids[0]})


@pytest.mark.usefixtures("data")
def test_the_same_cases_can_run_with_supplied_and_with_retrieved_passages(project: Project) -> None:
    write_project(project, "rgb:data/rgb/en.json", "rgb:data/rgb/en.json", 'passages=[2, "retrieved"], metrics=["R@2"]')
    run = project.run()
    assert run.status == 0, run.text
    reasons = {
        (outcome["facets"]["passages"], outcome["scores"]["R@2"].get("reason"))
        for outcome in run.results["outcomes"]
        if outcome["case_id"] != "en-4"  # it has no positives
    }
    assert reasons == {("2", "not_applicable: no_qrels"), ("retrieved", None)}
    assert run.results["outcomes"][0]["nodeid"].endswith("-passages=2]")


def test_chunks_of_rgb_belong_to_their_passages(project: Project, data: Path) -> None:
    write_project(
        project, "rgb:data/rgb/en_int.json", "rgb:data/rgb/en_int.json", 'passages="retrieved", metrics=["page_R@2"]'
    )
    ini = project.path / "pytest.ini"
    ini.write_text(ini.read_text() + "rag_chunking = sentences 1\n")
    run = project.run()
    assert run.status == 0, run.text
    for outcome in run.outcomes.values():
        assert all(item["doc_id"] == item["page"] + "#0" for item in outcome["answer"]["ranking"])
        assert outcome["scores"]["page_R@2"]["value"] in (0.0, 1.0)


def test_queries_of_beir_search_its_corpus(project: Project, data: Path) -> None:
    write_project(project, "beir:data/beir", "data/beir", 'metrics=["nDCG@10", "R@2"], gates=["R@2 >= 1"]')
    assert values(project, "R@2") == {"1": 1.0, "2": 1.0}
    write_project(project, "beir:data/beir/qrels/dev.tsv", "data/beir", 'metrics=["R@2"]')
    before = project.run().results["run"]["fingerprint"]
    assert values(project, "R@2") == {"3": 1.0}
    queries = data / "beir" / "queries.jsonl"
    queries.write_text(queries.read_text(encoding="utf-8") + '{"_id": "4", "text": "?"}\n', encoding="utf-8")
    assert project.run().results["run"]["fingerprint"] != before


@pytest.mark.parametrize("name", ["kilt", "ralle"])
def test_pages_of_kilt_are_retrieved(project: Project, data: Path, name: str) -> None:
    pages = [("410", "Ostrava lighthouse: its tower is eleven men high."), ("411", "Ana Brook lit the first lamp.")]
    project.data([{"id": f"p{page}", "text": text, "page": page} for page, text in pages], "pages.jsonl")
    write_project(project, f"{name}:data/nq-dev-kilt.jsonl", "pages.jsonl", 'metrics=["page_Rprec", "kilt:accuracy"]')
    run = project.run("-m", "open_domain_qa")
    assert run.status == 0, run.text
    rprec = {n: outcome["scores"]["page_Rprec"] for n, outcome in run.outcomes.items()}
    assert rprec == {
        "lamp": {"value": 1.0}, "7": {"value": None, "reason": "not_applicable: no_provenance"},
        "unanswered": {"value": 1.0},
    }  # fmt: skip
    assert run.outcomes["unanswered"]["scores"]["kilt:accuracy"]["reason"] == "not_applicable: no_gold"
    assert run.results["instances"]["unanswered"]["provenance"] == [["410"], []]


def test_gold_passages_of_a_record_are_hidden_from_the_system(project: Project) -> None:
    gold = {"id": "d1", "text": "The museum opens at nine every day.", "role": "positive"}
    rows = [{"id": "q1", "question": "When is our museum open?", "answers": ["nine"], "passages": [gold]}]
    project.data(rows)
    project.file("docs.txt", "The shop closes at five.\nOur museum opens at nine every day but Monday.")
    write_project(
        project, "jsonl:cases.jsonl", "lines:docs.txt", 'passages="retrieved", relevance="overlap", metrics=["R@1"]'
    )
    assert values(project, "R@1") == {"q1": 1.0}
    (outcome,) = project.run().results["outcomes"]
    assert outcome["answer"]["ranking"][0]["doc_id"] == "docs.txt:2"
    (project.path / "docs.txt").write_text("Our museum is old.\nIts shop opens at nine.\n")
    assert values(project, "R@1") == {"q1": 0.0}


def test_passages_of_the_pool_do_not_reveal_gold(project: Project, data: Path) -> None:
    project.file(
        "conftest.py",
        """
        import json
        import pytest

        @pytest.fixture(scope="session")
        def rag_generator():
            def generate(query):
                return json.dumps([[p.id, p.role, p.page, dict(p.metadata)] for p in query.passages])
            return generate
    """,
    )
    write_project(project, "rgb:data/rgb/en.json", "rgb:data/rgb/en.json", 'passages="retrieved", metrics=["accuracy"]')
    run = project.run()
    for outcome in run.outcomes.values():
        for name, role, _, metadata in json.loads(outcome["answer"]["text"]):
            assert len(name) == 12
            assert (role, metadata) == ("", {})
