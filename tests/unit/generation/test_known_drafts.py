"""The closed-book check of a plan: which cases a model answers without any passage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.projects.model_plans import FOUNDED, item, model_plan, replying, write_documents

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.closed_book import drop_known, known_section, mark_known
from pytest_rageval.generation.loading import load_material
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.stage import add_drafts
from pytest_rageval.generation.output.records import record_of
from pytest_rageval.generation.plan import read_plan
from pytest_rageval.generation.quotas import apply_quotas
from pytest_rageval.generation.split import Sets
from pytest_rageval.model.chat import Message
from pytest_rageval.testing import ScriptedLLM

OPENS = item("When does the town museum open on weekdays?", "9:00", "opens at 9:00")
KNOWS = {"founded": "It was founded in 1903.", "": "I do not know."}


def drafts_after_check(
    folder: Path, knows: ScriptedLLM, leakage: str, *, per_cell: int = 2
) -> tuple[list[Draft], Material]:
    """Return the drafts of two questions after the closed-book check."""
    write_documents(folder, {"Museum/a.md": "The town museum was founded in 1903. It opens at 9:00 on weekdays."})
    plan = model_plan(folder, "extractive_qa", head=f"per_cell = {per_cell}", more=f"[leakage]\n{leakage}")
    material = load_material(read_plan(plan), None)
    drafter = replying({"": [FOUNDED, OPENS]})
    material.models = ModelAccess(lambda name: knows if name == "closed" else drafter)
    drafts = drop_known(material, add_drafts(material, []))
    return mark_known(material, apply_quotas(material, drafts)), material


def test_each_kept_case_has_a_facet_for_whether_the_model_knew_it(tmp_path: Path) -> None:
    model = ScriptedLLM(KNOWS)
    drafts, material = drafts_after_check(tmp_path, model, 'closed_book = "closed"')
    assert [(each.facets["knew"], each.state) for each in drafts] == [("true", "kept"), ("false", "kept")]
    assert record_of(drafts[0])["knew"] == "true"
    assert [each.messages[-1]["content"] for each in model.requests] == [FOUNDED["question"], OPENS["question"]]
    assert "1903" not in json.dumps([each.messages for each in model.requests])
    row = list(known_section(material, drafts, Sets((), (), ())))[-1]
    assert row.replace("\\", "") == "| Museum | extractive_qa | 2 | 1 | 50.0 % |"


def test_known_cases_are_dropped_before_the_cell_is_counted(tmp_path: Path) -> None:
    drafts, material = drafts_after_check(tmp_path, ScriptedLLM(KNOWS), 'closed_book = "closed"\ndrop_known = true')
    assert [(each.reason, each.facets["knew"]) for each in drafts] == [("known", "true"), ("", "false")]
    assert [str(each) for each in material.shortages] == [
        "topic=Museum, task=extractive_qa: 1 of 2 wanted cases (1 known)"
    ]


def test_only_kept_cases_are_asked(tmp_path: Path) -> None:
    model = ScriptedLLM(KNOWS)
    drafts, _ = drafts_after_check(tmp_path, model, 'closed_book = "closed"', per_cell=1)
    assert sorted(each.reason for each in drafts) == ["", "surplus"]
    assert len(model.requests) == 1


def fail_on_founding(messages: Sequence[Message]) -> str | ModelError:
    """Fail on the question about the founding."""
    is_founding = "founded" in str(messages[-1]["content"])
    return ModelError("timeout", "no reply in time") if is_founding else "I do not know."


def test_a_call_that_fails_is_counted(tmp_path: Path) -> None:
    drafts, material = drafts_after_check(tmp_path, ScriptedLLM(fail_on_founding), 'closed_book = "closed"')
    assert [(each.state, each.facets.get("knew")) for each in drafts] == [("kept", None), ("kept", "false")]
    assert material.left_out["closed-book calls of closed failed: timeout"] == 1


def test_a_case_whose_closed_book_call_fails_is_dropped(tmp_path: Path) -> None:
    drafts, material = drafts_after_check(
        tmp_path, ScriptedLLM(fail_on_founding), 'closed_book = "closed"\ndrop_known = true'
    )
    assert [each.reason for each in drafts] == ["model_error", ""]
    assert [str(each) for each in material.shortages] == [
        "topic=Museum, task=extractive_qa: 1 of 2 wanted cases (error: 1 call failed (timeout), 1 model_error)"
    ]


@pytest.mark.parametrize("setting", ["", "\ndrop_known = true"])
def test_a_model_that_never_replies_is_refused(tmp_path: Path, setting: str) -> None:
    failing = ScriptedLLM(lambda messages: ModelError("timeout", "no reply in time"))
    with pytest.raises(SettingError, match=r"^\[leakage\] closed_book: no call had a reply: no reply in time"):
        drafts_after_check(tmp_path, failing, f'closed_book = "closed"{setting}')


def test_a_spent_budget_marks_nothing(tmp_path: Path) -> None:
    out_of_budget = ScriptedLLM(lambda messages: ModelError("budget", "the budget would be passed"))
    drafts, material = drafts_after_check(tmp_path, out_of_budget, 'closed_book = "closed"')
    assert [each.state for each in drafts] == ["kept", "kept"]
    assert material.left_out["closed-book calls of closed failed: budget"] == 2


def test_without_a_model_nothing_is_asked(tmp_path: Path) -> None:
    drafts, material = drafts_after_check(tmp_path, ScriptedLLM([]), "")
    assert not any("knew" in each.facets for each in drafts)
    assert list(known_section(material, drafts, Sets((), (), ()))) == []
