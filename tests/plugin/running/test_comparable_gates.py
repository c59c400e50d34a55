"""Gates fail as not comparable if the baseline contains too few cases of the run."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import RUNS, Mode, Project, Row, Run, case

from pytest_rageval.cli import main

UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
AGAINST = ("--rag-baseline", "rag-baseline.json")

ROOMS = ("atrium", "balcony", "cellar", "dining", "entrance", "foyer", "garden", "hall", "island", "jetty")

RANKED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["R@5"], gates=["R@5 >= baseline - 0.05"])
    def test_rooms(rag):
        ...
"""


def museum(project: Project, prefix: str, *, unchanged: int, top_k: int) -> None:
    """Write ten questions with two relevant passages each; all but the first ``unchanged`` get prefixed ids."""
    passages: list[Row] = []
    questions: list[Row] = []
    for at, room in enumerate(ROOMS):
        name = room if at < unchanged else f"{prefix}{room}"
        passages += [{"id": f"{name}{n}", "text": f"The {room} holds statue number {n}."} for n in (1, 2)]
        questions.append({
            "id": f"q{at}", "question": f"What does the {room} hold?", "answers": ["statue"],
            "qrels": {f"{name}1": 1, f"{name}2": 1},
        })  # fmt: skip
    project.data(questions)
    project.data(passages, "corpus.jsonl")
    project.file("test_it.py", RANKED)
    project.file(
        "pytest.ini",
        f"[pytest]\nrag_corpus = jsonl:corpus.jsonl\nrag_top_k = {top_k}\nrag_baseline = rag-baseline.json",
    )


def test_new_labels_do_not_hide_a_drop(project: Project) -> None:
    museum(project, "", unchanged=10, top_k=5)
    assert project.run("--rag-update-baseline").status == 0
    museum(project, "new-", unchanged=1, top_k=1)
    run = project.run("--rag-markdown", "rag.md", "--rag-html", "rag.html", "--junitxml", "junit.xml")
    gate = run.gates["R@5 >= baseline - 0.05"]
    assert (run.status, gate["status"], gate["verdict"], gate["n_pairs"]) == (1, "failed", "not_comparable", 1)
    why = "not comparable, 1 of 10 cases compared: 9 changed (rag_min_compared = 0.5)"
    assert gate["reason"] == why
    run.said(why, "  FAILED  R@5 >= baseline - 0.05 *")
    for page in ("rag.md", "rag.html"):
        text = (project.path / page).read_text("utf-8")
        assert "1 of 10 cases compared" in text
        assert "1 of 1 gate failed (1 not comparable)" in text
    junit = (project.path / "junit.xml").read_text("utf-8")
    assert "1 of 10 cases compared" in junit
    assert "rag.gate.verdict=not_comparable" in junit


def rows(n: int, first: int = 1, gold: str = "Paris") -> list[Row]:
    """Return records of two topics in turn that the system answers correctly."""
    return [
        case(f"q{at}", f"say {gold}", gold=gold, topic=("Funds", "Loans")[at % 2], note=str(at))
        for at in range(first, first + n)
    ]


def verdicts(run: Run) -> dict[str, tuple[str, str | None]]:
    """Return the status and the verdict of each gate."""
    return {expr: (gate["status"], gate["verdict"]) for expr, gate in run.gates.items()}


GATE = "accuracy >= baseline"


def write_baseline(project: Project, *args: str, gates: str = GATE) -> None:
    """Make a project of ten cases and write its baseline."""
    project.says(rows(10), f"gates=[{gates!r}]")
    assert project.run(*UPDATE, *args).status == 0


def test_only_removed_cases_lower_the_share_of_compared_cases(project: Project, mode: Mode) -> None:
    write_baseline(project)
    project.data([*rows(4), *rows(20, first=101, gold="Rome")])
    run = project.run(*AGAINST, *mode)
    assert verdicts(run) == {GATE: ("failed", "not_comparable")}
    assert run.gates[GATE]["reason"] == "not comparable, 4 of 10 cases compared: 6 removed (rag_min_compared = 0.5)"
    project.data([*rows(5), *rows(20, first=101, gold="Rome")])
    assert verdicts(project.run(*AGAINST, *mode)) == {GATE: ("passed", "not_worse")}


@pytest.mark.parametrize(
    "part",
    [
        ("-k", "q1 and not q10"), ("-m", "rag(note=1)"), ("test_it.py::test_it[q1]",), ("--rag-limit", "1"),
        ("--rag-sample", "2"), ("--deselect", "test_it.py::test_it[q1]", "-k", "q1 or q2"),
    ],
    ids=lambda part: part[0],
)  # fmt: skip
def test_deselected_cases_do_not_lower_the_share(project: Project, part: tuple[str, ...]) -> None:
    write_baseline(project)
    run = project.run(*AGAINST, *part)
    assert (run.status, verdicts(run)) == (0, {GATE: ("passed", "not_worse")})
    assert len(run.results["plan"]["deselected"]) >= 8


def test_cases_of_other_testbeds_do_not_lower_the_share(project: Project) -> None:
    project.says(rows(10), f"gates=[{GATE!r}]")
    project.file("test_first.py", RUNS.replace("{arguments}", "").replace("test_it", "test_first"))
    assert project.run(*UPDATE).status == 0
    project.data(rows(6))
    run = project.run(*AGAINST, "test_it.py", "-k", "q1 or q2 or q3")
    assert verdicts(run) == {GATE: ("passed", "not_worse")}
    assert run.results["plan"]["deselected"] == [4, 5, 6]  # of q1, q10, q2 ... q9 of test_it alone
    project.data(rows(4))
    assert verdicts(project.run(*AGAINST, "test_it.py")) == {GATE: ("failed", "not_comparable")}


def test_a_removed_testbed_lowers_the_share_of_a_session_gate(project: Project) -> None:
    project.says(rows(3))
    other = project.file("test_first.py", RUNS.replace("{arguments}", "").replace("test_it", "test_first"))
    project.file("pytest.ini", f"[pytest]\nrag_baseline = rag-baseline.json\nrag_gates = {GATE}")
    project.data(rows(9), "more.jsonl")
    project.file("test_first.py", other.read_text("utf-8").replace("cases.jsonl", "more.jsonl"))
    assert project.run("--rag-update-baseline").status == 0
    other.unlink()
    run = project.run()
    assert (run.status, verdicts(run)) == (1, {GATE: ("failed", "not_comparable")})
    assert run.gates[GATE]["reason"] == "not comparable, 3 of 12 cases compared: 9 removed (rag_min_compared = 0.5)"
    assert verdicts(project.run("test_it.py")) == {GATE: ("passed", "not_worse")}
    again = project.run("--rag-update-baseline")
    assert (again.status, again.gates[GATE]["status"]) == (0, "skipped")
    assert " at " not in again.gates[GATE]["reason"]


def test_changed_cases_of_a_partial_run_lower_its_share(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write_baseline(project)
    renamed = [{**row, "id": f"new-{row['id']}", "note": row["note"]} for row in rows(10)]
    project.data([renamed[0], *rows(2, first=2, gold="Rome"), *renamed[3:]])
    run = project.run(*AGAINST, "--rag-limit", "3")
    reason = "not comparable, 1 of 3 cases compared: 2 changed (rag_min_compared = 0.5)"
    assert (verdicts(run), run.gates[GATE]["reason"]) == ({GATE: ("failed", "not_comparable")}, reason)
    capsys.readouterr()
    assert main(["show"]) == 0
    assert reason.partition(" (")[0] in " ".join(capsys.readouterr().out.split())


def test_a_case_in_error_or_skipped_lowers_the_share(project: Project) -> None:
    write_baseline(project)
    project.file(
        "conftest.py",
        """
        import pytest

        def say(query):
            raise ValueError("no such model")

        @pytest.fixture(scope="session")
        def rag_system():
            def answer(query):
                if query.question.endswith("Paris") and next(calls) < 6:
                    raise ValueError("no such model")
                return "Paris"
            calls = iter(range(99))
            return answer

        @pytest.fixture(autouse=True)
        def skips(request):
            if "q10" in request.node.name:
                pytest.skip("not today")
        """,
    )
    run = project.run(*AGAINST)
    assert run.gates[GATE]["reason"] == (
        "not comparable, 3 of 10 cases compared: 6 in error, 1 skipped (rag_min_compared = 0.5)"
    )


@pytest.mark.parametrize(("least", "status"), [("0.3", 0), ("0.31", 1), ("0", 0), ("1", 1)])
def test_rag_min_compared_sets_the_smallest_share(project: Project, least: str, status: int) -> None:
    write_baseline(project)
    project.data(rows(3))
    assert project.run(*AGAINST, "-o", f"rag_min_compared={least}").status == status


@pytest.mark.parametrize("least", ["1.1", "-0.1", "half", "nan"])
def test_an_invalid_share_is_a_usage_error(project: Project, least: str) -> None:
    project.says(rows(1))
    run = project.run("-o", f"rag_min_compared={least}")
    assert run.status == 4
    run.result.stderr.fnmatch_lines(
        [f"ERROR: rag_min_compared is '{least}'; write a share from 0 to 1, such as 0.5 [[]*"]
    )


def test_a_testbed_missing_in_the_baseline_fails_its_gate(project: Project) -> None:
    write_baseline(project)
    project.data(rows(6, first=101, gold="Rome"), "other.jsonl")
    project.file("test_it.py", RUNS.replace("{arguments}", f", gates=[{GATE!r}]") + OTHER)
    run = project.run(*AGAINST)
    assert run.status == 1
    gates = {gate["scope"]: (gate["status"], gate["reason"]) for gate in run.results["gates"]}
    assert gates == {
        "test_it": ("passed", None),
        "test_other": (
            "failed", "not comparable, the baseline does not hold test_other: add it with --rag-update-baseline"
        ),
    }  # fmt: skip
    again = project.run(*UPDATE)
    assert again.status == 0
    first, other = sorted(again.results["gates"], key=lambda gate: str(gate["scope"]))
    becomes = "this run is to become the baseline"
    assert (first["status"], first["verdict"], first["reason"]) == ("skipped", None, becomes)
    assert (other["status"], other["verdict"]) == ("skipped", "not_comparable")
    assert other["reason"].startswith(f"{becomes}; not comparable, the baseline does not hold test_other")
    assert project.run(*AGAINST).status == 0


OTHER = f"""
    @rag_case("jsonl:other.jsonl", metrics=["accuracy"], gates=[{GATE!r}])
    def test_other(rag):
        ...
"""


def test_a_system_missing_in_the_baseline_fails_the_gate(project: Project) -> None:
    one, other, third = (("--rag-system", f"systems:{name}") for name in ("one", "other", "third"))
    project.file("systems.py", "def one(query):\n    return 'Paris'\n\nother = lambda query: 'Paris'\nthird = one\n")
    write_baseline(project, *one)
    assert verdicts(project.run(*AGAINST, *other)) == {
        GATE: ("passed", "not_worse")
    }  # a single system is compared with a single one
    run = project.run(*AGAINST, *one, *other)
    assert run.status == 1
    assert [(cell["slice"]["system"], cell["verdict"]) for cell in run.gates[GATE]["cells"]] == [
        ("systems:one", "not_worse"),
        ("systems:other", "not_comparable"),
    ]
    assert run.gates[GATE]["reason"] == (
        "not comparable, the baseline does not hold the system systems:other of test_it at system=systems:other: "
        "add it with --rag-update-baseline"
    )
    project.run(*UPDATE, *one, *other)
    assert verdicts(project.run(*AGAINST, *one)) == {GATE: ("passed", "not_worse")}
    assert verdicts(project.run(*AGAINST, *third)) == {GATE: ("failed", "not_comparable")}


def test_each_cell_is_compared_with_its_own_cases(project: Project) -> None:
    gate = "accuracy[topic=*] >= baseline"
    write_baseline(project, gates=gate)
    project.data([row for row in rows(10) if row["topic"] == "Funds"])
    run = project.run(*AGAINST)
    outcome = run.gates[gate]
    assert (outcome["status"], outcome["slice"], outcome["n"]) == ("failed", {"topic": "Loans"}, 0)
    assert outcome["reason"] == (
        "not comparable, 0 of 5 cases compared at topic=Loans: 5 removed (rag_min_compared = 0.5)"
    )
    assert [cell["verdict"] for cell in outcome["cells"]] == ["not_worse", "not_comparable"]
    # cases of a renamed topic are still compared
    project.data([{**row, "topic": row["topic"].replace("Loans", "Credit")} for row in rows(10)])
    assert [cell["verdict"] for cell in project.run(*AGAINST).gates[gate]["cells"]] == ["not_worse"] * 2
    # a topic with only new cases has no baseline value
    project.data([*rows(10), *({**row, "topic": "New"} for row in rows(4, first=101, gold="Rome"))])
    run = project.run("-v", *AGAINST)
    assert (run.status, run.gates[gate]["status"]) == (0, "passed")
    run.said("*inconclusive in 1 of 3 cells: not in the baseline (topic=New)*")


def test_a_merge_of_shards_ignores_deselected_cases(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write_baseline(project)
    project.data([*rows(3), *rows(2, first=101, gold="Rome"), *rows(3, first=8)])
    for args, status in (
        (("--deselect", "test_it.py::test_it[q9]", "-o", "rag_min_compared=0.7"), 1),
        (("-k", "q1"), 0),
    ):
        for at in (1, 2):
            project.run(*AGAINST, *args, "--rag-shard", f"{at}/2", json_path=f"{at}.json", fresh=False)
        capsys.readouterr()
        assert main(["merge", "1.json", "2.json", "--out", "whole.json"]) == status
        (gate,) = json.loads((project.path / "whole.json").read_text("utf-8"))["gates"]
        assert (gate["status"], gate["verdict"]) == (
            ("failed", "not_comparable") if status else ("passed", "not_worse")
        )
