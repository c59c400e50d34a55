"""The gold answer reaches no request, tool, program or trace of a built-in system."""

from __future__ import annotations

import json

import pytest
from support.projects.model_projects import loaded  # noqa: F401
from support.projects.rag_project import Project, Run, case

import pytest_rageval.systems as systems
from pytest_rageval.registry import Registry
from pytest_rageval.systems.workflow import Workflow

CANARY = "canary-4711"

FAMILY_EXAMPLES = {"chain": "chain:steps.toml"}
"""First part of a family's names -> one system of the family."""

CHAIN = """
    [[action]]
    name = "query"
    do = "generate"
    prompt = "Rewrite as a search query: {question} {instructions} {history}"

    [[action]]
    name = "found"
    do = "retrieve"
    query = "{query}"

    [[action]]
    name = "page"
    do = "tool"
    tool = "Search"
    arguments = { title = "Algiers" }

    [[action]]
    name = "length"
    do = "python"
    expression = "str(len(found)) + question"

    [[action]]
    name = "reply"
    do = "generate"
    prompt = "{found} {page} {length} Answer: {question}"
"""
"""A chain with each kind of action once."""

CONFTEST = '''
    import json
    import pytest
    from pytest_rageval import ToolCall
    from pytest_rageval.testing import ScriptedLLM

    PROGRAM = """```python
    page = Search(title="Algiers")
    print(page)
    answer = "1938"
    ```"""

    def reply(messages):
        """Search once, then answer; in the syntax of each built-in system."""
        first, last = messages[0]["content"], messages[-1]["content"]
        if last.rstrip().endswith("Thought 1:"):
            return "I search.\\nAction 1: Search[Algiers]"
        if "Thought 2:" in last:
            return "It is there.\\nAction 2: Finish[1938]"
        return PROGRAM if "def Search(" in first + last else "1938"

    class Model(ScriptedLLM):
        async def complete(self, messages, **params):
            with open("requests.jsonl", "a") as stream:
                stream.write(json.dumps([[dict(message) for message in messages], params], default=str) + chr(10))
            names = {each["function"]["name"] for each in params.get("tools", ())}
            if names and messages[-1]["role"] != "tool":
                return await ScriptedLLM([ToolCall("c1", "Search", '{"title": "Algiers"}')]).complete(messages)
            if "Finish" in names:
                values = {"return_type": "give_answer", "final_answer": "1938"}
                return await ScriptedLLM([ToolCall("c2", "Finish", json.dumps(values))]).complete(messages)
            return await super().complete(messages, **params)

    @pytest.fixture(scope="session")
    def rag_llm():
        return Model(reply)
'''

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "closed_book_accuracy", "page_R@1"])
    def test_it(rag): ...
"""


def every_system() -> dict[str, Workflow[object] | None]:
    """Return name -> declaration of each built-in system and of one system per family."""
    registry: Registry[systems.SystemFactory] = Registry("system", systems.BUILTIN)
    workflows: dict[str, Workflow[object] | None] = {}
    for name in systems.BUILTIN:
        factory = registry.get(name)
        workflows[name] = factory if isinstance(factory, Workflow) else None
    return workflows | {FAMILY_EXAMPLES[head]: None for head in systems.FAMILIES}


def write_project(project: Project) -> None:
    hidden = {
        "topic": f"{CANARY} topic",
        "fake_answers": [f"{CANARY} fake"],
        "provenance": [["Algiers"], [f"{CANARY} page"]],
    }
    passages = [{"id": "p1", "text": "Algiers is a film of 1938.", "title": "Algiers", "role": "positive"}]
    history = [{"question": "Which film has Hedy Lamarr?", "answer": "Algiers"}]
    project.data([
        case("retrieved", "When was the film Algiers made?", CANARY, **hidden),
        case("supplied", "When was the film Algiers made?", CANARY, passages=passages, history=history, **hidden),
        {"id": "slots", "question": "When was the film Algiers made?", "slots": [[CANARY], [f"{CANARY} 2"]]},
        case("chinese", "电影 Algiers 是哪一年拍的？", CANARY, **hidden),
    ])  # fmt: skip
    project.data([{"id": "Algiers", "title": "Algiers", "text": "Algiers is a film of 1938."}], "pages.jsonl")
    project.file("pytest.ini", "[pytest]\nrag_corpus = pages.jsonl\n")
    project.file("conftest.py", CONFTEST)
    project.file("steps.toml", CHAIN)
    project.file("test_it.py", TEST)


@pytest.fixture
def run(project: Project) -> Run:
    """Return the run of all systems over four cases."""
    write_project(project)
    run = project.run(*(f"--rag-system={name}" for name in every_system()))
    assert run.status == 0, run.text
    return run


def test_gold_reaches_no_request_no_tool_no_program_and_no_trace(project: Project, run: Run) -> None:
    outcomes = run.results["outcomes"]
    assert {(each["system"], each["case_id"], each["status"]) for each in outcomes} == {
        (name, row, "scored") for name in every_system() for row in ("retrieved", "supplied", "slots", "chinese")
    }
    for outcome in outcomes:
        answer = json.dumps(outcome["answer"], ensure_ascii=False)
        assert CANARY not in answer, outcome["system"]
        kinds = {step["kind"] for step in outcome["answer"].get("trace", ())}
        workflow = every_system()[outcome["system"]]
        if workflow is None or workflow.uses_environments:
            assert "tool" in kinds, f"{outcome['system']} called no tool on {outcome['case_id']}, so nothing was tried"
    programs = {each["system"] for each in outcomes if any(s["kind"] == "program" for s in each["answer"]["trace"])}
    assert {name for name in every_system() if name == "pal" or name.startswith("chain:")} <= programs
    requests = (project.path / "requests.jsonl").read_text(encoding="utf-8")
    assert requests.count("\n") >= 4 * (len(every_system()) - 1)
    assert CANARY not in requests
