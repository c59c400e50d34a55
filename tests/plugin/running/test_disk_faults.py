"""Full disks, truncated files, sessions that share a folder: warnings, and no lost outcome."""

from __future__ import annotations

import json
import os

import pytest
from support.projects.rag_project import RIGHT, Mode, Project, cases, validate

RECORDING_SYSTEM = """
    import os
    from pytest_rageval import recorded

    if "FULL" in os.environ:
        import resource
        import sys
        sys.dont_write_bytecode = True  # later processes would read a truncated file of it
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    import pytest

    @recorded(name="desk")
    def answer(query):
        return query.question.partition(" ")[2].partition(" ")[0]

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""
MANY = cases(*(f"{RIGHT} {number}" for number in range(40)))


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on the size of files")
@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_full_disk_loses_no_case(project: Project, args: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    project.says(MANY, "gates=['accuracy >= 1']", conftest=RECORDING_SYSTEM)
    record = ("-p", "no:cacheprovider", "--rag-record-mode")
    with monkeypatch.context() as patched:
        patched.setenv("FULL", "1")
        full = project.run("-v", *args, *record, "new_episodes", forked=True, json_path=None)
    assert full.status == 0
    full.said("40 cases: 40 scored, 0 errors *", "*PASSED*accuracy >= 1*")
    (outcomes,) = project.path.glob(".rageval/runs/*/outcomes.jsonl")
    warnings = [line for line in full.result.outlines if line.startswith("warning: ")]
    unclaimed = f"warning: answers that no test has taken yet are not stored in {outcomes.parent}: the disk is full"
    assert [line for line in warnings if line != unclaimed] == [  # the worker's journal may be short enough
        f"warning: outcomes are no longer stored in {outcomes.parent}: File too large",
        f"warning: {project.path / 'cassettes' / 'system-desk.jsonl'}: recordings cannot be written here "
        "(File too large); make room, correct the rights, or choose another folder",
    ]
    assert os.listdir(project.path / "cassettes") == ["system-desk.jsonl"]
    if not args:  # a truncated recording counts as missing, and the next run fixes it
        replayed = project.run(*record, "none")
        assert 0 < list(replayed.statuses.values()).count("error") < 40
        assert project.run(*record, "new_episodes").status == 0


TRUNCATES_OUTCOMES = """
    import os
    from pathlib import Path

    import pytest

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(session):
        (outcomes,) = session.config.rootpath.glob(".rageval/runs/*/outcomes.jsonl")
        os.truncate(outcomes, 20)

    def pytest_rageval_finish(results):
        Path("finished").touch()

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: "Paris"
"""


@pytest.mark.skipif(not hasattr(os, "pread"), reason="the texts stay in memory")
def test_a_run_with_a_truncated_outcomes_file_is_not_written(project: Project) -> None:
    project.says(MANY[:4], "gates=['accuracy >= 0']", conftest=TRUNCATES_OUTCOMES)
    run = project.run("--rag-html=page.html", "--rag-markdown=run.md", "--rag-mlflow=runs", "--junitxml=junit.xml")
    reason = "a file of the run was cut while it ran"
    (folder,) = project.path.glob(".rageval/runs/*")
    assert run.status == 1
    assert f"warning: {folder / 'results.json'} could not be written: {reason}" in run.text
    assert f"warning: pytest_rageval_finish is not called: {reason}" in run.text
    assert f"warning: the run is not logged to MLflow: {reason}" in run.text
    assert "INTERNALERROR" not in run.text
    assert (folder / "outcomes.jsonl").exists()
    assert not any(
        (folder / "results.json").exists() or (project.path / name).exists() for name in ("finished", "results.json")
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_junit_file_that_cannot_be_written_loses_no_result(project: Project, args: Mode) -> None:
    project.says(MANY[:4], "gates=['accuracy >= 1']", conftest=RECORDING_SYSTEM)
    (project.path / "junit.xml").symlink_to("/dev/full")
    run = project.run("-v", *args, "--junitxml", "junit.xml", forked=True)
    assert run.status == 1
    assert set(run.statuses.values()) == {"scored"}
    assert run.results["run"]["exitstatus"] == 1
    run.said(
        "4 cases: 4 scored, 0 errors *", "*PASSED*accuracy >= 1*", "warning: junit.xml cannot be written: No space *"
    )
    assert "Traceback" not in run.text + run.result.stderr.str()
    assert "generated xml file" not in run.text


def test_two_sessions_with_workers_can_share_a_folder(project: Project) -> None:
    project.says(MANY[:10], "gates=['accuracy >= 1']", conftest=RECORDING_SYSTEM)
    args = ("-n2", "--rag-record-mode=new_episodes")
    processes = [project.started(*args, f"--rag-json={name}.json") for name in ("one", "two")]
    assert [process.wait(60) for process in processes] == [0, 0]
    json_reports = [json.loads((project.path / f"{name}.json").read_text()) for name in ("one", "two")]
    run_results = [json.loads(path.read_text()) for path in project.path.glob(".rageval/runs/*/results.json")]
    assert sorted(run_results, key=_id) == sorted(json_reports, key=_id)
    for results in run_results:
        validate(results)
        assert [outcome["status"] for outcome in results["outcomes"]] == ["scored"] * 10
    recordings = (project.path / "cassettes" / "system-desk.jsonl").read_bytes().splitlines()
    assert len({line for line in recordings if json.loads(line)}) == len(recordings) == 10
    assert recordings == sorted(recordings)


def _id(results: dict[str, dict[str, str]]) -> str:
    return results["run"]["id"]
