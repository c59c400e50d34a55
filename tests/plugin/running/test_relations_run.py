"""``relations=``: variants run with their originals and count only if a relation is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Row, Run

CONFTEST = """
    import pytest

    def read(query):
        with open("questions.txt", "a") as file:
            file.write(query.question + "\\n")
        if query.question == "Who fails?" and len(query.passages) > 1:
            raise ValueError("no model")
        if "museum" not in query.question.lower():
            return "I can not answer the question because of the insufficient information in documents."
        texts = [passage.text for passage in query.passages or () if "opens" in passage.text]
        return texts[0] if texts else "It is not said."

    @pytest.fixture(scope="session")
    def rag_system():
        return read
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"]{arguments})
    def test_it(rag):
        ...
"""

TYPO = "relations=['typo'], variants=2"


def record(name: str, question: str = "When does the museum open?", **more: Any) -> Row:
    passages = [
        {"id": "p0", "text": f"The museum {name} opens at 9:00.", "role": "positive"},
        {"id": "n0", "text": f"Ferries of {name} leave at noon.", "role": "negative"},
    ]
    return {"id": name, "question": question, "answers": ["9:00"], "passages": passages, "topic": "Hours", **more}


def prepare(project: Project, arguments: str, *rows: Row) -> None:
    project.data(rows or [record("q1"), record("q2")])
    project.file("conftest.py", CONFTEST)
    project.file("test_it.py", TEST.replace("{arguments}", f", {arguments}"))


def by_node(run: Run) -> dict[str, Any]:
    return {outcome["nodeid"].partition("[")[2].rstrip("]"): outcome for outcome in run.results["outcomes"]}


def stable(run: Run) -> dict[str, Any]:
    scores = {name: outcome["scores"].get("stable") for name, outcome in by_node(run).items()}
    return {
        name: score and (score["value"] if score["value"] is not None else score["reason"])
        for name, score in scores.items()
    }


def test_variants_count_only_if_a_relation_is_named(project: Project, mode: Mode) -> None:
    gates = [
        "accuracy >= 0.9", "n <= 2", "accuracy[topic=*] >= 0.9", "accuracy[relation=typo] >= 0.1",
        "stable[relation=*] >= 0.95", "n[relation=typo] >= 4", "accuracy[variant=2] >= 0.1",
    ]  # fmt: skip
    prepare(project, f"relations=['typo', 'passage_order'], variants=2, gates={gates}")
    run = project.run("-v", *mode)
    outcomes = by_node(run)
    assert len(outcomes) == 8  # of each case: itself, two typos, and the only other order of two passages
    variant = outcomes["q1-relation=typo-variant=2"]
    assert variant["case_id"] == "q1"
    assert {"relation": "typo", "variant": "2"}.items() <= variant["facets"].items()
    assert {name: (gate["n"], gate["value"]) for name, gate in run.gates.items()} == {
        "accuracy >= 0.9": (2, 1.0),
        "n <= 2": (2, 2.0),
        "accuracy[topic=*] >= 0.9": (2, 1.0),
        "accuracy[relation=typo] >= 0.1": (4, 0.0),
        "stable[relation=*] >= 0.95": (4, 0.0),
        "n[relation=typo] >= 4": (4, 4.0),
        "accuracy[variant=2] >= 0.1": (2, 0.0),
    }
    cells = {
        cell["slice"]["relation"]: (cell["n"], cell["value"])
        for cell in run.gates["stable[relation=*] >= 0.95"]["cells"]
    }
    assert cells == {"typo": (4, 0.0), "passage_order": (2, 1.0)}
    assert run.results["matrix"]["cells"][0][0]["n"] == 2
    (total,) = [each for each in run.results["totals"] if each["metric"] == "accuracy"]
    assert (total["n"], total["value"]) == (2, 1.0)
    rows = {
        row["relation"]: (row["n"], row["before"], row["after"], row["stable"])
        for row in run.results["sections"]["relations"]
    }
    assert rows == {"typo": (4, 1.0, 0.0, 0.0), "passage_order": (2, 1.0, 1.0, 1.0)}
    run.said("2 cases and 6 variants: 8 scored, 0 errors*", "typo*4*2*accuracy*1.00*0.00*0.00*")


def test_reports_show_the_question_and_the_passages_of_a_variant(project: Project) -> None:
    prepare(
        project, "relations=['typo', 'irrelevant_passage'], variants=1", record("q1"), record("q2", "Who bakes bread?")
    )
    run = project.run("-n2")
    assert run.results["instances"]["q1"]["question"] == "When does the museum open?"
    outcomes = by_node(run)
    question = outcomes["q1-relation=typo-variant=1"]["question"]
    assert question != "When does the museum open?"
    assert question in (project.path / "questions.txt").read_text().splitlines()
    assert "question" not in outcomes["q1"]
    added = outcomes["q1-relation=irrelevant_passage-variant=1"]["added"]
    (name,) = added
    assert name.startswith("q2:")
    assert name in outcomes["q1-relation=irrelevant_passage-variant=1"]["supplied"]
    assert "q2" in added[name]["text"]
    process = project.command("show", "--case", "q1")
    assert f"question: {question}" in process.stdout


def test_reports_without_texts_have_no_texts_of_variants(project: Project) -> None:
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    prepare(project, "relations=['typo', 'duplicate_passage'], variants=1")
    run = project.run()
    assert "opens" not in json.dumps(run.results)
    assert "When" not in json.dumps(run.results["outcomes"])


def test_a_variant_is_unscored_if_its_original_was_an_error(project: Project, mode: Mode) -> None:
    prepare(
        project,
        "relations=['politeness', 'remove_evidence'], variants=1, gates=['stable[relation=*] >= 0']",
        record("q1", "Who fails?"),
        record("q2"),
    )
    run = project.run(*mode)
    assert by_node(run)["q1"]["status"] == "error"
    assert stable(run) == {
        "q1": None,
        "q1-relation=politeness-variant=1": "original_error: its original ended in an error",
        "q1-relation=remove_evidence-variant=1": "original_error: its original ended in an error",
        "q2": "not_applicable: no_variant",
        "q2-relation=politeness-variant=1": 1.0,
        "q2-relation=remove_evidence-variant=1": 0.0,  # "It is not said." is no refusal
    }
    assert run.gates["stable[relation=*] >= 0"]["n"] == 1


def test_a_rejection_without_evidence_is_stable_and_not_missed(project: Project) -> None:
    prepare(project, "relations=['remove_evidence']", record("q1", "When does it open?"))
    run = project.run("-rA")
    assert stable(run)["q1-relation=remove_evidence-variant=1"] == 1.0
    assert run.result.parseoutcomes()["missed"] == 1  # the original, to which the system gave a refusal


def test_a_false_answer_from_swapped_evidence_is_not_stable(project: Project) -> None:
    row = record("q1")
    false = {"id": "w0", "text": "The museum opens at 8:30.", "role": "counterfactual"}
    row = {**row, "passages": [*row["passages"], false], "fake_answers": ["8:30"]}
    prepare(project, "ability='noise_robustness', passages=2, noise_rate=0.5, relations=['swap_evidence']", row)
    run = project.run()
    variant = by_node(run)["q1-relation=swap_evidence-variant=1"]
    assert "w0" in variant["supplied"]
    assert stable(run)["q1-relation=swap_evidence-variant=1"] == 0.0


def test_a_variant_is_unscored_if_its_original_did_not_run(project: Project) -> None:
    prepare(project, TYPO)
    run = project.run("test_it.py::test_it[q1-relation=typo-variant=2]")
    assert stable(run) == {"q1-relation=typo-variant=2": "original_not_run: its original did not run"}


def test_limit_and_sample_count_originals(project: Project, mode: Mode) -> None:
    prepare(project, TYPO, *(record(f"q{at}") for at in range(6)))
    for option in ("--rag-limit", "--rag-sample"):
        run = project.run(*mode, option, "2")
        assert len(run.results["outcomes"]) == 6
        assert len({outcome["case_id"] for outcome in run.results["outcomes"]}) == 2


def test_repeats_of_variants_are_compared_with_their_own_original(project: Project) -> None:
    prepare(project, f"{TYPO}, gates=['stable[relation=*] >= 0', 'accuracy >= 0']")
    run = project.run("-v", "--rag-repeat", "2")
    assert len(run.results["outcomes"]) == 12
    assert stable(run)["q1-relation=typo-variant=1-repeat=2"] == 0.0
    assert (run.gates["accuracy >= 0"]["n"], run.gates["accuracy >= 0"]["n_cases"]) == (4, 2)
    assert run.gates["stable[relation=*] >= 0"]["n_cases"] == 4
    run.said("12 runs of 2 cases and 4 variants: 12 scored*")


def test_shards_keep_variants_with_their_original(project: Project) -> None:
    prepare(
        project, f"{TYPO}, gates=['stable[relation=*] >= 0', 'accuracy >= 0.9']", *(record(f"q{at}") for at in range(5))
    )
    whole = project.run()
    names = []
    for number in (1, 2):
        names.append(f"shard{number}.json")
        run = project.run("--rag-shard", f"{number}/2", json_path=names[-1])
        assert not [reason for reason in stable(run).values() if str(reason).startswith("original")]
    merged = project.command("merge", *names, "--out", "merged.json")
    assert merged.returncode == 0, merged.stderr
    results = json.loads((project.path / "merged.json").read_text())
    assert [gate["value"] for gate in results["gates"]] == [gate["value"] for gate in whole.results["gates"]]
    assert [gate["n"] for gate in results["gates"]] == [10, 5]
    assert results["sections"]["relations"] == whole.results["sections"]["relations"]


def test_a_resumed_run_takes_over_variants_and_compares_them(project: Project) -> None:
    prepare(project, f"{TYPO}, gates=['stable[relation=typo] >= 0']", record("q1", "Who fails?"), record("q2"))
    project.run()
    (project.path / "conftest.py").write_text(
        (project.path / "conftest.py").read_text().replace("raise ValueError", "return str")
    )
    (project.path / "questions.txt").unlink()
    run = project.run("--rag-resume", fresh=False)
    assert (project.path / "questions.txt").read_text() == "Who fails?\n"
    assert stable(run)["q1-relation=typo-variant=1"] == 1.0
    assert run.gates["stable[relation=typo] >= 0"]["n"] == 4


def test_variants_without_a_recorded_answer_are_left_out(project: Project, mode: Mode) -> None:
    prepare(project, f"{TYPO}, gates=['stable[relation=*] >= 0.95', 'accuracy >= 0.9']")
    project.data([{"id": name, "answer": "9:00"} for name in ("q1", "q2")], "answers.jsonl")
    run = project.run(*mode, "--rag-answers", "answers.jsonl")
    assert run.status == 0
    assert list(by_node(run)) == ["q1", "q2"]
    assert run.gates["stable[relation=*] >= 0.95"]["status"] == "skipped"
    run.said("*test_it: 4 variants are left out, because the recorded answers hold none for them*")


def test_recorded_answers_can_name_variants(project: Project) -> None:
    prepare(project, TYPO, record("q1"))
    rows = [{"id": "q1", "answer": "9:00"}, {"id": "q1", "answer": "8:00", "relation": "typo", "variant": "1"}]
    project.data(rows, "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl")
    assert stable(run) == {"q1": "not_applicable: no_variant", "q1-relation=typo-variant=1": 0.0}


def test_a_baseline_compares_originals_unless_a_relation_is_named(project: Project) -> None:
    gates = ["accuracy >= baseline", "accuracy[relation=typo] >= baseline"]
    project.file("pytest.ini", "[pytest]\nrag_baseline = baseline.json")
    prepare(project, f"{TYPO}, gates={gates}", *(record(f"q{at}") for at in range(6)))
    assert project.run("--rag-update-baseline").status == 0
    run = project.run()
    assert run.status == 0
    assert {name: (gate["status"], gate["n"]) for name, gate in run.gates.items()} == {
        "accuracy >= baseline": ("passed", 6),
        "accuracy[relation=typo] >= baseline": ("passed", 12),
    }
    conftest = (project.path / "conftest.py").read_text()
    (project.path / "conftest.py").write_text(conftest.replace("texts[0] if texts else", ""))
    worse = project.run()
    assert worse.gates["accuracy >= baseline"]["status"] == "failed"
    comparison = worse.results["comparison"]
    assert comparison["cases"]["compared"] == 6
    assert {each["n"] for each in comparison["comparisons"] if each["metric"] == "accuracy" and not each["slice"]} == {
        6
    }


def test_conversations_of_the_system_have_variants(project: Project) -> None:
    rows = [record(f"d.{at}", dialogue="d", round=at) for at in (1, 2)]
    prepare(project, f"{TYPO}, history='own'", *rows)
    run = project.run()
    assert len(run.results["outcomes"]) == 6
    assert by_node(run)["d.2-relation=typo-variant=1"]["history"][0]["question"] == "When does the museum open?"


def test_a_suite_can_set_relations_and_variants(project: Project) -> None:
    prepare(project, "")
    (project.path / "test_it.py").unlink()
    project.file("hours.rag.toml", """
        [[testbed]]
        name = "hours"
        dataset = "jsonl:cases.jsonl"
        metrics = ["accuracy"]
        relations = ["whitespace", "case"]
        variants = 1
        gates = ["stable[relation=*] >= 0.95", "accuracy >= 0.9"]
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0
    assert run.gates["stable[relation=*] >= 0.95"]["n"] == 2


PROBLEMS = {
    "relations=['typos']": "*test_it.py:*: relations: unknown relation 'typos'*did you mean 'typo'*",
    "relations=['passage_order'], passages='retrieved'": "*passage_order changes supplied passages*supplies none*",
    "variants=2": "*variants has no effect without relations*",
    "relations=['typo'], variants=0": "*variants: found 0, wanted an integer of at least 1*",
    "relations=['typo'], gates=['stable >= 0.9']": "*only variants have a value; write stable[[]relation=[*]] >= 0.9*",
    "gates=['stable[relation=typo] >= 0.9']": "*'stable' compares cases with their variants, and there are none*",
    "relations=['typo'], metrics=['stable']": "*'stable' compares values of the primary metric*name another one first*",
    "relations=['typo'], facets={'variant': 'a'}": "*has the facet 'variant', which relations set; rename it*",
    "relations=['number_format'], gates=['n[relation=*] >= 9']": "*'n[[]relation=[*]] >= 9' matches no case*",
}


@pytest.mark.parametrize("arguments", PROBLEMS)
def test_a_relation_without_effect_is_refused(project: Project, arguments: str) -> None:
    prepare(project, arguments)
    if "metrics=" in arguments:
        project.file("test_it.py", TEST.replace(', metrics=["accuracy"]{arguments}', f", {arguments}"))
    run = project.run()
    assert run.status == 4
    run.result.stderr.fnmatch_lines([PROBLEMS[arguments]])
    assert not (project.path / "questions.txt").exists()


def test_a_relation_that_changes_no_case_is_reported(project: Project) -> None:
    prepare(project, "relations=['number_format', 'typo'], variants=1")
    run = project.run()
    run.said("*test_it: the relation number_format changes none of its cases*")
