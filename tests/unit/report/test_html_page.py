"""The HTML page as text: complete data, and no active content."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from typing import Any

import pytest

from pytest_rageval.report.html.columns import columns_of
from pytest_rageval.report.html.comparison_rows import comparison_of
from pytest_rageval.report.html.headline import tiles_of
from pytest_rageval.report.html.page import html_of
from pytest_rageval.report.html.payload import INSTANCES, OUTCOMES, pack
from pytest_rageval.report.html.visible_text import visible_html
from pytest_rageval.report.run.json_text import to_json

CALLS = ("calls", "replayed", "attempts", "prompt_tokens", "completion_tokens", "cost_usd", "spent_usd")


def outcome(name: str, value: float | None = 1.0, system: str = "mine", **facets: str) -> dict[str, Any]:
    score: dict[str, Any] = {"value": value} if value is not None else {"value": None, "reason": "late"}
    usage = {"prompt_tokens": 7, "completion_tokens": None, "cost_usd": None, "latency_s": 0.5}
    setting = "".join(f"-{key}={value}" for key, value in facets.items())
    return {
        "nodeid": f"t.py::t[{name}{setting}-{system}]",
        "testbed": "t.py::t",
        "case_id": name,
        "facets": {**facets, "system": system},
        "system": system,
        "status": "scored",
        "answer": {"text": f"answer {name}", "abstained": None, "ranking": None, "trace": [], "usage": usage},
        "scores": {"accuracy": score},
        "supplied": [],
        "error": None,
        "error_type": None,
        "calls": None,
    }


def results(*outcomes: dict[str, Any], **more: Any) -> dict[str, Any]:
    plan = {"metrics": {}, "session_gates": [], "unmatched_gates": [], "unselected": 0, "unfinished": {}, "notes": []}
    testbed = {"name": "t", "metrics": ["accuracy"], "gates": [], "generated": 1, "asserts": False, "notes": []}
    run = {"id": "r", "started": "2026-01-02T03:04:05+00:00", "duration_s": 1.0, "versions": {}, "fingerprint": ""}
    return {
        "run": {**run, "interrupted": False},
        "testbeds": {"t.py::t": {**testbed, "labelled": False}},
        "plan": {**plan, "view": {"metric": None, "rows": None, "cols": None}},
        "instances": {each["case_id"]: {"question": f"{each['case_id']}?", "passages": {}} for each in outcomes},
        "outcomes": list(outcomes),
        "gates": [],
        "usage": dict.fromkeys(CALLS, 0),
    } | more


def parcels(page: str) -> dict[str, Any]:
    result = re.findall(r'<script type="application/octet-stream" id="data-([\w-]+)">([\w+/=]*)</script>', page)
    return {name: json.loads(gzip.decompress(b64decode(packed))) for name, packed in result}


def test_every_outcome_and_instance_is_in_its_parcel() -> None:
    outcomes = [outcome(f"q{at}") for at in range(OUTCOMES * 2 + 1)]
    data = parcels("".join(html_of(results(*outcomes))))
    names = ("outcomes", "instances")
    rows = {name: [data[f"{name}-{at}"] for at in range(len(data)) if f"{name}-{at}" in data] for name in names}
    assert [len(each) for each in rows["outcomes"]] == [OUTCOMES, OUTCOMES, 1]
    assert [row for each in rows["outcomes"] for row in each] == outcomes
    assert max(len(each) for each in rows["instances"]) == INSTANCES
    assert [row["question"] for each in rows["instances"] for row in each] == [f"{o['case_id']}?" for o in outcomes]
    assert data["answers"] == [f"answer {o['case_id']}" for o in outcomes]


def test_results_in_memory_and_from_a_file_give_the_same_page() -> None:
    from_file = results(outcome("q1"), outcome("q2", None, topic="Ferries"))
    in_memory = {**from_file, "outcomes": [*map(to_json, from_file["outcomes"])]}
    in_memory["instances"] = {name: to_json(each) for name, each in from_file["instances"].items()}
    assert "".join(html_of(in_memory)) == "".join(html_of(from_file))


def test_the_policy_allows_only_the_page_s_own_script_and_style() -> None:
    page = "".join(html_of(results(outcome("q1"))))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    one, other = (b64encode(sha256(text.encode()).digest()).decode() for text in (script, style))
    sources = f"script-src 'sha256-{one}'; style-src 'sha256-{other}'"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in unescape(page)
    addresses = set(re.findall(r"https?://[^\"'\s]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, never fetched
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\s(?:on\w+|style|src)=", markup)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", script)


def test_every_colour_is_defined_in_both_schemes() -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", "".join(html_of(results())), re.DOTALL)
    colours = dict(re.findall(r"(--[\w-]+): (light-dark\(#\w+, #\w+\));", style))
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) | {"--s7"} == colours.keys()


def test_columns_have_one_entry_per_outcome() -> None:
    content = results(outcome("q1", 1.0, topic="Ferries"), outcome("q2", None, task="qa"), outcome("q1", 0.0, "other"))
    content["outcomes"][1] |= {"answer": None, "status": "error", "error": "no line", "error_type": "DeskClosed"}
    content["run"]["failed"] = [content["outcomes"][2]["nodeid"], "test_desk.py::test_plain"]
    columns, searched = columns_of(content, None)
    assert columns["facets"]["topic"] == {"values": ["Ferries"], "codes": [0, -1, -1]}
    assert columns["facets"]["task"] == {"values": ["qa"], "codes": [-1, 0, -1]}
    assert columns["case"] == {"values": ["q1", "q2"], "codes": [0, 1, 0]}
    assert columns["system"] == {"values": ["mine", "other"], "codes": [0, 0, 1]}
    assert columns["scores"] == {"accuracy": [1.0, None, 0.0]}
    assert columns["used"]["latency_s"] == [0.5, None, 0.5]
    assert columns["answered"] == [1, 0, 1]
    assert columns["before"] == {}
    assert columns["error_type"] == {"values": ["DeskClosed"], "codes": [-1, 0, -1]}
    assert columns["failed"] == [0, 0, 1]
    assert searched == ["answer q1", "DeskClosed\nno line", "answer q1"]


def test_cases_without_an_instance_come_last() -> None:
    columns, _ = columns_of(results(outcome("lost"), instances={"q1": {"passages": {}}}), None)
    assert columns["case"] == {"values": ["q1", "lost"], "codes": [1]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("<b> & \"'", "&lt;b&gt; &amp; &#34;&#39;"),
        ("a\x1b[31m", 'a<span class="unseen">U+001B</span>[31m'),
        ("\u202e", '<span class="unseen">U+202E</span>'),
        ("\ud800", '<span class="unseen">U+D800</span>'),
        ("\U000e0041", '<span class="unseen">U+E0041</span>'),
        ("é 渡轮 \n\t", "é 渡轮 \n\t"),
    ],
)
def test_invisible_characters_are_shown_by_name(text: str, expected: str) -> None:
    assert visible_html(text) == f'<bdi class="data">{expected}</bdi>'


def test_a_lone_surrogate_is_packed_as_in_json() -> None:
    unset = dict.fromkeys(("baseline", "p_value", "verdict", "reason", "value", "ci95"))
    fields = {"expr": "n > 0", "scope": "\ud800", "slice": {}, "status": "failed", "n": 0, "n_errors": 0, "cells": []}
    worst = [{"nodeid": "\ud800", "value": None}]
    one = outcome("q1") | {"nodeid": "\ud800"}
    page = "".join(html_of(results(one, gates=[{**unset, **fields, "worst": worst}])))
    assert '<a href="#case=%EF%BF%BD"><bdi class="data"><span class="unseen">U+D800</span></bdi></a>' in page
    assert gzip.decompress(b64decode(pack(to_json(["\ud800"])))) == b'["\\ud800"]'


def test_an_unknown_gate_expression_is_shown_unchanged_without_a_scale() -> None:
    unset = dict.fromkeys(("baseline", "p_value", "verdict", "ci95"))
    fields = {"expr": "faithfulness at least 80", "scope": "town", "slice": {}, "n": 4, "n_errors": 0, "cells": []}
    gate = {**unset, **fields, "status": "failed", "value": 0.25, "reason": "faithfulness is 0.25", "worst": []}
    page = "".join(html_of(results(outcome("q1"), gates=[gate])))
    (row,) = re.findall(r'<tr role="row" class="failed".*?</tr>', page, re.DOTALL)
    assert "faithfulness at least 80" in row
    assert "faithfulness is 0.25" in row
    assert re.findall(r">([0-9.]+)<", row) == ["0.25", "4"]
    assert "<svg" not in row  # no scale
    assert "&gt;=" not in row


def test_the_corrected_p_value_decides_whether_a_cell_is_significant() -> None:
    unset = dict.fromkeys(("baseline", "value", "least_drop"))
    each: dict[str, Any] = {
        **unset,
        "testbed": "t",
        "metric": "accuracy",
        "system": "mine",
        "causes": {},
        "broken": [],
        "fixed": [],
    }
    each |= {"n": 12, "n_pairs": 4, "delta": -0.5, "ci95": [-0.9, -0.1]}
    cells = [each | {"slice": {"topic": topic}, "p_holm": p} for topic, p in (("A", 0.01), ("B", 0.06), ("C", None))]
    cases = dict.fromkeys(("new", "gone", "changed", "renamed", "errors"), ()) | {"compared": 12, "answers_changed": 0}
    same = {"same_fingerprint": True}
    result = comparison_of(results(comparison={"baseline": same, "cases": cases, "comparisons": cells}), {})
    assert result is not None
    assert [(cell["where"], cell["sure"], cell["n"]) for cell in result["cells"]] == [("topic=A", True, "12 (4 cases)")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (None, None)),
        ({"attempts": 0, "replayed": 0}, (None, None)),
        ({"prompt_tokens": 7}, ("80", "unknown")),
        ({"attempts": 80}, ("80", "unknown")),
        ({"replayed": 80}, ("80 (80 replayed)", "unknown")),
    ],
)
def test_the_page_shows_model_calls_only_if_they_are_known(
    fields: dict[str, int], expected: tuple[str | None, str | None]
) -> None:
    usage = dict.fromkeys(CALLS) | {"calls": 80} | fields
    tiles = dict(tiles_of(results(outcome("a"), usage=usage), {"scored": 1}, 1))
    calls = [f"{n}{what.removeprefix('model calls')}" for what, n in tiles.items() if what.startswith("model calls")]
    assert (next(iter(calls), None), tiles.get("cost")) == expected


def test_a_page_with_too_many_cases_has_only_the_texts_of_missed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_rageval.report.html.text_selection.MAX_OUTCOMES", 2)
    many = results(outcome("q1"), outcome("q2", 0.0) | {"missed": True}, outcome("q3"))
    note = "the texts of 2 cases that did not change are not in this page: a page with more than 50,000 cases"
    page = "".join(html_of(many))
    assert note in page
    assert [each is not None for each in parcels(page)["outcomes-0"]] == [False, True, False]
    for whole in ("".join(html_of(many, texts_of="all")), "".join(html_of(results(outcome("q1"), outcome("q2"))))):
        assert "that did not change are not in this page" not in whole
        assert None not in parcels(whole)["outcomes-0"]
