"""`paraphrase = true` in a template: which wordings of a model are kept, which are refused and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.projects.plan_project import PlanProject

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.estimate import estimate_lines
from pytest_rageval.generation.loading import load_material
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.rewording import wordings_line
from pytest_rageval.generation.output.records import record_of
from pytest_rageval.generation.output.report import report_of
from pytest_rageval.generation.pipeline import drafted
from pytest_rageval.generation.plan import read_plan
from pytest_rageval.generation.split import Sets
from pytest_rageval.model.chat import Message
from pytest_rageval.testing import ScriptedLLM

MODEL = '[model]\nname = "m"\n'
WHERE = 'table = "staff"\nask = "Where does {name}, the {job}, work?"\nanswer = "{city}"\nparaphrase = true\n'
ANN, BO = "Where does Ann Lee, the curator, work?", "Where does Bo Ek, the director, work?"
GUARD = "Where does Ann Lee, the guard, work?"

Reply = str | ModelError


def wording(question: object) -> str:
    return json.dumps({"question": question})


def drafts_by_wording(
    project: PlanProject, replies: Mapping[str, Reply], *templates: str, **plan: str
) -> tuple[dict[str, Draft], Material, ScriptedLLM]:
    """Return the drafts by the template's wording, the material and the model.

    The model sends the reply whose key is in the request, else the question with "Please tell me" before it.
    """

    def reply(messages: Sequence[Message]) -> Reply:
        prompt = str(messages[-1]["content"])
        question = next(line[2:] for line in prompt.splitlines() if line.startswith("> "))
        return next((text for key, text in replies.items() if key in prompt), wording(f"Please tell me: {question}"))

    model = ScriptedLLM(reply)
    plan = {"head": MODEL, **plan}
    project.plan(*(templates or (WHERE,)), **plan)
    material = load_material(read_plan(project.folder / "plan.toml"), None)
    material.models = ModelAccess(lambda name: model)
    drafts = drafted(material)
    return {each.verdicts.get("wording", {}).get("before", each.question): each for each in drafts}, material, model


def refusal(draft: Draft) -> Any:
    assert draft.state == "kept"
    assert "wording" not in draft.verdicts
    return draft.verdicts["wording_refused"]


def test_a_kept_case_gets_the_wording_of_the_model(project: PlanProject) -> None:
    other = "In which city is the curator Ann Lee employed?"
    drafts, _, model = drafts_by_wording(project, {ANN: wording(f" {other}\n")})
    record = record_of(drafts[ANN])
    assert record["question"] == other
    assert record["generated"]["wording"] == {"by": "m", "before": ANN}
    assert record["id"] == record["generated"]["draft"] == drafts[ANN].id
    assert (record["answers"], record["generator"], drafts[ANN].state) == (["Oslo"], "template", "kept")
    assert wordings_line(drafts.values()) == "other wordings of m: 3 kept, 0 refused"
    assert len(model.requests) == 3
    prompt = str(model.requests[0].messages[-1]["content"])
    assert prompt == f"Question to reword:\n> {ANN}\n\nValues to copy:\n> Ann Lee\n> curator"


@pytest.mark.parametrize(
    ("reply", "reason", "finding"),
    [
        ("Where is Ann Lee?", "unreadable", "the reply holds no JSON object"),
        (wording(["x"]), "unreadable", 'the JSON object has no "question" that is a text'),
        (wording("\ud800 Ann Lee curator"), "unreadable", 'the JSON object has no "question" that is a text'),
        (wording("Where is the curator Ann Lee\0?"), "unreadable", 'the JSON object has no "question" that is a text'),
        (wording("where does ann lee, the curator, work"), "unchanged", "the question is the same"),
        (wording("Where does the curator work?"), "value_missing", "the question lacks 'Ann Lee'"),
        (wording("Where does Ann Leeds work as a curator?"), "value_missing", "the question lacks 'Ann Lee'"),
        (wording("Is Ann Lee, the curator, in Oslo?"), "answer_in_question", "'Oslo' is in the question"),
        (wording("According to the text, where is curator Ann Lee?"), "refers_to_text", "refers to a text"),
        (
            wording("馆长 Ann Lee（curator）在哪里工作？请告诉我工作的地点。"),
            "language",
            "the question is zh, wanted en",
        ),
        (wording("Where is Ann Lee, the curator" + " of art" * 50 + "?"), "too_long", "characters"),
        (wording("Where is Ann Lee, the curator, ann.lee@town.example?"), "private_data", "e-mail address"),
    ],
)
def test_a_wording_that_changes_the_question_is_refused(
    project: PlanProject, reply: str, reason: str, finding: str
) -> None:
    drafts, material, _ = drafts_by_wording(project, {ANN: reply})
    verdict = refusal(drafts[ANN])
    assert (verdict["by"], verdict["reason"]) == ("m", reason)
    assert finding in verdict["found"]
    line = f"other wordings of m: 2 kept, 1 refused (1 {reason})"
    assert wordings_line(drafts.values()) == line
    report = report_of(material, list(drafts.values()), Sets((), (), ()))
    assert f"## Wordings\n\n{line}.\n" in report.replace("\\", "")
    assert "wording" not in record_of(drafts[ANN])["generated"]


def test_a_wording_may_change_the_notation_of_a_number_but_not_its_value(project: PlanProject) -> None:
    project.write("hall.csv", "name,seats,opened,town\nA,1200,1903,Oslo\nB,1500,1950,Bergen\n")
    table = '[[table]]\nname = "hall"\npath = "hall.csv"\n'
    ask = 'table = "hall"\nask = "Where is the hall of {seats} seats, opened in {opened}?"\nanswer = "{town}"\n'
    replies = {
        "1200": wording("In which town was a hall for 1,200 people opened in 1903?"),
        "1500": wording("In which town was a hall of 15000 seats opened in 1950?"),
    }
    drafts, _, _ = drafts_by_wording(project, replies, ask + "paraphrase = true\n", table=table)
    assert [refusal(each)["found"] for each in drafts.values() if "wording" not in each.verdicts] == [
        "the question lacks '1500'"
    ]


def test_each_value_needs_its_own_place_and_may_stay_part_of_a_word(project: PlanProject) -> None:
    project.write("staff.csv", "name,job,city\nAnn Lee,lee,Oslo\nBo,guard,Bergen\n")
    ask = WHERE.replace("{name}, the {job}, work", "{name} meet other {job}s")
    replies = {
        "Ann Lee": wording("Where do Ann Lee and the others meet?"),
        "Bo": wording("Where does Bo meet his fellow guards?"),
    }
    table = '[[table]]\nname = "staff"\npath = "staff.csv"\n'
    drafts, _, _ = drafts_by_wording(project, replies, ask, table=table)
    assert refusal(drafts["Where does Ann Lee meet other lees?"])["found"] == "the question lacks 'lee'"
    assert "wording" in drafts["Where does Bo meet other guards?"].verdicts


def test_a_wording_must_not_name_the_row_that_a_join_passes(project: PlanProject) -> None:
    ask = WHERE.replace("Where does", "In which city does the boss of").replace(", the {job},", ", the {job},")
    via = 'via = "staff.boss -> staff.name"\n'
    replies = {"curator": wording("Where does Bo Ek, the boss of Ann Lee, the curator, work?")}
    drafts, _, _ = drafts_by_wording(project, replies, ask + via)
    first = refusal(drafts["In which city does the boss of Ann Lee, the curator, work?"])
    assert (first["reason"], first["found"]) == ("bridge_in_question", "the question contains 'Bo Ek'")


def test_a_wording_of_a_contrast_keeps_the_values_of_both_rows(project: PlanProject) -> None:
    ask = 'ask = "Who works here longer, {name} the {job} or {other.name} the {other.job}?"\npick = "min(since)"\n'
    contrast = f'table = "staff"\n{ask}answer = "{{name}}"\nparaphrase = true\n'
    drafts, _, _ = drafts_by_wording(
        project, {"longer": wording("Who came first, Ann Lee the curator or Bo Ek?")}, contrast
    )
    (draft,) = drafts.values()
    assert refusal(draft)["found"] == "the question lacks 'director'"


def test_wordings_that_repeat_a_draft_are_refused(project: PlanProject) -> None:
    both = "Where do Ann Lee, the curator, the guard and Bo Ek, the director, work?"
    drafts, _, _ = drafts_by_wording(
        project, {"curator": wording(both), "director": wording(both), "guard": wording(both)}
    )
    assert drafts[ANN].question == both
    assert {refusal(drafts[each])["reason"] for each in (BO, GUARD)} == {"duplicate"}


def test_a_wording_that_repeats_a_restored_question_is_refused(project: PlanProject) -> None:
    one_row = "where = \"job == 'curator'\"\n"
    desk, town = "Tell me where Ann Lee, the curator, has a desk", "In which town is Ann Lee employed as a curator?"
    templates_by_question = {ANN: WHERE, desk: WHERE, town: WHERE.replace("paraphrase = true\n", "")}
    asks = {each: each.replace("Ann Lee", "{name}").replace("curator", "{job}") for each in templates_by_question}
    templates = [
        text.replace("Where does {name}, the {job}, work?", asks[each]) + one_row
        for each, text in templates_by_question.items()
    ]
    drafts, _, _ = drafts_by_wording(project, {ANN: wording(desk), desk: wording(town)}, *templates)
    assert {each: refusal(drafts[each])["reason"] for each in (ANN, desk)} == {ANN: "duplicate", desk: "duplicate"}
    assert drafts[town].state == "kept"


def test_a_wording_that_is_in_a_leakage_file_is_refused(project: PlanProject) -> None:
    training_question = "In which city of the country is Ann Lee employed as a curator of the museum?"
    project.write("train.jsonl", json.dumps({"question": training_question}))
    drafts, _, _ = drafts_by_wording(
        project, {ANN: wording(training_question)}, head=MODEL + '[leakage]\nagainst = "train.jsonl"\n'
    )
    assert refusal(drafts[ANN])["reason"] == "train_overlap"
    assert refusal(drafts[ANN])["question"] == training_question


def test_only_kept_cases_of_the_template_are_asked(project: PlanProject) -> None:
    plain = WHERE.replace("paraphrase = true\n", "").replace("work?", "stay?")
    drafts, _, model = drafts_by_wording(project, {}, WHERE + "n = 1\n", plain)
    assert len(model.requests) == 1
    assert [each.state for each in drafts.values()].count("kept") == 4


def test_a_failed_call_is_an_error_of_its_cell(project: PlanProject) -> None:
    failing = {BO: ModelError("timeout", "no reply in time")}
    drafts, material, _ = drafts_by_wording(project, failing, head="per_cell = 3\n" + MODEL)
    assert (drafts[BO].reason, drafts[BO].verdicts["model_error"]) == ("model_error", "timeout: no reply in time")
    assert [str(each) for each in material.shortages] == [
        "topic=staff, task=extractive_qa: 2 of 3 wanted cases (error: 1 call failed (timeout), 1 model_error)"
    ]
    assert wordings_line(drafts.values()) == "other wordings of m: 2 kept, 0 refused"
    _, material, _ = drafts_by_wording(project, failing, WHERE + "n = 3\n")
    assert [str(each) for each in material.shortages] == ["plan.toml:8: 2 of 3 wanted cases (1 model_error)"]


def test_a_model_that_never_replies_is_refused(project: PlanProject) -> None:
    with pytest.raises(SettingError, match=r"^\[model\]: no call for another wording had a reply: spent; raise budget"):
        drafts_by_wording(project, {"": ModelError("budget", "spent; raise --rag-budget-usd")})


def test_a_chinese_question_uses_a_chinese_prompt_that_a_plan_may_replace(project: PlanProject) -> None:
    project.write("staff.csv", "name,job,city\n李安,馆长,奥斯陆\n")
    ask = WHERE.replace("Where does {name}, the {job}, work?", "{job}{name}在哪里工作？")
    table = '[[table]]\nname = "staff"\npath = "staff.csv"\n'
    replies = {"馆长李安": wording("馆长李安的工作地点是哪里？")}
    drafts, _, model = drafts_by_wording(project, replies, ask, table=table)
    assert str(model.requests[0].messages[-1]["content"]).startswith("要改写的问题：\n> 馆长李安在哪里工作？")
    assert drafts["馆长李安在哪里工作？"].question == "馆长李安的工作地点是哪里？"
    project.write("mine.toml", 'reword_user = "> {question} anew"')
    _, _, model = drafts_by_wording(project, {}, ask, table=table, head=MODEL + 'prompts = {zh = "mine.toml"}\n')
    assert model.requests[0].messages[-1]["content"] == "> > 馆长李安在哪里工作？ anew"


@pytest.mark.parametrize(
    ("template", "head", "message"),
    [
        (WHERE, "", "plan.toml:10: paraphrase needs a model; add [model] with its name"),
        (WHERE.replace("true", '"yes"'), MODEL, "plan.toml:12: [template] paraphrase: found 'yes', wanted true"),
        (
            WHERE.replace('"{city}"', '["{city}", "{since}"]') + 'follow_up = "And since when?"\n',
            MODEL,
            "plan.toml:12: paraphrase is for one question, not for a conversation; leave it out",
        ),
    ],
)
def test_an_invalid_paraphrase_setting_is_refused(project: PlanProject, template: str, head: str, message: str) -> None:
    project.plan(template, head=head)
    assert message in project.refusal()


def test_a_dry_run_counts_the_calls(project: PlanProject) -> None:
    project.plan(WHERE + "n = 2\n", head=MODEL)
    material = load_material(read_plan(project.folder / "plan.toml"), None)

    def replays(name: str, messages: Sequence[Message]) -> bool:
        return ANN in str(messages[-1]["content"])

    material.models = ModelAccess(lambda name: ScriptedLLM([]), replays=replays)
    calls = [line for line in estimate_lines(material) if line.startswith("calls:")]
    assert len(calls) == 1
    assert calls[0].startswith("calls: 2 of m for other wordings, 1 are recorded, tokens: about ")
