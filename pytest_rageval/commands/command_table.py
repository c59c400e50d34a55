"""The table of the commands of ``rageval``. To add a command, write its module and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["COMMANDS", "Command", "overview"]


class Command(NamedTuple):
    """A command.

    Attributes:
        about: what it does, in one line.
        example: the arguments of an example, without ``rageval``.
        module: its module in this package, imported on use; its function ``add_to`` adds the arguments to a parser.
    """

    about: str
    example: str
    module: str


COMMANDS: Mapping[str, Mapping[str, Command]] = {
    "Begin": {
        "init": Command("write a first suite that runs", "init --data faq.csv", "first_suite.arguments"),
    },
    "Prepare cases": {
        "import": Command("import datasets and answers of other tools", "import table faq.csv", "arguments.imports"),
        "generate": Command("generate cases from tables and documents", "generate plan.toml --out new/", "generation"),
        "review": Command("grade a sample of generated cases", "review new/", "reviewing"),
        "lint": Command("find problems in datasets", "lint jsonl:cases.jsonl", "lint"),
        "anchor": Command("replace chunk ids by quotes", "anchor cases.jsonl", "arguments.anchor"),
        "index": Command("build the retriever's index, list and remove indexes", "index build", "arguments.index"),
        "chain": Command("check or run a chain", "chain check chain.toml", "chains.arguments"),
    },
    "Score": {
        "score": Command(
            "score recorded answers without pytest",
            "score jsonl:cases.jsonl answers.jsonl --out scores/",
            "scoring.arguments",
        ),
    },
    "See a run": {
        "runs": Command("list the stored runs, newest first", "runs", "list_runs"),
        "show": Command("print the summary of a run, or one case", "show latest --case q1", "arguments.show"),
        "view": Command("open the page of a run in the browser", "view latest", "exports.view"),
        "compare": Command("compare two runs case by case", "compare latest~1 latest", "arguments.compare"),
        "history": Command("show a metric by run or by commit", "history --metric accuracy", "arguments.history"),
        "analyze": Command("analyze runs: types of errors, systems, costs", "analyze errors latest", "analyze"),
        "play": Command("ask the system, change what it reads, save the case", "play --run latest", "playing"),
        "shrink": Command("find the smallest context that breaks a case", "shrink q1", "generation.shrink"),
    },
    "Pass it on": {
        "export": Command("write a run in another format", "export latest --as csv --out cases.csv", "export"),
        "merge": Command("join the results of shards", "merge shard-1.json shard-2.json", "arguments.merge"),
        "agreement": Command("compare metrics with people's labels", "agreement labels.csv", "arguments.agreement"),
        "judge": Command("train a judge on people's labels", "judge train sheet.csv --metric M --out judge/", "judge"),
    },
    "Keep things in order": {
        "doctor": Command("check what is installed, the ini, the baseline, models", "doctor", "doctor"),
        "cassettes": Command("list recorded model calls, prune unused ones", "cassettes", "arguments.cassettes"),
        "completion": Command("complete commands, options and runs in a shell", "completion bash", "completion"),
    },
}
"""Group -> name -> command."""


def overview() -> Iterator[str]:
    """Yield the commands by group, each with an example."""
    width = max(len(name) for group in COMMANDS.values() for name in group)
    for group, commands in COMMANDS.items():
        yield f"{group}:"
        for name, command in commands.items():
            yield f"  {name:{width}}  {command.about}"
            yield f"  {'':{width}}  $ rageval {command.example}"
        yield ""
