"""The page's first sentences: gates, broken cases and errors in the words of the summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.html.columns import columns_of
from pytest_rageval.report.html.headline import failed_tests_of, notes_of
from pytest_rageval.report.html.links import Cases, Sentence
from pytest_rageval.report.html.overviews import overviews_of
from pytest_rageval.report.html.sentences import sentences_of
from pytest_rageval.report.html.visible_text import case_fragment
from pytest_rageval.report.terminal.summary import summary_lines

DESK = "tests/museum.rag.toml::desk"


@pytest.fixture
def museum(fixtures_dir: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return results


def sentences(results: dict[str, Any]) -> list[Sentence]:
    columns, _ = columns_of(results, None)
    return sentences_of(results, columns, Cases(columns))


def text_of(sentence: Sentence) -> str:
    return "".join(piece.text for piece in sentence)


def summary_of(results: dict[str, Any]) -> list[str]:
    run, choice = run_of(results)
    return [line.text for line in summary_lines(run, choice, 300, 1)]


def test_sentences_use_the_words_of_the_summary(museum: dict[str, Any]) -> None:
    texts = [text_of(sentence) for sentence in sentences(museum)]
    assert texts == [
        "accuracy >= 0.7 of desk failed: accuracy is 0.4783 at system=careful",
        "accuracy[topic=*, min_n=2] >= 0.3 of desk failed: accuracy is 0.1667 at topic=Loans, system=careful",
        "accuracy >= baseline - 0.02 of desk failed: accuracy changed by -0.2609 against the baseline, one-sided "
        "p 0.031 over 23 cases at system=careful",
        "1 more failed",
        "desk accuracy (careful) fell by 0.261, p 0.031; broke ex10, ex11, ex30 and 3 more (generation 6)",
        "desk token_f1 (careful) fell by 0.13, p 0.031; broke ex10, ex11, ex30 and 3 more (generation 6)",
        "1 test failed: desk[lo31-quick]",
        "1 case ended in an error: 1 rate_limited",
    ]
    summary = summary_of(museum)
    for change in texts[4:6]:
        assert change.partition(";")[0] in summary


def test_sentences_link_to_gates_cases_and_lists(museum: dict[str, Any]) -> None:
    links = [[piece.to for piece in sentence if piece.to] for sentence in sentences(museum)]
    broken = [case_fragment(f"{DESK}[{case}-careful]") for case in ("ex10", "ex11", "ex30")]
    assert links[:4] == [["gate-0"], ["gate-1"], ["gate-2"], ["gates"]]
    assert links[4] == [*broken, "broken-cases"]
    assert links[6:] == [[case_fragment(f"{DESK}[lo31-quick]")], ["cases"]]


def test_only_cases_are_linked(museum: dict[str, Any]) -> None:
    museum["run"]["failed"] = [f"{DESK}[lo31-quick]", "test_q.py::test_plain"]
    (sentence,) = [each for each in sentences(museum) if text_of(each).startswith("2 tests failed")]
    assert text_of(sentence) == "2 tests failed: desk[lo31-quick], test_plain"
    assert [piece.to for piece in sentence if piece.text == "test_plain"] == [""]
    columns, _ = columns_of(museum, None)
    first, second = failed_tests_of(museum, Cases(columns))["cases"]
    assert (first[0], second[0]) == ("test_q.py::test_plain", f"{DESK}[lo31-quick]")


def test_insignificant_changes_are_named_as_such_unless_a_gate_failed(museum: dict[str, Any]) -> None:
    for each in museum["comparison"]["comparisons"]:
        each["p_holm"] = 0.4
    texts = [text_of(sentence) for sentence in sentences(museum)]
    assert texts[4] == "desk accuracy (careful): broke ex10, ex11, ex30 and 3 more (generation 6)"
    assert not any("noise" in text for text in texts)
    museum["gates"] = [gate for gate in museum["gates"] if not gate["verdict"]]
    assert "against the baseline: no significant change" in map(text_of, sentences(museum))
    for each in museum["comparison"]["comparisons"]:
        each |= {"broken": [], "fixed": [], "delta": 0.0}
    assert "against the baseline: no score changed" in map(text_of, sentences(museum))
    museum["comparison"]["cases"]["unscored"] = {"R@5": 3, "accuracy": 1}
    sentence = "no score changed where both runs have one; no longer scored: R@5 in 3 cases, accuracy in 1 case"
    assert f"against the baseline: {sentence}" in map(text_of, sentences(museum))
    museum["comparison"]["comparisons"] = []
    texts = [text_of(sentence) for sentence in sentences(museum)]
    assert "nothing to compare: no case of this run is in the baseline with a score" in texts


def test_cells_come_after_overall_changes_with_their_correction(museum: dict[str, Any]) -> None:
    rows = museum["comparison"]["comparisons"]
    cell = next(each for each in rows if each["slice"] and each["broken"])
    cells = sum(bool(each["slice"]) for each in rows if each["system"] == "careful" and each["testbed"] == DESK)
    cell["p_holm"] = 0.02
    texts = [text_of(sentence) for sentence in sentences(museum)]
    place = " x ".join(cell["slice"].values())
    assert texts[6] == (
        f"desk accuracy (careful) in ({place}) fell by 0.5, p 0.02 after correction over {cells} cells; "
        "broke ex30 (generation 1)"
    )


def test_failed_gates_come_first_then_undecided_ones(museum: dict[str, Any]) -> None:
    passed = museum["gates"][-1]
    skipped = passed | {"expr": "n > 1", "status": "skipped", "reason": "x" * 500}
    museum["gates"] = [skipped, passed, passed | {"verdict": "inconclusive", "cells": []}, museum["gates"][0]]
    texts = [text_of(sentence) for sentence in sentences(museum)]
    assert texts[0].startswith("accuracy >= 0.7 of desk failed")
    assert texts[1] == "error_rate <= 10% of the session is inconclusive: too few cases to decide"
    assert texts[2].startswith("n > 1 of the session was not judged: xxx")
    assert len(texts[2]) < 260


def test_the_page_has_all_warnings_of_the_summary(museum: dict[str, Any]) -> None:
    museum["testbeds"][DESK] |= {"gates": [], "notes": ["2 records have no gold answer"]}
    warnings = [line.removeprefix("warning: ") for line in summary_of(museum) if line.startswith("warning: ")]
    assert "desk: 2 records have no gold answer" in warnings
    notes = notes_of(museum)
    assert notes[: len(warnings)] == warnings
    museum["plan"]["session_gates"] = []
    assert "desk: no gate and no assertion decides this testbed; it cannot fail" in notes_of(museum)
    museum["gates"] = [museum["gates"][-1] | {"verdict": "inconclusive", "cells": []}]
    note = "session: error_rate <= 10% is inconclusive; rag_inconclusive = fail would fail it"
    assert note in notes_of(museum)
    museum["plan"]["inconclusive"] = "pass"
    assert note not in notes_of(museum)


def test_repeats_dialogues_and_judges_have_tables(museum: dict[str, Any]) -> None:
    one = {"testbed": DESK, "system": "mine", "metric": "accuracy"}
    repeats = {
        **one, "k": 3, "n_cases": 6, "n_complete": 6, "mean": 0.5, "spread": 0.0412, "pass_at_1": 0.5,
        "pass_hat_k": 0.0, "flips": ["q1"], "always_missed": [],
    }  # fmt: skip
    turn = {"round": "1", "mean": 0.6, "n": 4, "n_unscored": 1, "ci95": [0.2, 0.9]}
    dialogues = {**one, "n": 4, "n_complete": 3, "mean": 0.6, "whole": 0.25, "rounds": [turn]}
    trust = {
        "judge": "judged", "least": 0.6, "n": 40, "n_unscored": 2, "accuracy": 0.7, "kappa": 0.4, "ci95": [0.1, 0.6],
        "problem": "kappa 0.4 is below 0.6", "unused": {"no such answer": 3},
    }  # fmt: skip
    museum |= {"repeats": [repeats, repeats | {"system": "other"}], "dialogues": [dialogues], "trust": [trust]}
    dialogue_table, judge_table, repeat_table = overviews_of(museum)
    assert dialogue_table.rows == [
        ("testbed", "metric", "dialogues", "mean", "whole", "round 1"),
        ("desk", "accuracy", "4", "0.60", "0.25 of 3", "0.60 (4+1)"),
    ]
    assert judge_table.rows[1] == ("judged", "40+2 unscored", "0.70", "0.40", "[0.10, 0.60]", "0.6")
    assert judge_table.notes == [
        "judged: 3 labels not used, no such answer",
        "judged is not trusted, its scores do not count: kappa 0.4 is below 0.6",
    ]
    assert [row[0] for row in repeat_table.rows] == ["testbed", "desk (mine)", "desk (other)"]
    assert repeat_table.rows[1][2:] == ("6 x 3", "0.50", "±0.041", "0.50", "0.00", "1", "0")
    assert repeat_table.notes == ["desk (mine) flips: q1", "desk (other) flips: q1"]
