"""Retriever sizes and stage times in the summary and in results.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.samples.run_samples import FINISHED, STARTED
from wcwidth import wcswidth

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.codec import encode_facts, encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.read_results import run_of as read_run
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.terminal.summary import summary_lines

TESTBED = "t.py::test_a"
BM25 = {"retriever": "bm25", "passages": 12_000, "build_s": 1.234, "disk_bytes": 4_560_000, "resident_bytes": 999}
HNSW = {"retriever": "dense", "index": "hnsw", "passages": 12_000, "load_s": 0.0123, "recall@10": 0.9871, "m": 16}


def run_of(*facts: dict[str, Any], kinds: tuple[str, ...] = ("retrieve", "generate"), texts: bool = True) -> Run:
    plan = Plan({TESTBED: TestbedPlan(TESTBED, "test_a", ("accuracy",), ("accuracy >= 0",))})
    run = Run(STARTED, plan, texts=texts)
    for number in (1, 2, 3):
        name = "bm25" if facts else None
        steps = [Step(kind, {"seconds": 0.001 * number, "said": "§"}) for kind in kinds]
        if name and steps:
            steps[0] = Step(kinds[0], {"seconds": 0.001 * number, "retriever": name})
        answer = Answer("", trace=tuple(steps), usage=Usage(latency_s=1.0))
        node = f"{TESTBED}[q{number}]"
        outcome = Outcome(node, f"q{number}", TESTBED, {}, "mine", "scored", answer, {"accuracy": Score(1.0)})
        run.take(encode_outcome(outcome), None)
        run.plan.cases[node] = (f"q{number}", TESTBED, "mine", 0)
    run.plan.facets.append({})
    run.take_retrievers(map(encode_facts, facts))
    run.evaluate_gates()
    return run


def text_of(run: Run, width: int = 120, verbosity: int = 1) -> str:
    return "\n".join(line.text for line in summary_lines(run, MatrixChoice(), width, verbosity))


def results(run: Run) -> dict[str, Any]:
    content = decode_results(results_of(run, "run", FINISHED, MatrixChoice()))
    jsonschema.Draft202012Validator(schema()).validate(content)
    return content


def test_tables_show_the_size_and_the_times_of_retrievers() -> None:
    text = text_of(run_of(BM25, HNSW), 80)
    rows = {line.split()[0]: line.split()[1:] for line in text[text.index("retrievers -") :].splitlines() if line}
    assert rows["retriever"] == ["bm25", "dense/hnsw"]
    assert rows["passages"] == ["12,000", "12,000"]
    assert (rows["build"], rows["load"]) == (["1.23", "–"], ["–", "0.0123"])
    assert (rows["memory"], rows["disk"]) == (["999", "B", "–"], ["4.6", "MB", "–"])
    assert rows["recall@10"] == ["–", "0.987"]
    assert [rows[name] for name in ("queries", "p50", "p95")] == [["3", "–"], ["0.002", "–"], ["0.0029", "–"]]
    assert rows["system"] == ["stage", "n", "p50", "p95"]
    assert rows["mine"] == ["generate", "3", "0.002", "0.0029"]
    assert "mine      retrieve    3  0.002  0.0029" in text


def test_the_table_of_four_retrievers_fits_80_columns() -> None:
    large = {**HNSW, "index": "diskann", "passages": 5_000_000, "build_s": 4_321.0, "load_s": 12.34}
    large |= {"disk_bytes": 7_680_000_000, "resident_bytes": 812_345_678}
    text = text_of(run_of(BM25, HNSW, large, {**large, "retriever": "hybrid"}), 80)
    lines = [line.split() for line in text[text.index("retrievers -") : text.index("stages -")].splitlines() if line]
    assert lines[1] == ["retriever", "bm25", "dense/hnsw", "dense/diskann", "hybrid/diskann"]
    assert [line[0] for line in lines[3:]] == [
        "passages", "build", "load", "memory", "disk", "recall@10", "queries", "p50", "p95",
    ]  # fmt: skip


def test_retrievers_with_one_name_differ_by_settings_and_have_no_query_times() -> None:
    other_settings = {**BM25, "k1": 0.9, "b": 0.4}
    run = run_of({**BM25, "k1": 1.2, "b": 0.4}, other_settings)
    text = text_of(run)
    rows = {line.split()[0]: line.split()[1:] for line in text[text.index("retrievers -") :].splitlines() if line}
    assert rows["retriever"] == ["bm25", "(k1=1.2)", "bm25", "(k1=0.9)"]
    assert rows["queries"] == rows["p95"] == ["–", "–"]
    retrievers = results(run)["deployment"]["retrievers"]
    assert [(each["name"], each["queries"]) for each in retrievers] == [("bm25", None), ("bm25", None)]
    assert text_of(read_run(results(run))[0]) == text_of(run)


@pytest.mark.parametrize("texts", [True, False])
def test_results_contain_no_path_of_the_machine(texts: bool) -> None:
    model = Path.home() / "models" / "minilm"
    prefixes = {"dense.model": "org/minilm", "passage_prefix": "passage: "}
    [retriever] = results(run_of({**HNSW, "model": str(model), **prefixes}, texts=texts))["deployment"]["retrievers"]
    assert retriever["facts"] == {**HNSW, "model": "minilm", **prefixes}


@pytest.mark.parametrize("width", [30, 40, 60])
def test_the_tables_fit_the_terminal(width: int) -> None:
    text = text_of(run_of(BM25, HNSW), width)
    lines = text[text.index("retrievers -") : text.index("gates")].splitlines()
    assert max(map(wcswidth, lines[1:])) <= width


def test_a_quiet_summary_has_no_tables_of_retrievers() -> None:
    assert "retrievers -" not in text_of(run_of(BM25), verbosity=-1)


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("facts", [(), (BM25, HNSW)])
def test_a_stored_run_has_the_same_summary(facts: tuple[dict[str, Any], ...], texts: bool) -> None:
    run = run_of(*facts, texts=texts)
    stored_run, _ = read_run(results(run))
    assert "stages -" in text_of(run)
    assert text_of(stored_run) == text_of(run)


def test_a_run_without_retrieval_has_no_section() -> None:
    for run in (run_of(kinds=("generate",)), run_of(kinds=())):
        assert "stages -" not in text_of(run)
        assert "deployment" not in results(run)


def test_results_contain_the_facts_of_retrievers_and_the_times_of_stages() -> None:
    times = {"n": 3, "p50_s": 0.002, "p95_s": pytest.approx(0.0029)}
    assert results(run_of(BM25))["deployment"] == {
        "retrievers": [{"name": "bm25", "facts": BM25, "queries": times}],
        "stages": [
            {"system": "mine", "stage": "retrieve", "seconds": times},
            {"system": "mine", "stage": "generate", "seconds": times},
        ],
    }
    assert results(run_of(HNSW))["deployment"]["retrievers"][0]["queries"] is None


def test_results_without_texts_keep_the_seconds_of_each_case() -> None:
    run = run_of(BM25, texts=False)
    content = results(run)
    assert "§" not in str(content)
    assert [step["kind"] for step in content["outcomes"][0]["answer"]["trace"]] == ["retrieve", "generate"]
    assert content["outcomes"][0]["answer"]["trace"][0]["detail"] == {"seconds": 0.001, "retriever": "bm25"}
    assert len(content["deployment"]["stages"]) == 2
