"""``rageval anchor`` turns chunk ids into quotes, with the settings of the ini."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Project, Row, case

PAGES = {
    "visit.md": "# Visit\n\nThe museum opens at 9:00.\n\n# Prices\n\nA ticket costs 12 euros.\n",
    "desk.md": "# Desk\n\nThe desk is in the lobby.\n",
}
ROWS = [
    case("opens", "When does it open?", "9:00", qrels={"visit.md#0": 2, "desk.md#0": 0}, topic="Hours"),
    case("ticket", "What is a ticket?", "12 euros", qrels={"visit.md#1": 1}, weight=0.5),
    case("lobby", "Where is the desk?", "in the lobby",
         passages=[{"id": "d0", "text": "The desk is in\nthe  Lobby.", "role": "positive"}]),
    case("unlabelled", "Why?", "Because."),
]  # fmt: skip


def rageval(project: Project, *arguments: str) -> tuple[int, str, str]:
    """Return exit status, output and errors of the command."""
    run = project.command(*arguments)
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def museum(project: Project) -> Project:
    for name, text in PAGES.items():
        project.file(name, text)
    project.data(ROWS)
    project.file("pytest.ini", "[pytest]\nrag_corpus = *.md\nrag_chunking = sections\n")
    return project


def anchored_rows(project: Project, name: str = "cases.anchored.jsonl") -> list[Row]:
    return [json.loads(line) for line in (project.path / name).read_text(encoding="utf-8").splitlines()]


def test_ids_and_positive_passages_become_quotes(museum: Project) -> None:
    status, out, err = rageval(museum, "anchor", "cases.jsonl")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "3 of 4 cases -> cases.anchored.jsonl: 3 quotes, 3 of 3 (100.0%) with the gold answer",
        "left out: 1 qrels of grade 0",
    ]
    opens, ticket, lobby, unlabelled = anchored_rows(museum)
    assert opens == {
        "id": "opens",
        "question": "When does it open?",
        "answers": ["9:00"],
        "evidence": [{"page": "visit.md", "quote": "The museum opens at 9:00.", "grade": 2}],
        "topic": "Hours",
    }
    assert list(opens) == ["id", "question", "answers", "evidence", "topic"]
    assert ticket["evidence"] == [{"page": "visit.md", "quote": "A ticket costs 12 euros."}]
    assert ticket["weight"] == 0.5
    assert lobby["evidence"] == [{"page": "desk.md", "quote": "The desk is in\nthe  Lobby."}]
    assert lobby["passages"] == ROWS[2]["passages"]
    assert unlabelled == ROWS[3]


def test_missing_labels_are_listed_and_their_records_unchanged(museum: Project) -> None:
    unanchored: list[Row] = [
        case("gone", qrels={"visit.md#1": 1, "visit.md#7": 1}),
        case("away", passages=[{"id": "p", "text": "Closed.", "role": "positive"}]),
    ]
    museum.data([*ROWS, *unanchored])
    status, out, _ = rageval(museum, "anchor", "jsonl:cases.jsonl", "--out", "cases.jsonl", "--force")
    assert status == 1
    assert out.splitlines()[-2:] == [
        "left: cases.jsonl:5: qrels: 'visit.md#7' is not in the corpus",
        "left: cases.jsonl:6: passages: no document contains the text of 'p'",
    ]
    rows = anchored_rows(museum, "cases.jsonl")
    assert rows[4:] == unanchored
    assert "evidence" in rows[0]


def test_a_chunking_that_differs_from_the_labelled_one_is_refused(museum: Project) -> None:
    arguments = ("anchor", "cases.jsonl", "--corpus", "*.md", "--chunking", "tokens 4")
    status, out, err = rageval(museum, *arguments)
    assert (status, out) == (2, "")
    assert err == (
        "rageval: only 1 of 3 (33.3%) of the quotes have the gold answer, so 'tokens 4' is probably not the chunking "
        "that was labelled; give that one with --chunking, or write the quotes with --force [RAG101]\n"
    )
    assert not (museum.path / "cases.anchored.jsonl").exists()
    assert rageval(museum, *arguments, "--force")[0] == 0
    assert len(anchored_rows(museum)) == 4
    status, _, err = rageval(museum, "anchor", "cases.jsonl")
    assert (status, err.strip()) == (
        2,
        "rageval: cases.anchored.jsonl already exists; name another file with --out, or add --force [RAG101]",
    )


def test_the_labelled_file_is_not_overwritten_without_force(museum: Project) -> None:
    before = (museum.path / "cases.jsonl").read_bytes()
    for out in ("cases.jsonl", "./cases.jsonl"):
        status, _, err = rageval(museum, "anchor", "cases.jsonl", "--out", out)
        assert (status, err) == (
            2,
            "rageval: cases.jsonl already exists; name another file with --out, or add --force [RAG101]\n",
        )
        assert (museum.path / "cases.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("gold", "share"),
    [({"answers": ["12 euros"]}, "have the gold answer, and 6 were not found"), ({"answerable": False}, "were found")],
    ids=["gold", "no-gold"],
)
def test_a_chunking_without_any_of_the_ids_is_refused(museum: Project, gold: Row, share: str) -> None:
    rows = [case(f"q{at}", qrels={f"visit.md#{at + 7}": 1}) for at in range(6)]
    museum.data([{"id": row["id"], "question": row["question"], "qrels": row["qrels"]} | gold for row in rows])
    status, out, err = rageval(museum, "anchor", "cases.jsonl")
    assert (status, out) == (2, "")
    assert err == (
        f"rageval: only 0 of 6 (0.0%) of the quotes {share}, so 'sections' is probably not the chunking that was "
        "labelled; give that one with --chunking, or write the quotes with --force [RAG101]\n"
    )
    assert not (museum.path / "cases.anchored.jsonl").exists()
    status, out, _ = rageval(museum, "anchor", "cases.jsonl", "--force")
    assert status == 1
    assert out.startswith("0 of 6 cases -> cases.anchored.jsonl: 0 quotes")


@pytest.mark.parametrize("extra", [("--out", "z.jsonl"), ("--force",)])
def test_check_refuses_options_of_writing(museum: Project, extra: tuple[str, ...]) -> None:
    write_baseline(museum, passages={})
    status, out, err = rageval(museum, "anchor", "cases.jsonl", "--check", "--baseline", "rag-baseline.json", *extra)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == f"rageval: {extra[0]} has no effect with --check; leave it out [RAG101]"
    assert not (museum.path / "z.jsonl").exists()


@pytest.mark.parametrize("configured", [True, False], ids=["ini", "option"])
def test_digests_detect_another_chunking_even_if_most_quotes_hold_the_answer(museum: Project, configured: bool) -> None:
    test = 'from pytest_rageval import rag_case\n\n@rag_case("jsonl:cases.jsonl")\ndef test_it(rag):\n    ...\n'
    museum.file("test_it.py", test)
    ini = "[pytest]\nrag_corpus = *.md\nrag_chunking = sections\n"
    baseline_line = "rag_baseline = rag-baseline.json\n"
    museum.file("pytest.ini", ini + (baseline_line if configured else ""))
    if configured:  # there is no baseline yet
        assert rageval(museum, "anchor", "cases.jsonl", "--out", "first.jsonl")[0] == 0
    assert museum.run("--rag-baseline", "rag-baseline.json", "--rag-update-baseline").status == 0
    option = () if configured else ("--baseline", "rag-baseline.json")
    command = ("anchor", "cases.jsonl", *option, "--chunking")
    status, out, err = rageval(museum, *command, "tokens 8 2")
    assert (status, out) == (2, "")
    assert err == (
        "rageval: under 'tokens 8 2', 2 of 2 ids name other text than in the baseline rag-baseline.json, so another "
        "chunking was labelled, or the documents have changed; give that one with --chunking, list the ids with "
        "--check, or write the quotes with --force [RAG101]\n"
    )
    assert not (museum.path / "cases.anchored.jsonl").exists()
    status, out, _ = rageval(museum, *command, "tokens 8 2", "--force")
    assert (status, out.splitlines()[0].partition(": ")[2]) == (0, "3 quotes, 3 of 3 (100.0%) with the gold answer")
    assert rageval(museum, *command, "sections", "--out", "right.jsonl")[0] == 0


def test_a_baseline_without_digests_is_refused_only_on_request(museum: Project) -> None:
    write_baseline(museum)
    status, _, err = rageval(museum, "anchor", "cases.jsonl", "--baseline", "rag-baseline.json")
    assert (status, err.count("\n")) == (2, 1)
    assert "the baseline rag-baseline.json has no digests of judged passages" in err
    museum.file(
        "pytest.ini", "[pytest]\nrag_corpus = *.md\nrag_chunking = sections\nrag_baseline = rag-baseline.json\n"
    )
    assert rageval(museum, "anchor", "cases.jsonl")[0] == 0


@pytest.mark.parametrize(
    ("ini", "cases", "problem"),
    [
        ("", None, "there is no corpus; give one with --corpus, or name it as rag_corpus in the ini"),
        ("rag_corpus = *.md", '{"id": "q1"}', "cases.jsonl:1: the field question is missing"),
        ("rag_corpus = *.rst", None, "'*.rst' matches no file"),
    ],
)
def test_an_error_is_reported_in_one_sentence(museum: Project, ini: str, cases: str | None, problem: str) -> None:
    museum.file("pytest.ini", f"[pytest]\n{ini}\n")
    if cases is not None:
        museum.file("cases.jsonl", cases)
    status, out, err = rageval(museum, "anchor", "cases.jsonl")
    assert (status, out) == (2, "")
    assert err.startswith("rageval: ")
    assert problem in err
    assert err.count("\n") == 1


def write_baseline(project: Project, **more: Any) -> None:
    plain = {
        "schema": 2, "run": {"id": "r", "started": "2026-01-02T03:04:05+00:00"}, "fingerprint": "", "versions": {},
        "metrics": {}, "testbeds": {}, "cases": [], **more,
    }  # fmt: skip
    project.file("rag-baseline.json", json.dumps(plain))


def test_check_lists_the_ids_whose_text_has_changed(museum: Project) -> None:
    test = 'from pytest_rageval import rag_case\n\n@rag_case("jsonl:cases.jsonl")\ndef test_it(rag):\n    ...\n'
    museum.file("test_it.py", test)
    update = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
    assert museum.run(*update).status == 0
    check = ("anchor", "cases.jsonl", "--check", "--baseline", "rag-baseline.json")
    assert rageval(museum, *check)[:2] == (0, "0 of 2 ids changed under 'sections'\n")
    museum.file("visit.md", PAGES["visit.md"].replace("# Prices\n\n", ""))
    status, out, _ = rageval(museum, *check)
    assert (status, out.splitlines()) == (
        1,
        [
            "cases.jsonl:1: 'visit.md#0' names other text than in the baseline",
            "cases.jsonl:2: 'visit.md#1' is no longer in the corpus",
            "2 of 2 ids changed under 'sections'",
        ],
    )
    write_baseline(museum, passages={"visit.md#1": "0" * 16})
    status, out, _ = rageval(museum, *check)
    assert out.splitlines()[-1] == "1 of 2 ids changed under 'sections'; the baseline has no digest of 1"
    write_baseline(museum)
    status, _, err = rageval(museum, *check)
    assert (status, err.count("\n")) == (2, 1)
    assert "the baseline rag-baseline.json has no digests of judged passages" in err
    assert "no baseline to check with" in rageval(museum, *check[:3])[2]
