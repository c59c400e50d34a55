"""A user's judges, declared or functions, are registered by name and used like metrics."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, case
from support.projects.scripted_projects import (
    NOTED,
    SAYS_WHAT_IT_IS_TOLD,
    asked_of,
    conftest,
    contents,
    judged,
    refused,
    values,
)

POLITE = """
    def pytest_rageval_register(registry):
        registry.judges.register("polite", PromptedJudge(
            "polite",
            "Is the answer polite?",
            labels={"polite": "a guest would not mind", "rude": "a guest would mind"},
            values={"polite": 1, "rude": 0},
        ))
        registry.judges.register("stars", PromptedJudge(
            "stars", {"en": "How good is it?", "zh": "有多好？"}, scale=(1, 5), shows=("question", "gold", "answer")))
"""

RULES = """lambda messages: (
    verdict(4) if any(asks in messages[0]["content"] for asks in ("How good", "有多好")) else
    verdict("rude" if "> no" in messages[-1]["content"] else "polite")
)"""

ROWS = [case("kind", "say Paris, gladly"), case("curt", "say no")]

PLAIN = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        assert True
"""


def test_a_marker_may_name_a_declared_judge_as_a_metric(project: Project) -> None:
    gates = "['polite >= 0.5', 'polite > 0.5', 'stars >= 0.75']"
    test = PLAIN.replace('metrics=["accuracy"]', f'metrics=["polite"], gates={gates}')
    judged(project, ROWS, test, POLITE, RULES)
    run = project.run()
    assert run.status == 1
    assert values(run, "polite") == {"kind": 1.0, "curt": 0.0}
    assert values(run, "stars") == {"kind": 0.75, "curt": 0.75}
    assert run.outcomes["kind"]["scores"]["stars"]["label"] == 4
    assert {name: gate["status"] for name, gate in run.gates.items()} == {
        "polite >= 0.5": "passed", "polite > 0.5": "failed", "stars >= 0.75": "passed",
    }  # fmt: skip


def test_the_prompts_of_a_declared_judge_contain_its_declaration(project: Project) -> None:
    test = PLAIN.replace('["accuracy"]', '["polite", "stars"]')
    judged(project, [case("kind", "say Paris", language="zh"), case("curt", "say no")], test, POLITE, RULES)
    project.run()
    requests = asked_of(project, "judge")
    system_prompts = contents(requests, "system")
    assert sum("Is the answer polite?" in text and "a guest would mind" in text for text in system_prompts) == 2
    assert sum("有多好？" in text for text in system_prompts) == 1  # in the language of the case, if the judge has it
    assert sum("How good is it?" in text for text in system_prompts) == 1
    assert (
        sum("\n> Paris\n" in text for text in contents(requests, "user")) == 2
    )  # one of the two is shown the gold answer


def test_replayed_verdicts_are_scored_with_the_current_values(project: Project) -> None:
    test = PLAIN.replace('["accuracy"]', '["polite"]')
    judged(project, ROWS, test, POLITE, RULES)
    args = ("--rag-record-mode", "once")
    assert values(project.run(*args), "polite") == {"kind": 1.0, "curt": 0.0}
    assert len(asked_of(project, "judge")) == 2
    judged(
        project, ROWS, test, POLITE.replace('values={"polite": 1, "rude": 0}', 'values={"polite": 0.5, "rude": None}')
    )
    run = project.run("--rag-record-mode", "none")
    assert values(run, "polite") == {"kind": 0.5, "curt": None}
    assert run.outcomes["curt"]["scores"]["polite"]["reason"] == "not_applicable: rude"
    assert asked_of(project, "judge") == []
    judged(project, ROWS, test, POLITE.replace("Is the answer polite?", "Is the answer friendly?"))
    run = project.run("--rag-record-mode", "none")
    assert {outcome["error_type"] for outcome in run.results["outcomes"]} == {"not_recorded"}
    assert "friendly" in run.outcomes["kind"]["error"]


def test_a_suite_may_name_a_judge(project: Project) -> None:
    judged(project, ROWS, "", POLITE, RULES)
    (project.path / "test_it.py").unlink()
    suite = '[[testbed]]\nname = "manners"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["polite"]\n'
    project.file("manners.rag.toml", suite + 'gates = ["polite >= 0.5"]\n')
    run = project.run()
    assert run.status == 0
    assert values(run, "polite") == {"kind": 1.0, "curt": 0.0}


@pytest.mark.parametrize("args", [("--rag-gate", "polite >= 0.5"), ("--rag-matrix", "polite")], ids=["gate", "matrix"])
def test_the_command_line_may_name_a_judge(project: Project, args: tuple[str, str]) -> None:
    judged(project, ROWS, PLAIN, POLITE, RULES)
    run = project.run(*args)
    assert run.status == 0
    assert values(run, "polite") == {"kind": 1.0, "curt": 0.0}
    if args[0] == "--rag-matrix":
        assert run.results["matrix"]["metric"] == "polite"
        assert run.results["matrix"]["total"]["mean"] == 0.5


def test_a_check_asks_the_judge_when_it_is_reached(project: Project) -> None:
    body = 'if rag.case.id == "curt":\n            rag.check("polite >= 1")\n            assert rag["polite"] == 1'
    judged(project, ROWS, PLAIN.replace("assert True", body), POLITE, RULES)
    run = project.run()
    assert run.status == 1
    run.said("E*check polite >= 1 failed: polite is 0")
    assert "polite" not in run.outcomes["kind"]["scores"]
    assert run.outcomes["curt"]["scores"]["polite"]["label"] == "rude"
    assert run.outcomes["curt"]["calls"]["calls"] == 1
    assert len(asked_of(project, "judge")) == 1


def test_a_check_without_a_judge_fails_with_its_reason(project: Project) -> None:
    judged(project, ROWS[:1], PLAIN.replace("assert True", 'rag.check("rejection_rate_judged <= 0")'))
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD)
    run = project.run()
    run.said("E*check rejection_rate_judged <= 0 failed: rejection_rate_judged is unscored (judge_unavailable)")


FUNCTIONS = {
    "function": """
        def short(sample):
            return len(sample.answer.text) < 5
    """,
    "async function": """
        async def short(sample):
            return 1.0 if len(sample.answer.text) < 5 else 0.0
    """,
    "verdict": """
        def short(sample):
            return Verdict(float(len(sample.answer.text) < 5), rationale="counted")
    """,
}

REGISTERS = """
    def pytest_rageval_register(registry):
        registry.judges.register("short", short)
"""


@pytest.mark.parametrize("shape", FUNCTIONS)
def test_a_function_needs_no_model(project: Project, shape: str) -> None:
    project.data(ROWS)
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD, FUNCTIONS[shape], REGISTERS)
    project.file("test_it.py", PLAIN.replace('["accuracy"]', '["short"], gates=["short >= 0.5"]'))
    run = project.run()
    assert run.status == 0, run.text
    assert values(run, "short") == {"kind": 0.0, "curt": 1.0}
    assert run.outcomes["curt"]["scores"]["short"]["label"] == 1.0
    assert run.outcomes["curt"]["scores"]["short"]["rationale"] == ("counted" if shape == "verdict" else "")
    assert run.outcomes["curt"]["calls"] is None  # no model was asked


ASKS = """
    async def short(sample, model):
        completion = await model.complete([{"role": "user", "content": "> no" if len(sample.answer.text) < 5 else "?"}])
        return "rude" in completion.text
"""


def test_a_function_may_ask_the_model(project: Project) -> None:
    judged(project, ROWS, PLAIN.replace('["accuracy"]', '["short"]'), ASKS + REGISTERS, RULES)
    run = project.run()
    assert values(run, "short") == {"kind": 0.0, "curt": 1.0}
    assert run.outcomes["curt"]["calls"]["calls"] == 1
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD, ASKS, REGISTERS)
    assert project.run().outcomes["curt"]["scores"]["short"]["reason"] == "judge_unavailable"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("2", "the number 2.0 is not in 0..1"),
        ("'rude'", "the label 'rude' has no value"),
        ("None", "it must return a number in 0..1"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_the_return_value_of_a_function_is_checked(project: Project, returned: str, problem: str) -> None:
    project.data(ROWS[:1])
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD, f"def short(sample):\n    return {returned}\n", REGISTERS)
    project.file("test_it.py", PLAIN.replace('["accuracy"]', '["short"]'))
    outcome = project.run().outcomes["kind"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "judge_error")
    assert problem in outcome["error"]
    assert "'short'" in outcome["error"]
    assert "'kind'" in outcome["error"]


BAD = {
    "a duplicate name": ("accuracy", "lambda sample: 1", "'accuracy' is already registered"),
    "another name": ("kind", "lambda: PromptedJudge('other', 'ok?', scale=(0, 1))", "give a function of one or both"),
    "no judge": ("kind", "7", "judge 'kind' cannot be registered: 7 is not a judge; give a PromptedJudge"),
    "a class": ("kind", "PromptedJudge", "is not a judge; give a PromptedJudge"),
    "three arguments": ("kind", "lambda a, b, c: 1", "cannot be called with (sample) or (sample, model)"),
    "two names": ("kind", "PromptedJudge('other', 'ok?', scale=(0, 1))", "it is named 'other'; give both one name"),
    "no type": ("kind", "PromptedJudge('kind', 'ok?')", "wanted either labels= or scale="),
    "a value too few": ("kind", "PromptedJudge('kind', 'ok?', labels={'a': 'x', 'b': 'y'}, values={'a': 1})", "values"),
    "a scale upside down": ("kind", "PromptedJudge('kind', 'ok?', scale=(5, 1))", "the lower first"),
}


@pytest.mark.parametrize(("bad", "args"), [*((bad, ()) for bad in BAD), ("a value too few", ("-n2",))])
def test_a_bad_registration_is_refused_with_one_sentence(project: Project, bad: str, args: Mode) -> None:
    name, value, problem = BAD[bad]
    project.data(ROWS)
    registers = f"def pytest_rageval_register(registry):\n    registry.judges.register({name!r}, {value})\n"
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD, registers)
    project.file("test_it.py", PLAIN)
    assert problem in refused(project, *args)


@pytest.mark.parametrize("place", ["metrics=['polit']", "gates=['polit >= 1']"])
def test_a_misspelt_judge_is_corrected_in_the_message(project: Project, place: str) -> None:
    judged(project, ROWS, PLAIN.replace('metrics=["accuracy"]', place), POLITE, RULES)
    sentence = refused(project)
    assert "unknown metric 'polit'; did you mean 'polite'?" in sentence
