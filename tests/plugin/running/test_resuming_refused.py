"""Runs that cannot be resumed, because the session differs or the run is missing."""

from __future__ import annotations

from support.projects.rag_project import RIGHT, WRONG, Project, cases
from support.projects.resume_project import SAYS, TEST, asked, folders, resume, stop


def _replace(project: Project, old: str, new: str, name: str = "test_it.py") -> None:
    path = project.path / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new) if old else text)


SCHOLAR = "rag_environments =\n  scholar: scholar; persons=persons.jsonl; publications=publications.jsonl\n"
INI = f"[pytest]\nrag_top_k = 5\nrag_model_params =\n  temperature = 0\n{SCHOLAR}"

MISMATCHES = [
    ("cases.jsonl", "say Rome", "say  Rome", "its data differ: jsonl:cases.jsonl has changed;"),
    ("test_it.py", "where={}", "passages=3", "its settings differ: what rag_case says of test_it.py::test_it has "),
    ("test_it.py", "where={}", "seed=3", "its settings differ: the seed of test_it.py::test_it was 0 and is 3;"),
    ("test_it.py", '"accuracy"]', '"accuracy", "rouge_l"]', "accuracy and is accuracy, rouge_l;"),
    ("pytest.ini", "rag_top_k = 5", "rag_report_texts = false", "rag_report_texts was true and is false;"),
    ("pytest.ini", "rag_top_k = 5", "rag_top_k = 7", "its system differs: rag_top_k was 5 and is 7;"),
    ("pytest.ini", "temperature = 0", "temperature = 1", "its system differs: rag_model_params has changed;"),
    ("persons.jsonl", "Ann", "Anne", "its data differ: rag_environments: scholar has changed;"),
    ("pytest.ini", "", "", "its settings differ: --rag-repeat was 1 and is 2;", "--rag-repeat", "2"),
    ("pytest.ini", "", "", "was rag_system and is extractive;", "--rag-system", "extractive", "-n2"),
]


def test_a_run_that_differs_is_refused_with_the_difference_and_stays_resumable(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, RIGHT), "where={}", test=TEST, conftest=SAYS)
    project.file("pytest.ini", INI)
    project.data([{"person_id": "p1", "name": "Ann"}], "persons.jsonl")
    project.data([{"pub_id": "w1", "title": "On Salt"}], "publications.jsonl")
    stop(project, "test_it[q3]")
    (folder,) = folders(project)
    for path, old, new, problem, *args in MISMATCHES:
        _replace(project, old, new, path)
        run = project.run("--rag-resume", *args, fresh=False, json_path=None)
        _replace(project, new, old, path)
        (line,) = [line for line in run.result.stderr.lines if line.startswith("ERROR: ")]
        assert line.startswith(f"ERROR: --rag-resume: the run {folder.name} cannot be resumed, because its ")
        assert problem in line
        assert (run.status, asked(project), folders(project)) == (4, [], [folder])
    assert len(resume(project).outcomes) == 3
    assert asked(project) == [RIGHT]


def test_changed_code_causes_a_warning_and_prevents_a_baseline(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, RIGHT), test=TEST, conftest=SAYS)
    stop(project, "test_it[q3]")
    _replace(project, "import os", "import os  # fixed", "conftest.py")
    run = resume(project, "--rag-baseline", "base.json", "--rag-update-baseline")
    run.said("warning: conftest.py changed since the run *; the cases taken over keep their results")
    run.said("*base.json is left as it was*: conftest.py changed since the run whose cases were taken over*")


def test_a_missing_run_is_refused(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), test=TEST, conftest=SAYS)
    for options, message in (
        (("--rag-resume=nosuch",), "--rag-resume: the run nosuch is not under *; *"),
        (("--rag-resume", "test_it.py"), "--rag-resume names 'test_it.py', which is not a run in .rageval/runs; *"),
    ):
        run = project.run(*options, json_path=None)
        assert run.status == 4
        run.result.stderr.fnmatch_lines([f"ERROR: {message}"])
