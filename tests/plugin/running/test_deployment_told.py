"""Facts about a retriever in the results: reported once, from whichever process built it."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project

CONFTEST = """
    import pytest
    from pytest_rageval import Passage, Ranking, ScoredPassage

    class Shelf:
        in_place = True

        def __init__(self, parts):
            self.passages = parts.passages
            self.facts = {"retriever": "shelf", "passages": len(parts.passages), "reach": parts.params["reach"]}

        def search(self, query, k):
            self.facts["load_s"] = 0.25  # known from the first search on
            return Ranking(tuple(ScoredPassage(p.id, 1.0 / n, p.text) for n, p in enumerate(self.passages[:k], 1)))

    def pytest_rageval_register(registry):
        registry.retrievers.register("shelf", Shelf)

    @pytest.fixture(scope="session")
    def rag_corpus():
        return [Passage("d1", "The capital is Rome."), Passage("d2", "The capital is Paris.")]
"""

ROWS = [{"id": f"q{n}", "question": "What is the capital?", "answers": ["Paris"]} for n in range(6)]


@pytest.fixture
def shelf(project: Project) -> Project:
    project.says(ROWS, "gates=['accuracy >= 0']", conftest=CONFTEST)
    project.file("pytest.ini", "[pytest]\nrag_retriever = shelf\nrag_retriever_params =\n    reach = 3\n")
    return project


def test_results_and_summary_report_facts_and_times_of_a_retriever(shelf: Project, mode: Mode) -> None:
    run = shelf.run("-v", *mode)
    assert run.status == 0
    deployment = run.results["deployment"]
    (retriever,) = deployment["retrievers"]
    assert retriever["name"] == "shelf"
    assert retriever["facts"] == {"retriever": "shelf", "passages": 2, "reach": 3, "load_s": 0.25}
    assert retriever["queries"]["n"] == 6
    assert [(each["stage"], each["seconds"]["n"]) for each in deployment["stages"]] == [
        ("retrieve", 6),
        ("generate", 6),
    ]
    assert all(o["answer"]["trace"][0]["detail"]["seconds"] >= 0 for o in run.results["outcomes"])
    run.result.stdout.fnmatch_lines(
        ["retrievers - *", "retriever *shelf", "load *0.25", "stages - *", "extractive *retrieve *6 *"]
    )


def test_a_retriever_parameter_without_a_value_is_a_usage_error(shelf: Project) -> None:
    shelf.file("pytest.ini", "[pytest]\nrag_retriever = shelf\nrag_retriever_params =\n    reach\n")
    run = shelf.run()
    assert run.status == 4
    assert "rag_retriever_params has the line 'reach'; write 'name = value'" in run.result.stderr.str()


def test_the_plugins_own_retrievers_refuse_settings_they_do_not_have(shelf: Project) -> None:
    shelf.file("pytest.ini", "[pytest]\nrag_retriever_params =\n    k = 3\n")
    run = shelf.run()
    assert run.status == 1
    error = "system 'extractive' could not be built: rag_retriever_params has the unknown setting 'k'; "
    assert error in run.text


def test_nothing_is_reported_for_supplied_passages(project: Project) -> None:
    project.says([{**ROWS[0], "passages": [{"id": "p", "text": "Paris is the capital."}]}], conftest="")
    run = project.run("-v")
    assert "deployment" not in run.results
    assert "stages -" not in run.text
