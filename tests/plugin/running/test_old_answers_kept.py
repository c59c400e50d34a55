"""Old answers of a run: stored next to the baseline, or read from an earlier results.json."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.projects.rag_project import SAYS, Mode, Project, case

from pytest_rageval.commands.load_compared_runs import load_compared_runs

UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
BASELINE = ("--rag-baseline", "rag-baseline.json")
ANSWERS = "rag-baseline.answers.jsonl.gz"
STORES_ANSWERS = "rag_baseline_answers = true"

SYSTEM = """
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    SAYS = {says!r}

    @pytest.fixture(scope="session")
    def rag_system():
        def say(query):
            text, passages = SAYS.get(query.question, ("Paris", ["d1"]))
            return Answer(text, Ranking(tuple(ScoredPassage(name, 1.0) for name in passages)))
        return say
"""


def write_system(project: Project, **answers: tuple[str, list[str]]) -> None:
    """Write a system that answers "Paris" from the passage d1, except for these cases."""
    project.file("conftest.py", SYSTEM.replace("{says!r}", repr(answers)))


@pytest.fixture
def suite(project: Project) -> Project:
    """Return a project with three cases, a baseline and its answers; each run removes the earlier ones, as in CI."""
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}")
    project.says([case(f"q{at}", f"q{at}") for at in (1, 2, 3)])
    write_system(project, q1=("It is Paris, the capital", ["d1", "d2"]))
    assert project.run(*UPDATE).status == 0
    return project


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_answers_are_stored_next_to_the_baseline_with_the_same_bytes(suite: Project) -> None:
    path = suite.path / ANSWERS
    assert lines(path)[0] == {
        "testbed": "test_it.py::test_it",
        "case": "q1",
        "system": "rag_system",
        "facets": {"dataset": "cases", "language": "en"},
        "said": lines(path)[0]["said"],
        "text": "It is Paris, the capital",
        "abstained": None,
        "passages": ["d1", "d2"],
    }
    assert [line["case"] for line in lines(path)] == ["q1", "q2", "q3"]
    before = path.read_bytes()
    path.unlink()
    assert suite.run(*UPDATE, "-p", "no:randomly").status == 0
    assert path.read_bytes() == before


def test_results_show_the_old_answer(suite: Project, mode: Mode) -> None:
    write_system(suite, q1=("It is Rome", ["d2"]), q2=("Paris", ["d9"]))
    run = suite.run(*BASELINE, *mode)
    assert run.status == 0
    assert run.outcomes["q1"]["was"] == {
        "text": "It is Paris, the capital",
        "abstained": None,
        "passages": ["d1", "d2"],
    }
    assert run.outcomes["q2"]["was"] == {"text": "Paris", "abstained": None, "passages": ["d1"]}
    assert "was" not in run.outcomes["q3"]
    assert "old answers" not in run.text


def test_each_repeat_has_its_own_line(project: Project) -> None:
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}")
    project.says([case("q1", "say Paris")])
    assert project.run(*UPDATE, "--rag-repeat", "2").status == 0
    assert [(line["case"], line["repeat"]) for line in lines(project.path / ANSWERS)] == [("q1", "1"), ("q1", "2")]


def test_a_partial_update_replaces_only_its_answers(suite: Project) -> None:
    write_system(suite, q1=("Rome", []), q2=("Rome", []))
    assert suite.run(*BASELINE, "--rag-update-baseline-part", "-k", "q2").status == 0
    assert [line["text"] for line in lines(suite.path / ANSWERS)] == [
        "It is Paris, the capital",
        "Rome",
        "Paris",
    ]


def test_a_partial_update_without_the_old_answers_is_reported(suite: Project) -> None:
    (suite.path / ANSWERS).unlink()
    run = suite.run(*BASELINE, "--rag-update-baseline-part", "-k", "q2")
    assert run.status == 0
    run.said(f"*{ANSWERS} has only the answers of the cases that ran: *{ANSWERS} is missing*")
    assert [line["case"] for line in lines(suite.path / ANSWERS)] == ["q2"]


def test_merged_shards_have_the_old_answers(suite: Project) -> None:
    write_system(suite, q1=("It is Rome", ["d2"]), q3=("It is Lyon", ["d1"]))
    for shard in ("1", "2"):
        suite.run(*BASELINE, "--rag-shard", f"{shard}/2", json_path=f"shard{shard}.json", fresh=False)
    merged = suite.command("merge", "shard1.json", "shard2.json", "--out", "whole.json")
    assert merged.returncode == 0
    outcomes = json.loads((suite.path / "whole.json").read_text(encoding="utf-8"))["outcomes"]
    assert [outcome.get("was", {}).get("text") for outcome in outcomes] == ["It is Paris, the capital", None, "Paris"]
    output = suite.command("show", "whole.json", "--case", "q1").stdout
    assert "difference: It is [-Paris, the capital-]{+Rome+}" in output


def test_secrets_are_masked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOWN_API_KEY", "sk-9f27aa61c0")
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}")
    project.says([case("q1", "say the key is sk-9f27aa61c0")])
    assert project.run(*UPDATE).status == 0
    assert lines(project.path / ANSWERS)[0]["text"] == "the key is <TOWN_API_KEY>"
    project.data([case("q1", "say the key is sk-9f27aa61c0")])
    assert "differ" not in project.run(*BASELINE).text


def test_storing_answers_is_refused_without_texts(project: Project) -> None:
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}\nrag_report_texts = false")
    project.says([case("q1")])
    result = project.run(*UPDATE).result
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: rag_baseline_answers = true stores the texts that rag_report_texts = false*"])


@pytest.mark.parametrize(
    ("damage", "warning"),
    [
        ("missing", f"*the old answers cannot be shown: the baseline's answers *{ANSWERS} is missing; write it anew*"),
        ("cut", f"*the old answers cannot be shown: *{ANSWERS}: truncated or malformed gzip file; write it anew*"),
        ("text", f"*the old answers cannot be shown: the baseline's answers *{ANSWERS} cannot be read*"),
        ("line", f"*the old answers cannot be shown: *{ANSWERS}:2: malformed answer (KeyError: *"),
    ],
)
def test_a_malformed_file_of_answers_is_one_warning(suite: Project, damage: str, warning: str) -> None:
    path = suite.path / ANSWERS
    whole = path.read_bytes()
    path.unlink()
    if damage != "missing":
        first = gzip.decompress(whole).splitlines(keepends=True)[0]
        path.write_bytes({"cut": whole[:-20], "text": b"{}", "line": gzip.compress(first + b"{}\n")}[damage])
    write_system(suite, q1=("It is Rome", ["d2"]))
    run = suite.run(*BASELINE)
    assert run.status == 0
    run.said(warning)
    assert "was" not in run.outcomes["q1"]


def test_answers_of_another_baseline_are_not_shown(suite: Project) -> None:
    before = (suite.path / ANSWERS).read_bytes()
    write_system(suite, q1=("It is Lyon", ["d1"]))
    assert suite.run(*UPDATE).status == 0
    (suite.path / ANSWERS).write_bytes(before)
    write_system(suite, q1=("It is Rome", ["d2"]))
    run = suite.run(*BASELINE)
    assert "was" not in run.outcomes["q1"]
    run.said(f"*1 answer of {ANSWERS} differ* from those that the baseline rag-baseline.json scored, and *")


def test_rag_against_uses_an_earlier_run_as_the_baseline(project: Project, mode: Mode) -> None:
    project.says([case(f"q{at}", f"q{at}") for at in range(1, 13)], 'gates=["accuracy >= baseline"]')
    write_system(project)
    assert project.run(*UPDATE, json_path="old.json").status == 0
    write_system(project, **{f"q{at}": ("It is Rome", ["d2"]) for at in range(1, 10)})
    run = project.run("--rag-against", "old.json", *mode)
    assert run.status == 1
    gate = run.gates["accuracy >= baseline"]
    assert (gate["status"], gate["value"], gate["baseline"]) == ("failed", 0.25, 1.0)
    assert run.results["comparison"]["baseline"]["path"] == "old.json"
    assert run.outcomes["q1"]["was"] == {"text": "Paris", "abstained": None, "passages": ["d1"]}
    assert "was" not in run.outcomes["q12"]


def test_rag_against_adds_the_old_answers_to_a_baseline_without_them(project: Project) -> None:
    project.says([case("q1", "q1")])
    write_system(project)
    assert project.run(*UPDATE, json_path="old.json").status == 0
    write_system(project, q1=("It is Rome", ["d2"]))
    assert "was" not in project.run(*BASELINE).outcomes["q1"]
    run = project.run(*BASELINE, "--rag-against", "old.json")
    assert run.outcomes["q1"]["was"]["text"] == "Paris"
    assert run.results["comparison"]["baseline"]["path"] == "rag-baseline.json"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "--rag-against names 'old.json', and there is no such file; name a results.json*"),
        ("{", "*old.json is not a results.json that this version can read*"),
        ('{"schema": 9}', "*old.json has schema 9, but this version reads schema 1*"),
    ],
)
def test_a_malformed_file_for_rag_against_is_a_usage_error(project: Project, text: str | None, problem: str) -> None:
    project.says([case("q1")])
    if text is not None:
        project.file("old.json", text)
    result = project.run("--rag-against", "old.json").result
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])


def test_rag_against_a_run_without_texts_is_reported(project: Project) -> None:
    project.says([case("q1", "q1")])
    write_system(project)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    assert project.run(json_path="old.json").status == 0
    (project.path / "pytest.ini").unlink()
    write_system(project, q1=("It is Rome", ["d2"]))
    run = project.run("--rag-against", "old.json")
    run.said("*the old answers cannot be shown: old.json has no texts of answers*")
    assert "was" not in run.outcomes["q1"]


def test_reports_without_texts_have_no_old_answers(suite: Project) -> None:
    suite.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    write_system(suite, q1=("It is Rome", ["d2"]))
    run = suite.run(*BASELINE)
    assert "was" not in run.outcomes["q1"]
    assert "capital" not in json.dumps(run.results)


def test_the_old_answers_come_from_the_run_of_the_baseline_if_it_is_stored(project: Project) -> None:
    project.says([case("q1", "q1")])
    write_system(project)
    project.run(*UPDATE)
    write_system(project, q1=("It is Rome", ["d2"]))
    assert project.run(*BASELINE, fresh=False).outcomes["q1"]["was"]["text"] == "Paris"


def show_case(project: Project, name: str) -> list[str]:
    result = project.command("show", "--case", name)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()[3:]


def test_show_prints_a_broken_case_with_its_old_answer(project: Project) -> None:
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}")
    pool = [{"id": "d1", "text": "Paris is the capital.", "role": "positive"}, {"id": "d2", "text": "Rome."}]
    project.says([case("q1", "q1", qrels={"d1": 1}, passages=pool), case("q2", "q2")])
    write_system(project, q1=("It is Paris, the capital", ["d2", "d1"]))
    project.run(*UPDATE)
    write_system(project, q1=("It is Rome, the capital", ["d3"]))
    project.run(*BASELINE)
    lines = show_case(project, "q1")
    assert lines == [
        "question: q1",
        "wanted: Paris",
        "was: It is Paris, the capital",
        "now: It is Rome, the capital",
        "difference: It is [-Paris-]{+Rome+}, the capital",
        "accuracy: 1 -> 0",
        "passages: gained d3; lost d2, d1",
        "evidence d1: rank 2 -> missing",
        "share of the evidence: 1 -> 0",
        "cause: retrieval",
        *lines[-4:],
    ]
    assert lines[-3:] == [
        "rerun: pytest 'test_it.py::test_it[q1]'",
        "play: rageval play --run latest --case 'test_it.py::test_it[q1]'",
        "steps: none recorded",
    ]
    assert show_case(project, "q2")[2:6] == [
        "answer: Paris",
        "was: the same answer",
        "accuracy: 1 -> 1",
        "passages: the same ids, texts unknown",
    ]


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        (("d1 a", "d2 b"), ("d1 a", "d2 b"), "passages: the same"),
        (("d1 a", "d2 b"), ("d2 b", "d1 a"), "passages: the same in another order"),
        (("d1 a", "d2 b"), ("d1 a", "d2 B"), "passages: the same ids, other texts"),
        (("d1 a", "d2 b"), ("d2 B", "d1 a"), "passages: the same ids in another order, other texts"),
        (("d1 a",), ("d1 ",), "passages: the same ids, texts unknown"),
    ],
)
def test_show_compares_the_texts_of_passages_too(
    project: Project, then: Sequence[str], now: Sequence[str], line: str
) -> None:
    project.file("pytest.ini", f"[pytest]\n{STORES_ANSWERS}")
    project.says([case("q1", "q1")])
    for text, passages, options in (("Paris", then, UPDATE), ("In Paris", now, BASELINE)):
        system = SYSTEM.replace("{says!r}", repr({"q1": (text, list(passages))}))
        project.file("conftest.py", system.replace("(name, 1.0)", "(name[:2], None, name[3:])"))
        project.run(*options)
    assert line in show_case(project, "q1")


def test_show_says_why_an_old_answer_is_unknown(project: Project) -> None:
    project.says([case("q1", "q1"), case("q2", "q2"), case("q3", "q3")])
    write_system(project)
    project.run()
    assert show_case(project, "q1")[3] == (
        "was: unknown, the run was compared with no other; name a baseline with --rag-baseline, or an earlier "
        "results.json with --rag-against"
    )
    project.run(*UPDATE)
    project.says([case("q1", "q1"), case("q2", "q2", gold="Rome"), case("q3", "q3"), case("q4", "q4")])
    write_system(project, q1=("It is Rome", ["d2"]))
    project.run(*BASELINE)
    assert show_case(project, "q1")[3] == (
        "was: unknown, the old answers are not stored; keep them with rag_baseline_answers = true and "
        "--rag-update-baseline, or name the old run's results.json with --rag-against"
    )
    assert show_case(project, "q2")[3].startswith(
        "was: unknown, the question, the gold answer or the passages of the case"
    )
    assert show_case(project, "q3")[2:4] == ["answer: Paris", "was: the same answer"]
    assert show_case(project, "q4")[3] == "was: unknown, the baseline does not have this case"


def test_show_ranks_the_positive_passages_that_were_supplied(project: Project) -> None:
    pool = [{"id": "p0", "text": "It is Paris.", "role": "positive"}, {"id": "n0", "text": "No.", "role": "negative"}]
    project.says([case("q1", "say Rome", qrels={"corpus.md#3": 1}, passages=pool)])
    project.run(*UPDATE)
    project.file("conftest.py", SAYS.replace("return rest", "return rest.upper()"))
    project.run(*BASELINE, fresh=False)
    evidence = [line for line in show_case(project, "q1") if "evidence" in line]
    assert evidence == ["evidence p0: rank 1 -> rank 1", "share of the evidence: 1 -> 1"]


def test_show_prints_no_texts_of_a_run_without_them(suite: Project) -> None:
    suite.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    write_system(suite, q1=("It is Rome", ["d2"]))
    suite.run(*BASELINE)
    lines = show_case(suite, "q1")
    assert lines[0] == "accuracy: 1 -> 0"
    assert not any("Rome" in line or "Paris" in line for line in lines)


def test_two_runs_are_compared_with_the_answers_of_the_earlier_one(suite: Project) -> None:
    write_system(suite, q1=("It is Rome", ["d2"]))
    suite.run(*BASELINE, json_path="old.json")
    write_system(suite, q1=("It is Lyon", ["d1"]))
    suite.run(json_path="new.json")
    for base, was in (("old.json", "It is Rome"), ("rag-baseline.json", "It is Paris, the capital")):
        run = load_compared_runs(suite.path, str(suite.path / base), str(suite.path / "new.json")).run
        assert run is not None
        assert run.old_answers is not None
        assert [old and old.text for old in map(run.old_answers.of, run.ordered())] == [was, "Paris", "Paris"]
    run = load_compared_runs(suite.path, str(suite.path / "new.json"), str(suite.path / "old.json")).run
    assert run is not None
    assert run.old_answers is not None
    assert [old and old.text for old in map(run.old_answers.of, run.ordered())] == ["It is Lyon", "Paris", "Paris"]
    assert (
        load_compared_runs(suite.path, str(suite.path / "old.json"), str(suite.path / "rag-baseline.json")).run is None
    )
    assert suite.command("compare", "rag-baseline.json", "new.json").returncode == 0
