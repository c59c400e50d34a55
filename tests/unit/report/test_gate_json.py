"""Gates in results.json: the keys of the shape, with the values of the gate's result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.run_samples import finished_run

from pytest_rageval.report.files.figures_shape import StoredGate
from pytest_rageval.report.files.gate_json import encode_gate
from pytest_rageval.report.run.gate_results import NamedGate


@pytest.fixture
def gates() -> list[NamedGate]:
    run = finished_run()
    run.evaluate_gates()
    return list(run.gates)


def test_the_keys_follow_the_order_of_the_shape(gates: list[NamedGate]) -> None:
    assert gates
    for gate in gates:
        keys = list(encode_gate(gate, texts=True))
        assert keys == [key for key in StoredGate.__annotations__ if key in keys]
        assert StoredGate.__required_keys__ <= set(keys)


def test_the_values_equal_those_of_the_result(gates: list[NamedGate]) -> None:
    for gate in gates:
        plain, result = encode_gate(gate, texts=True), gate.result
        names = ("scope", "status", "value", "n", "n_errors", "reason")
        assert {name: plain[name] for name in names} == {name: getattr(result, name) for name in names}
        assert plain["ci95"] == (None if result.ci95 is None else list(result.ci95))
        assert plain["slice"] == dict(result.slice or {})
        for cell, stored_cell in zip(result.cells, plain["cells"], strict=True):
            assert (stored_cell["value"], stored_cell["n"], stored_cell["status"]) == (cell.value, cell.n, cell.status)
            assert "reason" not in stored_cell or cell.status == "skipped"


def test_unscored_answers_are_counted_by_reason(gates: list[NamedGate]) -> None:
    unscored = {"parse_error": 2}
    with_unscored = replace(gates[0], result=replace(gates[0].result, unscored=unscored))
    assert encode_gate(with_unscored, texts=True)["unscored"] == unscored
    empty = replace(with_unscored, result=replace(with_unscored.result, unscored={}))
    assert "unscored" not in encode_gate(empty, texts=True)


def test_units_and_repeats_are_stored_only_if_they_differ_from_cases(gates: list[NamedGate]) -> None:
    plain = encode_gate(gates[0], texts=True)
    assert not {"n_units", "unit", "n_cases"} & plain.keys()
    with_units = replace(gates[0], result=replace(gates[0].result, n_units=3, unit="dialogue", n_cases=4))
    assert {"n_units": 3, "unit": "dialogue", "n_cases": 4}.items() <= encode_gate(with_units, texts=True).items()
