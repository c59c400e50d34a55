"""Gates with ``min_n``: a cell with too few cases is reported and decides nothing."""

from __future__ import annotations

from support.projects.rag_project import RAISES, RIGHT, WRONG, Project, Row, case


def _rows(*questions: str, topic: str) -> list[Row]:
    return [case(f"{topic}{at}", question, topic=topic) for at, question in enumerate(questions)]


ROWS = [*_rows(*[RIGHT] * 5, topic="Fares"), *_rows(WRONG, WRONG, topic="Trams")]


def test_small_cells_are_reported_and_the_others_decide(project: Project) -> None:
    project.says(ROWS, "gates=['accuracy[topic=*, min_n=5] >= 0.6', 'accuracy[topic=Trams, min_n=5] >= 0.6']")
    run = project.run("-v", "-rs", "--rag-gate", "accuracy[min_n=30] >= 0.6")
    assert run.status == 0, run.text
    every, one, session = run.results["gates"]
    assert (every["expr"], every["status"]) == ("accuracy[topic=*, min_n=5] >= 0.6", "passed")
    assert (every["slice"], every["n"]) == ({"topic": "Fares"}, 5)
    small = {"slice": {"topic": "Trams"}, "status": "skipped", "value": 0.0, "n": 2, "reason": "too few: n 2 < 5"}
    assert {key: value for key, value in every["cells"][1].items() if key != "ci95"} == small
    assert "reason" not in every["cells"][0]
    assert (one["status"], one["reason"]) == ("skipped", "too few: n 2 < 5")
    assert (session["status"], session["reason"]) == ("skipped", "too few: n 7 < 30")
    run.result.assert_outcomes(passed=6, skipped=2)
    run.said(
        "*PASSED  accuracy[[]topic=[*], min_n=5[]] >= 0.6 * n 5 *1 of 2 cells not judged, n < 5 (topic=Trams n 2)",
        "*SKIPPED  accuracy[[]topic=Trams, min_n=5[]] >= 0.6*too few: n 2 < 5",
        "SKIPPED *gate accuracy[[]min_n=30[]] >= 0.6: too few: n 7 < 30",
    )


def test_topics_of_one_name_under_two_parents_are_two_cells(project: Project) -> None:
    rows = [
        *(row | {"topic_1": "Town"} for row in _rows(WRONG, WRONG, RIGHT, topic="Fares")),
        *(row | {"id": f"s{row['id']}", "topic_1": "Sea"} for row in _rows(RIGHT, RIGHT, RIGHT, WRONG, topic="Fares")),
    ]
    project.says(rows, "gates=['accuracy[topic=*] >= 0.5', 'accuracy[topic=Fares] >= 0.5']")
    run = project.run("-v")
    every, one = (run.gates[f"accuracy[topic={value}] >= 0.5"] for value in ("*", "Fares"))
    assert (every["status"], every["n"], one["status"], one["n"]) == ("failed", 3, "passed", 7)
    assert [cell["slice"]["topic_1"] for cell in every["cells"]] == ["Sea", "Town"]
    run.said("*FAILED  accuracy[[]topic=[*][]] >= 0.5 * n 3 *", "* worst at topic_1=Town, topic=Fares")


def test_errors_do_not_make_a_cell_too_small_to_judge(project: Project) -> None:
    project.says([*_rows(RIGHT, RAISES, RAISES, topic="Fares")], "gates=['accuracy[topic=*, min_n=2] >= 0.5']")
    run = project.run()
    assert run.status == 1
    (gate,) = run.results["gates"]
    reason = "too few at topic=Fares: n 1 < 2, because 2 more could not be scored"
    assert (gate["status"], gate["reason"]) == ("failed", reason)


def test_an_invalid_size_and_a_facet_named_size_are_refused(project: Project) -> None:
    project.says(ROWS, "gates=['accuracy[topic=*, min_n=few] >= 0.6']")
    assert (
        "has min_n='few'; write a whole number from 1 on, such as min_n=5"
        in project.run(json_path=None).result.stderr.str()
    )
    project.says(ROWS, "min_n='5'")
    assert "the facet 'min_n' is reserved by the plugin" in project.run(json_path=None).result.stderr.str()
    project.says(ROWS, test=RUNS_A_CHECK)
    assert "is not a bound on one case; write metric OP number" in project.run(json_path=None).text


RUNS_A_CHECK = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        rag.check("accuracy[min_n=5] >= 1")
"""
