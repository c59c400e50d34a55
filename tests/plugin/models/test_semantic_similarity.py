"""``semantic_similarity`` in sessions: batched over cases, with a user's or a local model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.projects.rag_project import Project, cases

from pytest_rageval.retrieval import local_embedder

RUNS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["semantic_similarity"])
    def test_it(rag): ...
"""
SYSTEM = """
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        async def say(query):
            return query.question.removeprefix("say ")
        return say
"""
EMBEDS = """
    from pathlib import Path

    from pytest_rageval import Embeddings

    class Letters:
        name, revision = "letters", "2"

        async def embed(self, texts, **params):
            with Path("calls.txt").open("a") as file:
                print(len(texts), file=file)
            if any("!" in text for text in texts):
                raise RuntimeError("no such letter")
            return Embeddings([[text.count(letter) for letter in "Pairs"] + [0.1] for text in texts])

    @pytest.fixture(scope="session")
    def rag_embedder():
        return Letters()
"""


def write_project(project: Project, *questions: str, conftest: str = SYSTEM + EMBEDS) -> Project:
    project.data(cases(*questions))
    project.file("conftest.py", conftest)
    project.file("test_it.py", RUNS)
    return project


def test_cases_are_compared_in_few_calls(project: Project) -> None:
    run = write_project(project, *["say Paris", "say Pisa", "say xyz"] * 20).run()
    values = [outcome["scores"]["semantic_similarity"]["value"] for outcome in run.outcomes.values()]
    assert values[0] == pytest.approx(1.0)
    assert 0 < values[1] < 1
    assert run.results["run"]["versions"]["embedder"] == "letters"
    assert run.results["run"]["versions"]["embedder_revision"] == "2"
    calls = [int(line) for line in (project.path / "calls.txt").read_text().split()]
    assert sum(calls) <= 6  # three distinct texts in each process


def test_concurrency_1_gives_the_same_scores(project: Project) -> None:
    run = write_project(project, "say Paris", "say Paris").run("--rag-concurrency=1")
    assert [o["scores"]["semantic_similarity"]["value"] for o in run.outcomes.values()] == [pytest.approx(1.0)] * 2


def test_an_exception_of_the_model_is_an_error_of_the_case(project: Project) -> None:
    run = write_project(project, "say !").run()
    assert run.outcomes["q1"]["error_type"] == "embedder_error"
    assert "the embedding model failed on case 'q1': RuntimeError: no such letter" in run.outcomes["q1"]["error"]


def test_the_metric_is_unscored_without_a_model(project: Project) -> None:
    run = write_project(project, "say Paris", conftest=SYSTEM).run()
    assert run.outcomes["q1"]["scores"]["semantic_similarity"] == {"value": None, "reason": "embedder_unavailable"}


def test_recordings_replay_in_any_order(project: Project) -> None:
    write_project(project, "say Paris", "say Pisa", "say Rome")
    recorded = project.run("--rag-record-mode=once")
    (project.path / "calls.txt").unlink()
    replayed = project.run("--rag-record-mode=none", "-n2")
    assert not (project.path / "calls.txt").exists()
    for name, outcome in recorded.outcomes.items():
        assert replayed.outcomes[name]["scores"] == outcome["scores"]


class Letters:
    """Replaces a model of sentence-transformers; its digest is the name of its folder."""

    def __init__(self, model: str, *args: object, retriever: str) -> None:
        self.digest = Path(model).name

    def encode(self, texts: Sequence[str]) -> Any:
        return np.array([[text.count(letter) for letter in "Pairs"] + [0.1] for text in texts])


def test_a_local_model_needs_no_fixture(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "find_spec", lambda name: name)
    monkeypatch.setattr(local_embedder, "SentenceEncoder", Letters)
    (project.path / "small").mkdir()
    project.file("pytest.ini", "[pytest]\nrag_embedder_model = sentence-transformers/small")
    run = write_project(project, "say Paris", "say Rome", conftest=SYSTEM).run(
        "--rag-budget-usd=1", "--rag-budget-partial"
    )
    near, far = (outcome["scores"]["semantic_similarity"]["value"] for outcome in run.outcomes.values())
    assert near == pytest.approx(1.0)
    assert far < 0.9
    versions = run.results["run"]["versions"]
    assert (versions["embedder"], versions["embedder_revision"]) == ("sentence-transformers/small", "small")


def test_a_local_model_takes_no_parameters(project: Project) -> None:
    project.file("pytest.ini", "[pytest]\nrag_embedder_model = sentence-transformers/x\nrag_embedder_params = a = 1")
    run = write_project(project, "say Paris", conftest=SYSTEM).run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    errors = run.result.stderr.str()
    assert "rag_embedder_params has a, and sentence-transformers/x takes no parameters" in errors


def test_a_missing_model_is_reported_before_any_test_runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "find_spec", lambda name: name)
    project.file("pytest.ini", "[pytest]\nrag_embedder_model = sentence-transformers/no/such/x")
    run = write_project(project, "say Paris", "say Rome", conftest=SYSTEM).run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    errors = run.result.stderr.str() + run.text
    assert "rag_embedder_model cannot load the model 'no/such/x'" in errors
    assert "asyncio" not in errors
    assert run.results is None


def test_replay_and_dry_run_need_no_local_embedding_model(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "find_spec", lambda name: name)
    monkeypatch.setattr(local_embedder, "SentenceEncoder", Letters)
    (project.path / "small").mkdir()
    project.file("pytest.ini", "[pytest]\nrag_embedder_model = sentence-transformers/small")
    recorded = write_project(project, "say Paris", conftest=SYSTEM).run("--rag-record-mode=once")
    (project.path / "small").rmdir()
    replayed = project.run("--rag-record-mode=none")
    assert replayed.outcomes["q1"]["scores"] == recorded.outcomes["q1"]["scores"]
    assert project.run("--rag-dry-run").status == 0
