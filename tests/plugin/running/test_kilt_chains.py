"""The shipped chains for KILT's tasks: each one loads and runs over a small corpus."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import Project, Row

from pytest_rageval.systems.chains.chain import Generate, sources_of
from pytest_rageval.systems.chains.chain_file import read_chain
from pytest_rageval.systems.chains.find_chain import shipped_chains
from pytest_rageval.systems.chains.template import Template

FAMILIES = ("closed", "read", "retrieve", "steps")
INPUTS = {
    "ay2": "The team left [START_ENT] Paris [END_ENT] for a match in Texas .",
    "eli5": "Why does a lighthouse have a lamp?",
    "fever": "The lamp of Ostrava lighthouse was lit by Ana Brook.",
    "nq": "who lit the lamp of ostrava lighthouse",
    "trex": "Ostrava lighthouse [SEP] keeper",
    "wow": "I like lighthouses.\nDo you know the one in Ostrava?",
}
PAGES = [
    {
        "id": "22989",
        "title": "Paris, Texas",
        "text": "Paris is a city with a tower and a team.",
    },
    {
        "id": "410",
        "title": "Ostrava lighthouse",
        "text": "The lamp of Ostrava lighthouse was lit by Ana Brook.",
    },
]
TEST = """
    from pytest_rageval import rag_case

    @rag_case("kilt:cases.jsonl", metrics=["accuracy", "page_R@5"], passages="retrieved")
    def test_it(rag):
        ...
"""


@pytest.fixture
def kilt(project: Project) -> Project:
    project.data(PAGES, "pages.jsonl")
    project.file("pytest.ini", "[pytest]\nrag_corpus = pages.jsonl\n")
    project.file("test_it.py", TEST)
    return project


def record(name: str, answer: str, page: str) -> Row:
    output = [{"answer": answer, "provenance": [{"wikipedia_id": page}]}]
    return {"id": name, "input": INPUTS[name], "output": output}


def systems(task: str) -> list[str]:
    return [f"--rag-system=chain:kilt/{task}-{family}" for family in FAMILIES]


def test_each_task_has_four_families() -> None:
    assert set(shipped_chains()) == {f"kilt/{task}-{family}" for task in INPUTS for family in FAMILIES}
    kinds = {name: [action.do for action in read_chain(path, name).actions] for name, path in shipped_chains().items()}
    assert all(kinds[f"kilt/{task}-retrieve"] == ["retrieve"] for task in INPUTS)
    assert all(kinds[f"kilt/{task}-closed"] == ["generate"] for task in INPUTS)
    assert all(kinds[f"kilt/{task}-steps"] == ["retrieve", "generate", "generate"] for task in INPUTS)
    assert kinds["kilt/ay2-read"] == ["retrieve", "template"]
    assert all(kinds[f"kilt/{task}-read"] == ["retrieve", "generate"] for task in INPUTS if task != "ay2")


def test_every_chain_quotes_retrieved_passages_in_its_prompts() -> None:
    """Passages and titles of a corpus are data; a prompt holds them only behind "> "."""
    for name, path in shipped_chains().items():
        chain = read_chain(path, name)
        retrievals = {each.name for each in chain.retrieves}
        prompts = [source for each in chain.actions if isinstance(each, Generate) for source in sources_of(each)]
        templates = [source for source in prompts if isinstance(source, Template)]
        variables = [variable for each in templates for variable in each.variables if variable.name in retrievals]
        assert len(templates) == len(prompts)
        assert all(variable.filters[-1].name == "quote" for variable in variables), name
        assert bool(variables) == (name.endswith(("-read", "-steps")) and name != "kilt/ay2-read"), name


@pytest.mark.parametrize("task", ["ay2", "nq"])
def test_the_chains_of_a_task_run_without_a_key(kilt: Project, task: str) -> None:
    """Entity linking answers with the whole title, including its comma."""
    kilt.data([record("ay2", "Paris, Texas", "22989") if task == "ay2" else record("nq", "Ana Brook", "410")])
    run = kilt.run(*systems(task))
    assert run.status == 0, run.text
    outcomes = {outcome["system"].rpartition("-")[2]: outcome for outcome in run.results["outcomes"]}
    assert set(outcomes) == set(FAMILIES)
    assert {outcome["status"] for outcome in outcomes.values()} == {"scored"}
    for family in ("read", "retrieve", "steps"):
        assert outcomes[family]["scores"]["page_R@5"]["value"] == 1.0
    assert outcomes["read"]["scores"]["accuracy"]["value"] == 1.0
    if task == "ay2":
        assert outcomes["read"]["answer"]["text"] == "Paris, Texas"


def test_the_prompts_of_every_chain_hold_the_parts_of_the_question(kilt: Project) -> None:
    """A scripted model answers each prompt; the prompts hold the question's parts and no gold."""
    kilt.data([{**record(task, "CANARY-4711", "410"), "id": task} for task in ("eli5", "fever", "trex", "wow")])
    kilt.file("says.toml", '[[reply]]\ntext = " a scripted reply \\n more"\n')
    tasks = ("eli5", "fever", "trex", "wow")
    run = kilt.run("--rag-model=script:says.toml", *[each for task in tasks for each in systems(task)])
    assert {outcome["status"] for outcome in run.results["outcomes"]} == {"scored"}, run.text
    prompts: dict[str, list[str]] = {}
    for outcome in run.results["outcomes"]:
        system = outcome["system"].removeprefix("chain:kilt/")
        task, _, family = system.partition("-")
        if outcome["case_id"] != task:
            continue
        steps = [step["detail"] for step in outcome["answer"]["trace"] if step["kind"] == "completion"]
        prompts[system] = [message["content"] for step in steps for message in step["prompt"]]
        assert len(steps) == {"retrieve": 0, "closed": 1, "read": 1, "steps": 2}[family]
        assert family == "retrieve" or outcome["answer"]["text"] == "a scripted reply \n more"
    assert "CANARY" not in json.dumps(prompts)
    assert "Subject: Ostrava lighthouse\nRelation: keeper\n" in prompts["trex-read"][0]
    assert "[SEP]" not in json.dumps([prompts[each] for each in prompts if each.startswith("trex")])
    assert "> Ostrava lighthouse\n> The lamp of Ostrava lighthouse" in prompts["fever-read"][0]
    assert "SUPPORTS" in prompts["fever-closed"][0]
    assert "Question: a scripted reply\n" in prompts["trex-steps"][1]
    assert "> a scripted reply\n>  more" in prompts["wow-steps"][1]
