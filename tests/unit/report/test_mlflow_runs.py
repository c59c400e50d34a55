"""MLflow runs of a results.json: one run per system, with valid names."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.samples.run_samples import FINISHED, NOISE, PLAIN, STARTED, finished_run, outcome, plan, take

from pytest_rageval.model.outcome import Score
from pytest_rageval.report.export.mlflow.names import metric_name
from pytest_rageval.report.export.mlflow.runs import SystemRun, system_runs
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

VALID_NAME = re.compile(r"[/\w.\- ]{1,250}")
"""Names that MLflow accepts on every platform, according to its messages."""


def runs(run: Run, choice: MatrixChoice | None = None) -> list[SystemRun]:
    return system_runs(decode_results(results_of(run, "r1", FINISHED, choice or MatrixChoice())))


def is_valid_name(name: str) -> bool:
    return bool(VALID_NAME.fullmatch(name)) and posixpath.normpath(name) == name and not name.startswith(("/", ".."))


def test_each_mean_has_the_number_of_its_cases() -> None:
    (system_run,) = runs(finished_run())
    assert system_run.name == "mine"
    other_prefixes = ("cells/", "testbeds/", "scored/testbeds/", "gates/")
    values = {name: value for name, value in system_run.metrics.items() if not name.startswith(other_prefixes)}
    assert values == {
        "accuracy": 1.0,
        "scored/accuracy": 1.0,
        "unscored/accuracy": 1.0,
        "f1": 0.5,
        "scored/f1": 1.0,
        "unscored/f1": 2.0,
        "error_rate": pytest.approx(1 / 3),
        "n": 2.0,
        "cost_usd": 0.75,
        "tokens": 45.0,
        "tool_calls": 0.0,
        "latency_p50": 0.5,
        "latency_p95": 0.5,
        "sec per query": 0.5,
    }


def test_each_cell_of_a_matrix_is_a_metric() -> None:
    (system_run,) = runs(finished_run(), MatrixChoice("accuracy", "topic", "noise_rate"))
    assert {name: value for name, value in system_run.metrics.items() if name.startswith("cells/")} == {
        "cells/accuracy/topic.A/noise_rate.0": 1.0,
        "cells/accuracy/topic.A/all": 1.0,
        "cells/accuracy/all/noise_rate.0": 1.0,
        "cells/accuracy/all/all": 1.0,
    }


def test_testbeds_and_noise_rates_have_their_own_names() -> None:
    run = finished_run()
    second_case = replace(
        outcome(NOISE, "q2", accuracy=Score(0.0)), nodeid=f"{NOISE}[q4]", facets={"noise_rate": "0.4"}
    )
    (system_run,) = runs(take(run, second_case))
    values = {name: value for name, value in system_run.metrics.items() if "testbeds/" in name}
    assert values == {
        "testbeds/test_noise/accuracy": 0.5,
        "scored/testbeds/test_noise/accuracy": 2.0,
        "testbeds/test_noise/noise_rate.0/accuracy": 1.0,
        "testbeds/test_noise/noise_rate.0.4/accuracy": 0.0,
        "testbeds/test_plain/f1": 0.5,
        "scored/testbeds/test_plain/f1": 1.0,
    }


def test_a_gate_has_a_value_for_each_system() -> None:
    run = Run(STARTED, replace(plan(), cases={}, testbeds={PLAIN: plan().testbeds[PLAIN]}))
    for system, topic, value in (("mine", "A", 0.5), ("mine", "B", 0.25), ("theirs", "A", 1.0)):
        answer = outcome(PLAIN, "q3", token_f1=Score(value))
        facets = {"topic": topic, "system": system}
        take(run, replace(answer, nodeid=f"{PLAIN}[{topic}-{system}]", system=system, facets=facets))
    run.plan.session_gates = ("token_f1 >= 0.1", "token_f1[topic=*] >= 10%", "token_f1[system=mine] < 2")
    gates = [{name: value for name, value in each.metrics.items() if "gates/" in name} for each in runs(run)]
    assert gates == [
        {
            "gates/session/token_f1 ge 0.1": 0.375,
            "gates/session/token_f1 topic.all ge 10_/topic.A": 0.5,
            "gates/session/token_f1 topic.all ge 10_/topic.B": 0.25,
            "gates/session/token_f1 topic.all ge 10_/worst": 0.25,
            "gates/session/token_f1 system.mine lt 2": 0.375,
        },
        {"gates/session/token_f1 ge 0.1": 1.0, "gates/session/token_f1 topic.all ge 10_/topic.A": 1.0},
    ]


def test_each_system_is_one_mlflow_run() -> None:
    run = finished_run()
    other_outcome = replace(outcome(PLAIN, "q3", token_f1=Score(1.0)), nodeid=f"{PLAIN}[q3-theirs]", system="theirs")
    system_run, other_run = runs(take(run, other_outcome))
    assert (system_run.name, system_run.metrics["f1"]) == ("mine", 0.5)
    assert (other_run.name, other_run.metrics["f1"], other_run.tags["rag.system"]) == ("theirs", 1.0, "theirs")
    assert "accuracy" not in other_run.metrics
    assert system_run.metrics["cells/f1/topic.B/task.chat"] == 0.5
    assert other_run.metrics["cells/f1/topic.B/task.chat"] == 1.0


def test_settings_are_params_and_the_run_is_in_the_tags() -> None:
    run = finished_run()
    run.settings = {"rag_model": "openai/m", "rag_prompts.en": "0123456789abcdef", "rag_model_params": "x" * 900}
    run.evaluate_gates()
    (system_run,) = runs(run)
    assert system_run.params["rag_model"] == "openai/m"
    assert system_run.params["rag_prompts.en"] == "0123456789abcdef"
    assert (system_run.params["fingerprint"], system_run.params["testbeds"]) == ("sha256:0", "test_noise, test_plain")
    assert (len(system_run.params["rag_model_params"]), system_run.params["rag_model_params"][:10]) == (500, "x" * 10)
    assert system_run.tags["rag.run"] == "r1"
    assert system_run.tags["rag.version.python"]
    assert system_run.tags["rag.narrowed"] == "1 case not run"
    assert system_run.tags["rag.gates"] == "3 skipped"


def test_the_settings_of_each_testbed_are_params() -> None:
    run = finished_run()
    (system_run,) = runs(run)
    assert system_run.params["test_noise.dataset"] == "jsonl:noise.jsonl"
    assert system_run.params["test_noise.noise_rate"] == "[0.0, 0.4]"
    assert system_run.params["test_noise.metrics"] == "accuracy, token_f1"
    assert system_run.params["test_noise.gates"] == "accuracy[topic=*] >= 0.9"
    assert system_run.params["gates"] == "error_rate <= 50%, token_f1 >= 0.1"
    run.plan.testbeds[PLAIN] = replace(run.plan.testbeds[PLAIN], name="test_noise")
    (system_run,) = runs(run)
    assert system_run.params["test_a.py__test_noise.metrics"] == "accuracy, token_f1"
    assert system_run.params["test_a.py__test_plain.metrics"] == "token_f1"


def test_long_settings_that_differ_at_their_end_differ_in_mlflow() -> None:
    params = []
    for end in "ab":
        run = finished_run()
        run.settings = {"rag_model_params": "x" * 900 + end}
        params.append(runs(run)[0].params["rag_model_params"])
    assert params[0] != params[1]


def test_a_partial_run_is_tagged() -> None:
    run = finished_run()
    run.plan.part, run.plan.narrowed = "3 cases left out", True
    (system_run,) = runs(run)
    assert system_run.tags["rag.narrowed"] == "3 cases left out, paths were given, 1 case not run"
    run = take(Run(STARTED, replace(plan(), cases={})), outcome(PLAIN, "q3", token_f1=Score(1.0)))
    assert "rag.narrowed" not in runs(run)[0].tags


def test_an_empty_run_is_not_sent() -> None:
    assert runs(Run(STARTED)) == []


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("exact_match", "em"),
        ("token_f1", "f1"),
        ("kilt:token_f1", "KILT-f1"),
        ("kilt_rouge_l_compat", "rougel"),
        ("kilt:kilt_em_compat", "KILT-em"),
        ("page_R@5", "recall_at_5"),
        ("nDCG@10", "nDCG_at_10"),
        ("erag:P@5", "erag_P_at_5"),
        ("page_Rprec", "Rprec"),
        ("Rprec", "Rprec"),
        ("rouge_l", "rouge_l"),
        ("准确率", "准确率"),
    ],
)
def test_metrics_equal_to_ralles_have_ralles_names(metric: str, name: str) -> None:
    assert metric_name(metric) == name


def test_page_precision_has_ralles_name_if_there_are_two() -> None:
    names = {"Rprec", "page_Rprec"}
    assert (metric_name("page_Rprec", names), metric_name("Rprec", names)) == ("Rprec", "passage_Rprec")


def test_kilts_values_have_ralles_names_if_ours_are_also_present() -> None:
    names = {"exact_match", "kilt_em_compat", "token_f1"}
    assert [metric_name(each, names) for each in sorted(names)] == ["exact_match", "em", "f1"]


def test_page_recall_has_ralles_name_if_there_are_two() -> None:
    assert metric_name("R@5", {"R@5"}) == "recall_at_5"
    assert (metric_name("R@5", {"R@5", "page_R@5"}), metric_name("R@10", {"page_R@5"})) == ("R_at_5", "recall_at_10")


def test_a_metric_with_ralles_name_stays_distinct_from_ours() -> None:
    run = finished_run()
    run.plan.testbeds[PLAIN] = replace(run.plan.testbeds[PLAIN], metrics=("token_f1", "f1"))
    run.plan.metrics["f1"] = plan().metrics["token_f1"]
    take(run, outcome(PLAIN, "q3", token_f1=Score(0.5), f1=Score(0.25)))
    (system_run,) = runs(run)
    assert (system_run.metrics["f1"], system_run.metrics["f1_2"]) == (0.5, 0.25)


@settings(deadline=None)  # the first example imports libraries
@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=4, unique=True))
def test_mlflow_accepts_the_names_of_any_facets_and_they_are_distinct(topics: list[str]) -> None:
    run: Any = finished_run()
    for number, topic in enumerate(topics):
        facets = {"topic": topic, "task": "../" * number or "."}
        take(run, replace(outcome(PLAIN, "q3", token_f1=Score(1.0)), nodeid=f"{PLAIN}[{number}]", facets=facets))
    (system_run,) = runs(run)
    assert [
        name for name in (*system_run.metrics, *system_run.params, *system_run.tags) if not is_valid_name(name)
    ] == []
    n_cells = sum(name.startswith("cells/f1/topic.") and not name.endswith("/all") for name in system_run.metrics)
    assert n_cells >= len(topics)
    assert NOISE not in system_run.metrics
