"""Inspection of drafts by a second model call: keep, mend or drop, and corrections pass all checks again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.projects.model_plans import FOUNDED, PRICE, drafts_of, item, model_plan, reasons, replying, write_documents

from pytest_rageval.errors import ModelError
from pytest_rageval.model.chat import Message
from pytest_rageval.testing import ScriptedLLM

VAGUE = {**FOUNDED, "question": "When was the museum of the town founded?"}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    write_documents(tmp_path, {"Museum/a.md": "The town museum was founded in 1903. It opens at 9:00."})
    return model_plan(tmp_path, "extractive_qa")


def mend(correction: object, **fields: object) -> str:
    return json.dumps({"reason": "name the museum", "verdict": "mend", "item": correction, **fields})


def drafting_model(*replies: str) -> ScriptedLLM:
    """Return a model that drafts `VAGUE` and then replies to inspections in this order."""
    return ScriptedLLM([json.dumps([VAGUE]), *replies])


def test_an_inspector_drops_a_draft_with_its_reason(plan: Path) -> None:
    drafts, _ = drafts_of(plan, drafting_model('{"verdict": "drop", "reason": "two museums"}'))
    assert reasons(drafts) == [("inspection_drop", VAGUE["question"])]
    assert drafts[0].verdicts["inspection_drop"] == "two museums"


def test_a_correction_is_inspected_again_and_kept(plan: Path) -> None:
    model = drafting_model(mend(FOUNDED), '{"verdict": "keep"}')
    drafts, _ = drafts_of(plan, model)
    assert reasons(drafts) == [("", FOUNDED["question"])]
    history = drafts[0].verdicts["inspection"]["verdicts"]
    assert history == [
        {"verdict": "mend", "reason": "name the museum", "before": [VAGUE["question"]]},
        {"verdict": "keep"},
    ]
    assert FOUNDED["question"] in str(model.requests[2].messages)


def test_a_correction_that_fails_a_check_is_dropped(plan: Path) -> None:
    wrong = {**FOUNDED, "question": "Was the town museum founded in 1903?"}
    drafts, _ = drafts_of(plan, drafting_model(mend(wrong)))
    assert reasons(drafts) == [("answer_in_question", wrong["question"])]


@pytest.mark.parametrize("wrong", [{"question": "When?"}, {**FOUNDED, "evidence": []}])
def test_a_correction_with_wrong_fields_is_dropped(plan: Path, wrong: object) -> None:
    drafts, _ = drafts_of(plan, drafting_model(mend(wrong)))
    assert reasons(drafts) == [("wrong_fields", VAGUE["question"])]


def test_an_item_is_corrected_at_most_twice(plan: Path) -> None:
    corrections = [{**FOUNDED, "question": f"When was the town museum founded, by version {n}?"} for n in range(3)]
    model = drafting_model(*map(mend, corrections))
    drafts, _ = drafts_of(plan, model)
    assert reasons(drafts) == [("inspection_still_mend", corrections[1]["question"])]
    assert len(model.requests) == 4


def test_an_unreadable_inspection_is_asked_once_more(plan: Path) -> None:
    model = drafting_model("Fine with me.", '{"verdict": "keep"}')
    drafts, _ = drafts_of(plan, model)
    assert reasons(drafts) == [("", VAGUE["question"])]
    again = model.requests[2].messages
    assert again[-2]["content"] == "Fine with me."
    assert "> the reply holds no JSON object" in again[-1]["content"]


def test_an_item_whose_inspection_stays_unreadable_is_dropped_and_counted(plan: Path) -> None:
    drafts, _ = drafts_of(plan, drafting_model("Fine with me.", "I said so."))
    assert reasons(drafts) == [("inspection_unreadable", VAGUE["question"])]
    assert drafts[0].verdicts["inspection_unreadable"] == "the reply holds no JSON object"


def test_mend_without_an_item_is_unreadable(plan: Path) -> None:
    drafts, _ = drafts_of(plan, drafting_model('{"verdict": "mend", "reason": "?"}'))
    assert reasons(drafts) == [("inspection_unreadable", VAGUE["question"])]


def test_an_inspector_that_fails_leaves_an_error(plan: Path) -> None:
    plan.write_text("per_cell = 1\n" + plan.read_text() + 'inspector = "other"\n')
    failing = ScriptedLLM(lambda messages: ModelError("timeout", "no reply in time"))
    drafts, material = drafts_of(plan, replying({"": [VAGUE]}), other=failing)
    assert reasons(drafts) == [("model_error", VAGUE["question"])]
    assert material.shortages[0].reason == "error: 1 call failed (timeout), 1 model_error"


def test_inspector_and_corrector_may_be_other_models(plan: Path) -> None:
    plan.write_text(plan.read_text() + 'inspector = "strict"\ncorrector = "careful"\n')
    drafter = replying({"": [VAGUE]})

    def strict(messages: Sequence[Message]) -> str:
        return mend(None) if VAGUE["question"] in str(messages) else '{"verdict": "keep"}'

    inspector = ScriptedLLM(strict)
    corrector = ScriptedLLM(json.dumps({"item": FOUNDED}))
    drafts, _ = drafts_of(plan, drafter, strict=inspector, careful=corrector)
    assert reasons(drafts) == [("", FOUNDED["question"])]
    assert [len(model.requests) for model in (drafter, inspector, corrector)] == [1, 2, 1]
    assert "> name the museum" in corrector.requests[0].messages[-1]["content"]
    assert drafts[0].verdicts["inspection"]["by"] == "strict"


def test_a_correction_that_repeats_another_draft_is_dropped(plan: Path) -> None:
    opens = item("When does the town museum open?", "9:00", "It opens at 9:00")

    def inspect(messages: Sequence[Message]) -> str:
        return mend(opens) if VAGUE["question"] in str(messages) else '{"verdict": "keep"}'

    drafts, _ = drafts_of(plan, replying({"": [opens, VAGUE]}, inspect))
    assert reasons(drafts) == [("", opens["question"]), ("duplicate", opens["question"])]


def test_a_conversation_is_corrected_as_a_whole(tmp_path: Path) -> None:
    write_documents(tmp_path, {"Museum/a.md": "The town museum was founded in 1903 by Ann Lee. It opens at 9:00."})
    turns = [
        item("When was the town museum founded?", "1903", "founded in 1903"),
        item("And by whom?", "Ann Lee", "by Ann Lee"),
    ]
    third = item("And when does it open?", "9:00", "It opens at 9:00")
    longer = {"entity": "the town museum", "turns": [*turns, third]}

    def inspect(messages: Sequence[Message]) -> str:
        return '{"verdict": "keep"}' if third["question"] in str(messages) else mend(longer)

    drafts, _ = drafts_of(
        model_plan(tmp_path, "conversational_qa"),
        replying({"": [{"turns": turns, "entity": "the town museum"}]}, inspect),
    )
    assert [draft.state for draft in drafts] == ["kept"] * 3
    assert len({draft.facets["dialogue"] for draft in drafts}) == 1


def test_a_conversation_is_dropped_as_a_whole(tmp_path: Path) -> None:
    write_documents(tmp_path, {"Museum/a.md": "The town museum was founded in 1903 by Ann Lee. It opens at 9:00."})
    turns = [
        item("When was the town museum founded?", "1903", "founded in 1903"),
        item("By whom?", "Ann Lee", "Ann Lee"),
    ]
    drafts, _ = drafts_of(
        model_plan(tmp_path, "conversational_qa"), replying({"": [{"turns": turns, "entity": "town museum"}]}, "?")
    )
    assert [draft.reason for draft in drafts] == ["inspection_unreadable"] * 2


def test_an_inspector_sees_the_item_and_its_sources(plan: Path) -> None:
    model = replying({"": [FOUNDED, PRICE]})
    drafts, _ = drafts_of(plan, model)
    assert [reason for reason, _ in reasons(drafts)] == ["", "evidence_not_verbatim"]
    (request,) = [each for each in model.requests if "Item to inspect" in str(each.messages)]
    text = request.messages[-1]["content"]
    assert "> The town museum was founded in 1903. It opens at 9:00." in text
    item_json = "\n".join(line.removeprefix("> ") for line in text.partition("Item to inspect:\n")[2].splitlines())
    assert json.loads(item_json) == FOUNDED
