"""An invalid marker is refused with one sentence and exit status 4 before anything runs."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project
from support.projects.refused_projects import refused

TEST = """
    from pytest_rageval import rag_case

    def test_other():
        ...

    {marker}
    def test_it(rag):
        ...
"""

ROWS = [
    {"id": "q1", "question": "Who?", "answers": ["Ann"], "topic": "Funds", "task": "extractive_qa"},
    {"id": "q2", "question": "When?", "answers": ["Now"], "topic": "Bonds"},
]
RGB = '{"id": 1, "query": "Who?", "answer": ["Ann"], "positive": ["Ann did."], "negative": ["Bob."]}\n'

NOISE = '"rgb:rgb.json", ability="noise_robustness"'

ARGUMENTS = {
    # what is missing or in the way
    "no dataset": ("", "dataset: is missing, wanted 'format:path'"),
    "two positional": (
        '"jsonl:cases.jsonl", "accuracy"',
        "rag_case takes one positional argument, the dataset; name the",
    ),
    "dataset twice": ('"jsonl:cases.jsonl", dataset="jsonl:cases.jsonl"', "rag_case takes one positional argument"),
    "dataset no string": ("3", "dataset: found 3, wanted 'format:path'"),
    "dataset without a format": ('"cases.jsonl"', "dataset: found 'cases.jsonl', wanted 'format:path'"),
    "dataset without a path": ('"jsonl:"', "dataset: found 'jsonl:', wanted 'format:path'"),
    # names
    "format": ('"josnl:cases.jsonl"', "unknown dataset format 'josnl'; did you mean 'jsonl'?"),
    "ability": (
        '"jsonl:cases.jsonl", ability="noise_robustnes"',
        "unknown ability 'noise_robustnes'; did you mean 'noise_r",
    ),
    "metric": ('"jsonl:cases.jsonl", metrics=["acuracy"]', "unknown metric 'acuracy'; did you mean 'accuracy'?"),
    "assembly": (NOISE + ', assembly="balancd"', "unknown assembly 'balancd'; did you mean 'balanced'?"),
    "near miss": (NOISE + ", noise_rates=0.2", "unknown key 'noise_rates'; did you mean 'noise_rate'?"),
    "near miss of gates": ('"jsonl:cases.jsonl", gate=["accuracy >= 1"]', "unknown key 'gate'; did you mean 'gates'?"),
    "list for a facet": (
        '"jsonl:cases.jsonl", team=[1]',
        "team: found [1], wanted a string, number or boolean, because",
    ),
    "the plugin's facet": (
        '"jsonl:cases.jsonl", system="x"',
        "the facet 'system' is reserved by the plugin; rename it",
    ),
    # values
    "no metrics": ('"jsonl:cases.jsonl", metrics=[]', "metrics is an empty list, wanted at least one name"),
    "metric no string": ('"jsonl:cases.jsonl", metrics=[1]', "metrics: found 1, wanted a string that is not empty"),
    "noise above 1": (NOISE + ", noise_rate=[0, 1.2]", "noise_rate: found 1.2, wanted a number in 0..1"),
    "noise below 0": (NOISE + ", noise_rate=-0.1", "noise_rate: found -0.1, wanted a number in 0..1"),
    "noise nan": (NOISE + ', noise_rate=float("nan")', "noise_rate: found nan, wanted a number in 0..1"),
    "noise text": (NOISE + ', noise_rate="0.4"', "noise_rate: found '0.4', wanted a number in 0..1"),
    "noise twice": (NOISE + ", noise_rate=[0.4, 0.4]", "noise_rate: found [0.4, 0.4], wanted each value once"),
    "no noise": (NOISE + ", noise_rate=[]", "noise_rate is an empty list, wanted at least one value"),
    "negative passages": (NOISE + ", passages=-1", "passages: found -1, wanted an integer of at least 0"),
    "half a passage": (NOISE + ", passages=2.5", "passages: found 2.5, wanted an integer of at least 0"),
    "rates past 1": (
        '"rgb:rgb.json", ability="counterfactual_robustness", noise_rate=0.7, correct_rate=0.4',
        "noise_rate 0.7 and correct_rate 0.4 add up to more than 1; lower one of them",
    ),
    "noise without ability": ('"jsonl:cases.jsonl", noise_rate=0.4', "noise_rate has no effect without an ability"),
    "limit 0": ('"jsonl:cases.jsonl", limit=0', "limit: found 0, wanted an integer of at least 1"),
    "sample text": ('"jsonl:cases.jsonl", sample="all"', "sample: found 'all', wanted an integer of at least 1"),
    "limit and sample": ('"jsonl:cases.jsonl", limit=1, sample=1', "limit and sample are both set, wanted one"),
    "seed": ('"jsonl:cases.jsonl", seed=1.5', "seed: found 1.5, wanted an integer"),
    # where
    "where text": ('"jsonl:cases.jsonl", where="topic=Funds"', "where: found 'topic=Funds', wanted a table of facets"),
    "where list": (
        '"jsonl:cases.jsonl", where={"topic": ["Funds"]}',
        "where.topic: found ['Funds'], wanted a string, number",
    ),
    "where facet": ('"jsonl:cases.jsonl", where={"topik": "Funds"}', "unknown facet 'topik'; did you mean 'topic'?"),
    "where value": ('"jsonl:cases.jsonl", where={"topic": "Fund"}', "where matches no case; topic is 'Bonds', 'Funds'"),
    "where never": ('"jsonl:cases.jsonl", where={"level": "*"}', "where matches no case; no case has level"),
    "where both": (
        '"jsonl:cases.jsonl", where={"topic": "Bonds", "task": "*"}',
        "where matches no case; topic is 'Bonds', 'Funds'; task is 'extractive_qa'",
    ),
    # gates
    "gate no list": ('"jsonl:cases.jsonl", gates=3', "gates: found 3, wanted a list of strings"),
    "gate no metric": ('"jsonl:cases.jsonl", gates=[">= 0.5"]', "gate '>= 0.5' does not begin with a metric"),
    "gate no bound": ('"jsonl:cases.jsonl", gates=["accuracy"]', "gate 'accuracy' has no valid operator and bound"),
    "gate operator": ('"jsonl:cases.jsonl", gates=["accuracy => 0.5"]', "gate 'accuracy => 0.5' has no valid operator"),
    "gate slice": ('"jsonl:cases.jsonl", gates=["accuracy[topic] >= 0.5"]', "has a malformed [facet=value]"),
    "gate bound": ('"jsonl:cases.jsonl", gates=["accuracy >= 85"]', "bounds a metric in 0..1 by 85"),
    "gate metric": (
        '"jsonl:cases.jsonl", gates=["acuracy >= 1"]',
        "unknown metric 'acuracy'; did you mean 'accuracy'?",
    ),
    "gate facet": (
        '"jsonl:cases.jsonl", gates=["n[topik=Funds] >= 1"]',
        "unknown facet 'topik'; did you mean 'topic'?",
    ),
    "gate on nothing": (
        '"jsonl:cases.jsonl", gates=["n[topic=Fund] >= 1"]',
        "gate 'n[topic=Fund] >= 1' matches no case; topic is 'Bonds', 'Funds'",
    ),
    "gate twice": ('"jsonl:cases.jsonl", gates=["n>=1", "n >= 1"]', "gate 'n >= 1' is listed twice; remove one"),
    "gate without baseline": (
        '"jsonl:cases.jsonl", gates=["accuracy >= baseline - 0.02"]',
        "needs a baseline, and there is none; name it with --rag-baseline or as rag_baseline in the ini",
    ),
}


def prepare(project: Project, marker: str) -> None:
    project.data(ROWS)
    project.file("rgb.json", RGB)
    project.file("test_it.py", TEST.replace("{marker}", marker))


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_a_bad_marker_is_refused_with_the_line_of_its_test(project: Project, name: str) -> None:
    arguments, sentence = ARGUMENTS[name]
    prepare(project, f"@rag_case({arguments})")
    message = refused(project)
    assert message.startswith("test_it.py:6: ")
    assert sentence in message


@pytest.mark.parametrize("name", ["where value", "gate twice"])
def test_workers_refuse_a_bad_marker_in_the_same_words(project: Project, name: str) -> None:
    arguments, sentence = ARGUMENTS[name]
    prepare(project, f"@rag_case({arguments})")
    message = refused(project, "-n2")
    assert message.startswith("test_it.py:6: ")
    assert sentence in message


def test_a_marker_without_parentheses_is_refused(project: Project) -> None:
    prepare(project, "@rag_case")
    assert refused(project).startswith("test_it.py:6: dataset: is missing")


def test_a_refusal_names_the_line_of_the_test_under_a_decorator_of_another_file(project: Project) -> None:
    prepare(project, '@rag_case("jsonl:none.jsonl")\n    @__import__("unittest.mock").mock.patch("os.sep", "/")')
    assert refused(project).startswith("test_it.py:6: dataset 'none.jsonl' is missing")


def test_a_bad_marker_is_refused_with_any_selection(project: Project) -> None:
    prepare(project, '@rag_case("jsonl:cases.jsonl", metrics=["acuracy"])')
    for args in (["-k", "test_other"], ["test_it.py::test_other"], ["--collect-only"], ["-x"], ["-p", "randomly"]):
        assert "unknown metric 'acuracy'" in refused(project, *args)


def test_a_file_without_the_bad_marker_is_not_affected(project: Project) -> None:
    prepare(project, '@rag_case("jsonl:cases.jsonl", metrics=["acuracy"])')
    project.file("test_fine.py", "def test_fine(): ...\n")
    assert project.run("test_fine.py").status == 0


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_marker_without_effect_is_refused(project: Project, args: tuple[str, ...]) -> None:
    project.data(ROWS)
    project.file("test_unit.py", """
        from unittest import TestCase
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl")
        class TestUnit(TestCase):
            def test_it(self): ...
    """)  # fmt: skip
    sentence = (
        "test_unit.py::TestUnit::test_it: rag_case has no effect here; put it on a function, a class that is not "
    )
    assert refused(project, *args).startswith(sentence)


def test_a_marker_on_a_parameter_is_refused(project: Project) -> None:
    project.data(ROWS)
    project.file("test_param.py", """
        import pytest
        from pytest_rageval import rag_case

        @pytest.mark.parametrize("n", [pytest.param(1, marks=rag_case("jsonl:cases.jsonl"))])
        def test_it(n): ...
    """)  # fmt: skip
    assert refused(project).startswith("test_param.py::test_it[1]: rag_case has no effect here")
