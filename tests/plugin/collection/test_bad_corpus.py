"""An invalid corpus is refused with one sentence and exit status 4 before anything runs."""

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


def write_project(project: Project, corpus: str, content: str = "", more: str = "") -> None:
    project.says([CASE], conftest="")
    for name, text in FILES.items():
        project.file(name, text)
    (project.path / "kb.jsonl").write_text(content, encoding="utf-8")
    (project.path / "pytest.ini").write_text(f"[pytest]\nrag_corpus =\n {corpus}\n{more}\n", encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_invalid_corpus_is_refused_with_one_sentence(project: Project, fault: tuple[str, str, str]) -> None:
    corpus, content, sentence = fault
    write_project(project, corpus, content)
    assert refused(project).startswith(sentence)


def test_an_invalid_corpus_is_refused_in_each_mode(project: Project, mode: Mode) -> None:
    corpus, content, sentence = FAULTS["a bad line"]
    write_project(project, corpus, content)
    assert refused(project, *mode).startswith(sentence)


def test_a_bad_chunking_is_refused_even_if_no_case_is_selected(project: Project) -> None:
    write_project(project, "gone.jsonl", more="rag_chunking = tokens 5 9")
    sentence = "rag_chunking is 'tokens 5 9'; SIZE must be at least 1 and larger than OVERLAP"
    assert refused(project, "-k", "nothing") == sentence


def test_missing_files_are_refused_with_collect_only(project: Project) -> None:
    write_project(project, "gone.jsonl")
    run = project.run("--collect-only")
    assert run.status == 4
    assert run.result.stderr.str().startswith("ERROR: rag_corpus: no such file: '")


def test_a_session_without_a_rag_test_ignores_a_bad_corpus(project: Project) -> None:
    write_project(project, "gone.jsonl", more="rag_chunking = no such")
    project.file("test_it.py", "def test_plain(): ...")
    assert project.run(json_path=None).status == 0
    project.file("test_it.py", "def test_plain(rag_corpus): ...")
    assert refused(project).startswith("rag_chunking: unknown chunking 'no'; ")
