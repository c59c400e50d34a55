"""Gold answers never reach the system: no object that a query references holds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.rag_project import Project
from support.projects.rag_project import case as record
from support.reachable import reachable

from pytest_rageval.datasets import jsonl, rgb
from pytest_rageval.model.case import Case, Instance, Passage, Query
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

RGB = {
    "en_refine": ("noise_robustness", "negative_rejection"),
    "zh_refine": ("noise_robustness", "negative_rejection"),
    "en": ("noise_robustness", "negative_rejection"),
    "en_int": ("information_integration",),
    "zh_int": ("information_integration",),
    "en_fact": ("counterfactual_robustness",),
    "zh_fact": ("counterfactual_robustness",),
}


def _check(case: Case) -> None:
    query = case.query
    values = list(reachable(query))
    instance = case.instance
    golds = {id(alias) for slot in (*instance.gold, *instance.fake) for alias in slot}
    holders = {id(part) for part in (instance, instance.gold, instance.fake, *instance.gold, *instance.fake, case)}
    holders |= {id(passage) for passage in instance.passages or ()} | {id(instance.qrels), id(case.facets)}
    allowed = {id(text) for p in query.passages or () for text in (p.id, p.text, p.title)} | {id(query.question)}
    for value in values:
        assert not isinstance(value, (Case, Instance))
        assert id(value) not in holders - {id(()), id("")}
        if isinstance(value, Passage):
            assert (value.role, value.group) == ("", None)
        if isinstance(value, str):
            assert value not in ("positive", "negative", "counterfactual")
            assert id(value) not in golds or id(value) in allowed
    texts = [value for value in values if isinstance(value, str)]
    supplied = " ".join(text for passage in query.passages or () for text in (passage.text, passage.title))
    for slot in instance.gold:
        for alias in slot:
            if alias not in supplied and alias not in query.question:
                assert not any(alias == text for text in texts)


def test_the_search_for_gold_reaches_closures_slots_and_containers() -> None:
    gold = "the gold answer"

    def closure() -> str:
        return gold

    class Slotted:
        __slots__ = ("deep",)

        def __init__(self) -> None:
            self.deep = {"a": [(closure,)]}

    assert gold in list(reachable(Slotted()))


@pytest.mark.parametrize("name", RGB)
def test_no_query_of_rgb_holds_its_gold(fixtures_dir: Path, name: str) -> None:
    for ability in RGB[name]:
        raw: dict[str, object] = {"dataset": f"rgb:{name}.json", "ability": ability, "passages": [2, 5]}
        if ability == "noise_robustness":
            raw["noise_rate"] = [0.0, 0.4, 1.0]
        for assembly in ("balanced", "rgb-compat"):
            settings = parse_settings({**raw, "assembly": assembly}, "here")
            cases = expand(settings, rgb.load(fixtures_dir / "datasets" / "rgb" / f"{name}.json"), 0)
            assert cases
            for _, case in cases:
                assert case.instance.gold
                _check(case)


def test_no_query_of_jsonl_holds_its_gold(fixtures_dir: Path) -> None:
    instances = jsonl.load(fixtures_dir / "datasets" / "cases.jsonl")
    cases = expand(parse_settings({"dataset": "jsonl:cases.jsonl"}, "here"), instances, 0)
    assert cases
    for _, case in cases:
        _check(case)


def test_a_query_has_only_these_fields() -> None:
    assert set(Query.__slots__) == {"question", "passages", "history", "language", "instructions"}
    assert not hasattr(Query("q"), "__dict__")


CANARY = "canary-4711"

AGENT = """
    from support.reachable import reachable

    def tick(word: str) -> str:
        return word

    def build(parts):
        async def answer(query):
            values = []
            for name in parts.environments.names:
                tools = parts.environments.get(name).open()
                for tool in tools.tools:
                    await tools.run(tool.name, {key: "Algiers" for key in tool.parameters["properties"]})
                values += reachable(tools)
            values += reachable(parts.environments)
            texts = [value for value in values if isinstance(value, str)]
            return f"{len(texts)} {'a film' in ''.join(texts)} {sum('canary-4711' in text for text in texts)}"
        return answer

    def pytest_rageval_register(registry):
        registry.systems.register("agent", build)
"""


def test_no_environment_holds_gold(project: Project) -> None:
    evidence = [{"page": "Algiers", "quote": "a film"}]
    fields = {"evidence": evidence, "qrels": {"Algiers": 1}, "environment": "wiki"}
    project.data([record("q1", "When?", CANARY, **fields), record("q2", "Who?", f"{CANARY} too", **fields)])
    project.data([{"id": "Algiers", "title": "Algiers", "text": "Algiers is a film."}], "pages.jsonl")
    project.file("conftest.py", AGENT)
    project.file(
        "test_it.py",
        """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "R@5"], passages="retrieved")
        def test_it(rag):
            count, reaches, leaks = rag.answer.text.split()
            assert int(count) > 20 and reaches == "True" and leaks == "0"
    """,
    )
    environment_lines = "    wiki: wiki\n    own: wiki; corpus=jsonl:pages.jsonl\n    desk: conftest:tick"
    for lines in ("", f"rag_environments =\n{environment_lines}\n"):
        project.file("pytest.ini", f"[pytest]\nrag_system = agent\nrag_corpus = pages.jsonl\n{lines}")
        run = project.run()
        assert set(run.statuses.values()) == {"scored"}
        assert run.status == 0, run.text
