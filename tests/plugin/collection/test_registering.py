"""``pytest_rageval_register``: conftests and plugins register names of their own."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, cases
from support.projects.refused_projects import refused
from test_multiplying import names

REGISTERS = """
    from pathlib import Path
    from pytest_rageval import Instance, Metric, Passage, Score

    def lines(path):
        return tuple(
            Instance(id=f"line-{n}", question=line, gold=(("Paris",),), origin=f"{path.name}:{n}")
            for n, line in enumerate(path.read_text().splitlines(), 1)
        )

    def brevity(sample):
        return Score(1.0 if len(sample.answer.text) < 10 else 0.0)

    class Finds:
        def __init__(self, parts): self.corpus = parts.passages
        def search(self, query, k): ...

    def pytest_rageval_register(registry):
        registry.datasets.register("lines", lines)
        registry.metrics.register("brevity", Metric("brevity", brevity))
        registry.systems.register("parrot", lambda parts: lambda query: query.question)
        registry.retrievers.register("finds", Finds)
        assert "bm25" in registry.retrievers
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("lines:questions.txt", metrics=["accuracy", "brevity"], gates=["brevity >= 0.5"])
    def test_it(rag):
        rag.check("brevity >= 0")
"""

PLACES = {
    "conftest": ("conftest.py", "", ()),
    "sub conftest": ("sub/deep/conftest.py", "sub/deep/", ()),
    "plugin": ("own_names.py", "", ("-p", "own_names")),
}


def prepare(project: Project, place: str) -> tuple[str, ...]:
    file, folder, args = PLACES[place]
    project.file(file, REGISTERS)
    project.file(f"{folder}questions.txt", "Paris\nRome\n")
    project.file(f"{folder}test_it.py", TEST)
    return args


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "n2"])
def test_registered_components_are_used(
    project: Project, workers: Mode, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = prepare(project, place)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    args = (*args, *workers, "--rag-system", "parrot", "--rag-gate", "brevity >= 1")
    run = project.run(*args, subprocess=place == "plugin")
    assert run.status == 0, run.text + run.result.stderr.str()
    assert {name: outcome["scores"] for name, outcome in run.outcomes.items()} == {
        "line-1": {"accuracy": {"value": 1.0}, "brevity": {"value": 1.0}},
        "line-2": {"accuracy": {"value": 0.0}, "brevity": {"value": 1.0}},
    }
    assert run.gates["brevity >= 0.5"]["status"] == "passed"


def test_a_suite_uses_registered_components(project: Project) -> None:
    prepare(project, "conftest")
    project.file("own.rag.toml", '[[testbed]]\nname = "own"\ndataset = "lines:questions.txt"\nmetrics = ["brevity"]\n')
    assert names(project, "own.rag.toml", "-o", "rag_system=parrot") == ["own[line-1]", "own[line-2]"]


def test_a_misspelt_name_is_corrected_to_a_registered_one(project: Project) -> None:
    prepare(project, "conftest")
    assert "did you mean 'parrot'?" in refused(project, "--rag-system", "parot")
    assert "did you mean 'brevity'?" in refused(project, "--rag-gate", "brevty >= 1")


DUPLICATES = {
    "datasets": ("jsonl", "dataset format 'jsonl' is already registered; choose another name"),
    "metrics": ("accuracy", "metric 'accuracy' is already registered; choose another name"),
    "systems": ("extractive", "system 'extractive' is already registered; choose another name"),
    "retrievers": ("bm25", "retriever 'bm25' is already registered; choose another name"),
}


@pytest.mark.parametrize("kind", list(DUPLICATES))
@pytest.mark.parametrize("folder", ["", "sub/"])
def test_a_duplicate_name_is_refused(project: Project, kind: str, folder: str) -> None:
    name, sentence = DUPLICATES[kind]
    project.says(cases("say Paris"))
    hook = f"def pytest_rageval_register(registry):\n    registry.{kind}.register({name!r}, None)\n"
    project.file(f"{folder}conftest.py", hook)
    project.file("sub/test_sub.py", "def test_sub(): ...\n")
    assert refused(project) == f"{folder}conftest.py:2: {sentence}"


def test_two_conftests_that_register_the_same_name_are_refused(project: Project) -> None:
    project.says(cases("say Paris"))
    project.file("conftest.py", REGISTERS)
    project.file("sub/conftest.py", REGISTERS)
    project.file("sub/test_sub.py", "def test_sub(): ...\n")
    assert "dataset format 'lines' is already registered" in refused(project)
    assert "dataset format 'lines' is already registered" in refused(project, "sub")


@pytest.mark.parametrize("folder", ["", "sub/"])
def test_workers_refuse_a_duplicate_name_in_the_same_words(project: Project, folder: str) -> None:
    project.says(cases("say Paris"))
    hook = "def pytest_rageval_register(registry):\n    registry.metrics.register('accuracy', None)\n"
    project.file(f"{folder}conftest.py", hook)
    project.file("sub/test_sub.py", "def test_sub(): ...\n")
    assert refused(project, "-n2") == f"{folder}conftest.py:2: {DUPLICATES['metrics'][1]}"


def test_a_loader_that_returns_no_record_is_refused(project: Project) -> None:
    prepare(project, "conftest")
    (project.path / "questions.txt").write_text("")
    assert refused(project) == "test_it.py:3: dataset 'lines:questions.txt' has no record; it needs at least one"


def test_a_registered_system_is_not_built_before_it_answers(project: Project) -> None:
    prepare(project, "conftest")
    project.file("sub/conftest.py", """
        def broken(parts): raise RuntimeError("made too early")
        def pytest_rageval_register(registry):
            registry.systems.register("broken", broken)
    """)  # fmt: skip
    project.file("sub/test_sub.py", "def test_sub(): ...\n")
    assert project.run("--collect-only", "--rag-system", "broken", json_path=None).status == 0
