"""A run file in the ini instead of a retriever."""

from __future__ import annotations

from support.projects.rag_project import Mode, Project, case

QRELS = {"d1": 1}
CASES = [case("q1", "What is the warranty of a kettle?", "two years", qrels=QRELS), case("q2", "Who?", qrels=QRELS)]
RUN = "q1 Q0 d2 1 0.5 t\nq1 Q0 d1 2 1.5 t\nq2 Q0 d1 1 1 t\nq2 Q0 d2 2 3 t\n"
INI = "[pytest]\nrag_retriever = run:runs/mine.trec\n"
SILENT_MODEL = """
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="session")
    def rag_llm():
        return ScriptedLLM([])  # fails if it is asked

    @pytest.fixture(scope="session")
    def rag_judge(rag_llm):
        return rag_llm
"""


def write_project(project: Project, ini: str = INI, run: str = RUN) -> None:
    project.says(CASES, "gates=['RR >= 0.7']", conftest="")
    project.file("test_it.py", (project.path / "test_it.py").read_text().replace('["accuracy"]', '["RR"]'))
    project.file("pytest.ini", ini)
    project.file("runs/mine.trec", run)


def test_a_run_is_judged_without_a_corpus(project: Project) -> None:
    write_project(project)
    run = project.run()
    assert run.status == 0
    assert [run.outcomes[name]["scores"]["RR"]["value"] for name in ("q1", "q2")] == [1.0, 0.5]


def test_without_texts_answers_are_unscored_and_no_model_is_asked(project: Project) -> None:
    write_project(project)
    test = project.path / "test_it.py"
    test.write_text(
        test.read_text().replace('["RR"]', '["RR", "token_f1", "rejection_rate_judged", "closed_book_accuracy"]')
    )
    project.file("conftest.py", SILENT_MODEL)
    run = project.run()
    assert run.status == 0, run.text
    for name, rank in (("q1", 1.0), ("q2", 0.5)):
        scores = run.outcomes[name]["scores"]
        assert scores.pop("RR") == {"value": rank}
        assert len(scores) == 3
        assert all(score == {"value": None, "reason": "no_texts"} for score in scores.values())
    run.said("unscored: 2 no_texts (*")


def test_a_ranking_alone_costs_nothing(project: Project) -> None:
    write_project(project)
    usage = project.run().results["usage"]
    assert (usage["calls"], usage["prompt_tokens"], usage["cost_usd"]) == (0, 0, 0.0)


def test_texts_are_read_from_the_corpus(project: Project) -> None:
    write_project(project, f"{INI}rag_corpus = corpus.jsonl\n")
    texts = ("The warranty of a kettle lasts two years.", "Refunds take fourteen days.")
    project.data([{"id": f"d{number}", "text": text} for number, text in enumerate(texts, 1)], "corpus.jsonl")
    assert "two years" in project.run().outcomes["q1"]["answer"]["text"]


def test_a_case_that_is_not_in_the_run_is_an_error_and_no_zero(project: Project) -> None:
    write_project(project, run=RUN[: RUN.index("q2")])
    run = project.run()
    assert run.outcomes["q2"]["error_type"] == "not_in_run"
    assert run.outcomes["q1"]["status"] == "scored"
    assert run.outcomes["q2"]["error"].startswith("runs/mine.trec has no ranking of the id 'q2'; add one")


def test_a_malformed_run_is_one_error_with_the_line(project: Project) -> None:
    write_project(project, run=RUN.replace("1.5", "high"))
    run = project.run()
    assert run.status == 4
    assert "runs/mine.trec:2: score: found 'high', wanted a finite number" in run.result.stderr.str()


def test_a_model_can_be_asked_ahead_with_the_passages_of_the_run(project: Project, mode: Mode) -> None:
    write_project(project)
    project.file(
        "conftest.py",
        """
        import pytest
        from pytest_rageval.testing import ScriptedLLM

        @pytest.fixture(scope="session")
        def rag_llm():
            return ScriptedLLM("said", delay_s=0.01)
        """,
    )
    run = project.run(*mode)
    assert [run.outcomes[name]["scores"]["RR"]["value"] for name in ("q1", "q2")] == [1.0, 0.5]


def test_a_retriever_that_needs_no_corpus_is_built_without_one(project: Project) -> None:
    write_project(project, "[pytest]\nrag_retriever = mine\n")
    project.file(
        "conftest.py",
        """
        def mine(parts):
            assert parts.passages == ()
            return lambda query: [{"id": "d1", "text": query}]

        mine.needs_corpus = False

        def pytest_rageval_register(registry):
            registry.retrievers.register("mine", mine)
        """,
    )
    assert project.run().outcomes["q1"]["scores"]["RR"]["value"] == 1.0


def test_a_database_without_a_table_is_reported_in_one_sentence(project: Project) -> None:
    write_project(project, "[pytest]\nrag_retriever = pgvector\n")
    run = project.run()
    assert run.status == 4
    message = "rag_retriever_params names no table for pgvector to search; write table = NAME"
    assert f"ERROR: {message} [RAG101]\n" in run.result.stderr.str()
