"""A corpus that cannot be used: one sentence, exit status 4, nothing run."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project
from support.projects.refused_projects import refused

CASE = {"id": "q1", "question": "Who?", "answers": ["Ann"]}
FILES = {"ok.jsonl": '{"id": "a", "text": "A."}\n', "docs/a.md": "# A\n"}

FAULTS = {
    "a bad line": ("kb.jsonl", '{"id": "a", "text": "A."}\n{"id"', "kb.jsonl:2: invalid JSON at column 6"),
    "an id twice": (
        "kb.jsonl\n ok.jsonl",
        '{"id": "a", "text": "B."}',
        "ok.jsonl:1: duplicate id 'a', first used in kb.jsonl:1",
    ),
    "an empty text": ("kb.jsonl", '{"id": "a", "text": ""}', "kb.jsonl:1: text: found '', wanted a string that is not"),
    "an empty file": ("kb.jsonl", "", "kb.jsonl: has no document; it needs at least one"),
    "no such format": ("jsnol:kb.jsonl", "", "rag_corpus: unknown corpus format 'jsnol'; did you mean 'jsonl'?"),
    "no such file": ("gone.jsonl", "", "rag_corpus: no such file: '"),
    "no match": ("docs/*.rst", "", "rag_corpus: 'docs/*.rst' matches no file in '"),
    "a folder": ("docs", "", "rag_corpus: 'docs' is a folder without corpus.jsonl; write a glob of its files, such as"),
}


def lay(project: Project, corpus: str, content: str = "", more: str = "") -> None:
    project.says([CASE], conftest="")
    for name, text in FILES.items():
        project.file(name, text)
    (project.path / "kb.jsonl").write_text(content, encoding="utf-8")
    (project.path / "pytest.ini").write_text(f"[pytest]\nrag_corpus =\n {corpus}\n{more}\n", encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_sentence(project: Project, fault: tuple[str, str, str]) -> None:
    corpus, content, sentence = fault
    lay(project, corpus, content)
    assert refused(project).startswith(sentence)


def test_it_is_so_in_every_way_to_run(project: Project, mode: Mode) -> None:
    corpus, content, sentence = FAULTS["a bad line"]
    lay(project, corpus, content)
    assert refused(project, *mode).startswith(sentence)


def test_a_bad_chunking_is_refused_where_it_is_not_needed_yet(project: Project) -> None:
    lay(project, "gone.jsonl", more="rag_chunking = tokens 5 9")
    sentence = "rag_chunking is 'tokens 5 9'; SIZE must be at least 1 and larger than OVERLAP"
    assert refused(project, "-k", "nothing") == sentence


def test_files_are_looked_for_where_tests_are_only_collected(project: Project) -> None:
    lay(project, "gone.jsonl")
    run = project.run("--collect-only")
    assert run.status == 4
    assert run.result.stderr.str().startswith("ERROR: rag_corpus: no such file: '")


def test_a_session_that_does_not_use_the_plugin_is_let_alone(project: Project) -> None:
    lay(project, "gone.jsonl", more="rag_chunking = no such")
    project.file("test_it.py", "def test_plain(): ...")
    assert project.run(json_path=None).status == 0
    project.file("test_it.py", "def test_plain(rag_corpus): ...")
    assert refused(project).startswith("rag_chunking: unknown chunking 'no'; ")
