"""Laws of generated cases, over tables of any texts: hostile, empty, repeated, Chinese."""

from __future__ import annotations

import json
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_rageval.cli import main
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.output.records import draft_line, read_drafts
from pytest_rageval.linting.linter import lint
from pytest_rageval.metrics.shared.matching import fold

PLAN = """\
[[table]]
name = "staff"
path = "staff.jsonl"
key = "name"
passage = "{name} works as {job} in {city} since {since}."
topic = "Staff/{job}"
[[template]]
table = "staff"
ask = ["Where does {name} work?", "In which city does {name} have a post?"]
answer = "{city}"
[[template]]
table = "staff"
ask = "Where does {name}, the {job}, work?"
follow_up = ["And since when?"]
answer = ["{city}", "{since}"]
[[template]]
table = "staff"
via = "staff.boss -> staff.name"
ask = "In which city does the boss of {name} work?"
answer = "{city}"
[[template]]
table = "staff"
pick = "min(since)"
ask = "Who has been here longer, {name} or {other.name}, and since when?"
answer = "{name}"
[[template]]
table = "staff"
task = "integration"
ask = "Where do {name} and {other.name} work?"
answer = "{city}"
[[template]]
table = "staff"
task = "long_form_qa"
ask = "What is known about {name}?"
[[template]]
table = "staff"
all = true
ask = "Who works in {city}?"
answer = "{name}"
"""

NAMES = st.sampled_from(
    ["Ann Lee", "ann  lee", "Bo Ek", "李明", "O'Brien", "<b>x</b>", "a|b", "\u202eeve", "Zoë\x1b[31m", ""]
)
ROW = st.fixed_dictionaries({
    "name": NAMES,
    "job": st.sampled_from(["curator", "guard", "馆长", ""]),
    "city": st.one_of(st.sampled_from(["Oslo", "OSLO", "Bergen", "", "苏州", "yes"]), st.text(max_size=6)),
    "since": st.one_of(st.none(), st.integers(1900, 2020), st.sampled_from(["2,004", "2011-05-06"])),
    "boss": st.one_of(st.none(), NAMES),
})  # fmt: skip
FIRST = {"name": "Cy", "job": "guard", "city": "Molde", "since": 2001, "boss": "Di"}
SECOND = {"name": "Di", "job": "guard", "city": "Voss", "since": 2002, "boss": ""}
"""Two rows that every template fits."""


def generate(folder: Path, rows: list[dict[str, Any]], out: str = "out") -> Path:
    """Generate in a folder, and return the output folder."""
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in [*rows, FIRST, SECOND])
    (folder / "staff.jsonl").write_text(text, encoding="utf-8")
    with redirect_stdout(StringIO()):
        assert main(["generate", str(folder / "plan.toml"), "--out", str(folder / out)]) == 0
    return folder / out


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ROW, max_size=8))
def test_each_kept_draft_passes_lint_and_has_one_answer(rows: list[dict[str, Any]]) -> None:
    rows = [row for row in rows if "\0" not in str(row["city"])]
    with tempfile.TemporaryDirectory() as name:
        out = generate(Path(name), rows)
        drafts = read_drafts(out / "drafts.jsonl")
        kept_drafts = [draft for draft in drafts if draft.state == "kept"]
        lines = _lines(out)
        assert [json.loads(json.dumps(draft_line(draft))) for draft in drafts] == list(map(json.loads, lines))
        assert all(first_failure(draft) is None for draft in kept_drafts)
        instances = [each for file in ("auto_test", "auto_train") for each in _load(out / f"{file}.jsonl")]
        assert {each.id for each in instances} == {draft.id for draft in kept_drafts}
        assert len(instances) == len(kept_drafts)
        findings = lint(instances, corpus=f"jsonl:{out / 'corpus.jsonl'}")
        assert {each.check for each in findings if each.severity != "note"} <= {"joined_names"}
        assert "near_duplicate_question" not in {each.check for each in findings}
        assert _lines(generate(Path(name), rows)) == lines
        cities: dict[str, set[str]] = {}
        for row in [*rows, FIRST, SECOND]:
            if str(row["city"]).strip() and row["name"].strip():
                cities.setdefault(fold(row["name"]), set()).add(fold(str(row["city"])))
        for draft in kept_drafts:
            if draft.task == "extractive_qa" and draft.origin == "plan.toml:7":
                (slot,) = draft.gold
                assert cities[fold(draft.sources[0].title)] == {fold(slot[0])}


def _lines(out: Path) -> list[str]:
    return (out / "drafts.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")


def _load(path: Path) -> tuple[Any, ...]:
    return load(path) if path.exists() else ()
