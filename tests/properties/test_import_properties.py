"""Laws of imports: lists printed into cells, arbitrary replies, and logs with arbitrary values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_rageval.datasets.imports import (
    Importer,
    ImportRequest,
    ImportResult,
    ralle_output,
    react_log,
    reval_log,
    toolbench,
)
from pytest_rageval.datasets.imports.cells import list_items
from pytest_rageval.datasets.imports.omnieval_compat import reply_value, score_fields

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4)


@given(TEXTS, st.sampled_from([", ", " ", "\n "]))
def test_lists_as_python_json_and_numpy_print_them_are_read(texts: list[str], between: str) -> None:
    assert list_items(repr(texts), "") == texts
    assert list_items(json.dumps(texts), "") == texts
    assert list_items(f"[{between.join(map(repr, texts))}]", "") == texts


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_other_text_is_one_item(text: str) -> None:
    assert list_items(f"{text}.", "") == [f"{text}.".strip()]
    assert list_items(f"[1] {text}x", "") == [f"[1] {text}x"]


@given(TEXTS)
def test_a_string_without_a_separator_is_one_text(texts: list[str]) -> None:
    assert list_items(repr(texts)) == [repr(texts)]


@given(st.text(st.sampled_from("{}[]\"':,.-+12eprdiction \\n")), st.sampled_from(["accuracy", "hallucination"]))
def test_any_reply_has_a_value_or_a_reason(text: str, metric: str) -> None:
    for reply in (text, f'{{"prediction": {text}}}', f"{{'prediction': '{text}"):
        assert set(score_fields(metric, reply_value(reply, metric))) in ({"value"}, {"reason"})


@given(st.integers(-5, 5), st.sampled_from(["accuracy", "hallucination"]), st.sampled_from(["{}", "So: {} it is."]))
def test_a_plain_reply_is_its_number(number: int, metric: str, around: str) -> None:
    stored = number if metric == "hallucination" or number == -1 else number / 2
    assert reply_value(around.replace("{}", f'{{"prediction": {number}}}'), metric) == stored


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from(["", "x", "Action 1: Finish[x]", "Finish", "{}"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "output", "x"]), inner),
    max_leaves=4,
)
NODES = st.recursive(
    st.fixed_dictionaries({"node_type": st.sampled_from(["Action", "Action Input", "Thought", 1])}),
    lambda inner: st.fixed_dictionaries(
        {
            "node_type": st.sampled_from(["Action", "Action Input", "Thought"]),
            "description": st.sampled_from(["Finish", "search", "{}", "["]),
            "children": st.lists(inner, max_size=2) | VALUES,
        },
        optional={"observation": VALUES, "observation_code": VALUES, "expand_num": VALUES, "pruned": VALUES},
    ),
    max_leaves=6,
)
ACTIONS = st.lists(
    st.fixed_dictionaries({}, optional={"prompt": VALUES, "answer": VALUES, "provenance": VALUES}) | VALUES, max_size=2
)


def rows_of(*names: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return rows with some of these keys, most of them with values of a wrong type."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, VALUES) | more)


TREES = st.fixed_dictionaries({"tree": NODES | VALUES})
LOGS: dict[str, tuple[Importer, st.SearchStrategy[dict[str, Any]]]] = {
    "x.jsonl": (react_log.import_rows, rows_of("id", "question", "gold", "answer", "transcript", "steps", "system")),
    "x_log.jsonl": (
        reval_log.import_rows,
        rows_of("question", "answer", "prediction", "correct", "reward", "halted", "error", "scratchpad", "exe_time"),
    ),
    "x.json": (
        toolbench.import_rows,
        rows_of(
            "forward_args",
            tree=TREES | VALUES,
            answer_generation=rows_of("query", "final_answer", "query_count", "total_tokens") | VALUES,
        ),
    ),
    "output.jsonl": (ralle_output.import_rows, rows_of("id", "input", output=ACTIONS | VALUES)),
}


@pytest.mark.parametrize("name", LOGS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_a_log_with_any_values_is_imported_or_skipped(name: str, draw: st.DataObject, tmp_path: Path) -> None:
    importer, rows = LOGS[name]
    row = draw.draw(rows)
    (tmp_path / name).write_text(json.dumps(row), encoding="utf-8")
    result = ImportResult()
    importer(ImportRequest((tmp_path / name,)), result)
    assert len(result.answers) + len(result.skipped) == result.rows
    json.dumps(result.answers, allow_nan=False)
