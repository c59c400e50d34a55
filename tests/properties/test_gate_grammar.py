"""Laws of gate expressions: they survive parsing, and any text is a gate or an error."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.gates import LOWER, Gate, parse_gate
from pytest_rageval.errors import GateSyntaxError
from pytest_rageval.model.facets import MIN_N, matches

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_@:.-]{0,12}", fullmatch=True)
KEYS = st.text(st.characters(exclude_characters='=,[]"'), min_size=1).map(str.strip).filter(bool).filter(MIN_N.__ne__)
MIN_COUNTS = st.integers(1, 10**9 - 1)
VALUES = st.one_of(st.text(), st.text('",]=[* \n基é', max_size=6))
SLICES = st.dictionaries(KEYS, VALUES, max_size=4)
OPERATORS = st.sampled_from([">=", ">", "<=", "<"])
NUMBERS = st.floats(-1e9, 1e9).map(repr)
SPACES = st.sampled_from(["", " ", "\t", "  ", "\n", "\u3000"])
SYNTAX_TEXTS = st.text('a_9.[]=,"<>%-+*e \n基baseline', max_size=40)


@st.composite
def gates(draw: st.DrawFn) -> Gate:
    kind = draw(st.sampled_from(["number", "percent", "baseline"]))
    name, op, where, min_n = draw(NAMES), draw(OPERATORS), draw(SLICES), draw(MIN_COUNTS)
    if kind == "baseline":
        tolerance = draw(st.one_of(st.none(), st.decimals(0, 100, places=3).map(str)))
        op = ">=" if op in LOWER else "<="
        sign = "-" if op in LOWER else "+"
        text = "baseline" if tolerance is None else f"baseline {sign} {tolerance}"
        return Gate(name, op, float(f"{sign}{tolerance or 0}"), text, where, True, min_n)
    number = draw(NUMBERS)
    percent = kind == "percent"
    return Gate(
        name, op, float(number) / 100 if percent else float(number), number + "%" * percent, where, False, min_n
    )


def gate_or_problem(text: str) -> Gate | str:
    try:
        return parse_gate(text, "here")
    except GateSyntaxError as error:
        return str(error)


@given(gates())
def test_a_gate_printed_and_parsed_is_unchanged(gate: Gate) -> None:
    parsed = parse_gate(str(gate))
    assert parsed == gate
    assert str(parsed) == str(gate)


@given(NAMES, st.dictionaries(KEYS, st.from_regex(r"[\w.]+", fullmatch=True), min_size=1), OPERATORS, NUMBERS, SPACES)
def test_spaces_between_the_parts_do_not_matter(
    name: str, where: dict[str, str], op: str, number: str, space: str
) -> None:
    pairs = f"{space},{space}".join(f"{key}{space}={space}{value}" for key, value in where.items())
    text = f"{space}{name}{space}[{space}{pairs}{space}]{space}{op}{space}{number}{space}"
    assert parse_gate(text) == Gate(name, op, float(number), number, where)


@given(gates(), st.text(st.characters(exclude_characters='],"'), max_size=12))
def test_any_min_n_is_a_count_or_a_syntax_error(gate: Gate, text: str) -> None:
    parsed = gate_or_problem(f"{gate.metric}[{MIN_N}={text}] {gate.op} {gate.bound_text}")
    counts = text.strip().isascii() and text.strip().isdigit() and 0 < int(text) < 10**9
    assert (parsed == Gate(gate.metric, gate.op, gate.bound, gate.bound_text, {}, gate.baseline, int(text))
            if counts else isinstance(parsed, str))  # fmt: skip


@given(gates())
def test_a_slice_selects_its_own_facets(gate: Gate) -> None:
    assert matches(dict(gate.slice), parse_gate(str(gate)).slice)


@given(st.one_of(st.text(st.characters(exclude_categories=())), SYNTAX_TEXTS, SYNTAX_TEXTS.map("accuracy{}".format)))
def test_any_text_is_a_gate_or_a_syntax_error(text: str) -> None:
    parsed = gate_or_problem(text)
    if isinstance(parsed, str):
        assert parsed.startswith("here: gate ")
        assert parsed.isprintable()
    else:
        assert math.isfinite(parsed.bound)
        assert parse_gate(str(parsed)) == parsed


@given(gates(), st.floats(-1e6, 1e6))
def test_an_operator_and_its_opposite_never_agree(gate: Gate, value: float) -> None:
    opposite = {">=": "<", "<": ">=", "<=": ">", ">": "<="}[gate.op]
    other = Gate(gate.metric, opposite, gate.bound, gate.bound_text, gate.slice, gate.baseline, gate.min_n)
    assert gate.holds(value) != other.holds(value)
