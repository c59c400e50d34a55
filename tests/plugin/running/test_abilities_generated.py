"""RGB's four abilities on a dataset without passages: generate, lint and run them."""

from __future__ import annotations

from support.projects.rag_project import Project
from support.samples.town_samples import write_town

GENERATE = (
    "generate", "abilities", "jsonl:cases.jsonl", "--corpus", "town.jsonl", "--names", "people.txt",
    "--out", "new.jsonl", "--negatives", "5",
)  # fmt: skip
FILES = ("new.jsonl", "new.counterfactual.jsonl", "new.integration.jsonl")
SUITE = """
    [[testbed]]
    name = "noise"
    dataset = "jsonl:new.jsonl"
    ability = "noise_robustness"
    noise_rate = [0.0, 0.8]
    gates = ["accuracy >= 0.5", "error_rate <= 0"]

    [[testbed]]
    name = "rejection"
    dataset = "jsonl:new.jsonl"
    ability = "negative_rejection"
    gates = ["n >= 6"]

    [[testbed]]
    name = "integration"
    dataset = "jsonl:new.integration.jsonl"
    ability = "information_integration"
    gates = ["slot_recall >= 0.5"]

    [[testbed]]
    name = "counterfactual"
    dataset = "jsonl:new.counterfactual.jsonl"
    ability = "counterfactual_robustness"
    correct_rate = [0.0, 1.0]
    gates = ["n >= 5", "accuracy[correct_rate=1] >= 0.5", "accuracy[correct_rate=0] <= 0"]
"""


def test_four_abilities_run_on_a_dataset_without_passages(project: Project) -> None:
    write_town(project.path)
    generate = project.command(*GENERATE)
    assert generate.returncode == 0, generate.stderr
    lint = project.command("lint", *(f"jsonl:{name}" for name in FILES), "--json")
    assert lint.returncode == 0
    assert not {"gold_in_negative", "gold_in_fake", "double_role"} & set(lint.stdout.split('"'))
    project.file("abilities.rag.toml", SUITE)
    run = project.run()
    assert run.status == 0, run.text
    facets = [outcome["facets"]["ability"] for outcome in run.results["outcomes"]]
    assert set(facets) == {
        "noise_robustness", "negative_rejection", "information_integration", "counterfactual_robustness"
    }  # fmt: skip
    assert {outcome["status"] for outcome in run.results["outcomes"]} == {"scored"}
    counterfactual = [each for each in run.results["outcomes"] if each["facets"].get("correct_rate") == "0"]
    assert any(each["scores"]["fake_answer_rate"]["value"] == 1.0 for each in counterfactual)
