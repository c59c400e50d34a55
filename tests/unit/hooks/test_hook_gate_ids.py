"""Node ids of gates as arguments, and the tests that they select."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.collect.gate_ids import gate_ids


@pytest.mark.parametrize(
    ("argument", "tests", "gate"),
    [
        ("t.py::test_x[gate: accuracy >= 0.5]", "t.py::test_x", "accuracy >= 0.5"),
        ("t.py::test_x[gate:  accuracy>=50% ]", "t.py::test_x", "accuracy >= 50%"),
        ("a/t.py::TestX::test_x#2[gate: n > 3]", "a/t.py::TestX::test_x", "n > 3"),
        ('t.py::test_x[gate: n[topic="a::b [c]"] >= 3]', "t.py::test_x", 'n[topic="a::b [c]"] >= 3'),
        ("d.rag.toml::desk[gate: R@5 >= baseline - 0.02]", "d.rag.toml::desk", "R@5 >= baseline - 0.02"),
    ],
)
def test_the_id_of_a_gate_selects_its_tests(argument: str, tests: str, gate: str) -> None:
    (gate_id,) = gate_ids(["t.py", argument])
    assert (gate_id.argument, gate_id.tests, gate_id.gate) == (argument, tests, gate)


@pytest.mark.parametrize(
    "argument", ["t.py", "t.py::test_x[q1]", "t.py::test_x[gate: open]", "t.py::test_x[gate: n >= 3"]
)
def test_other_arguments_are_not_gate_ids(argument: str) -> None:
    assert list(gate_ids([argument])) == []
