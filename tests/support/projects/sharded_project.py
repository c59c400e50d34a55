"""A project that uses every kind of result, run whole or in shards."""

from __future__ import annotations

from typing import Any

import pytest

import pytest_rageval.hooks.config.model_clients

# pytester removes the modules that a run imports first: a second run would mix two copies of a class.
import pytest_rageval.hooks.run.answering
import pytest_rageval.judges.scoring
import pytest_rageval.llm.backends.scripted
import pytest_rageval.llm.client.clients
import pytest_rageval.metrics.judges.rgb_judged
import pytest_rageval.systems.loading  # noqa: F401
from pytest_rageval.cli import main
from support.projects.rag_project import Project, Run, bare

RATE = "rejection_rate_judged"

CONFTEST = """
    import json
    import pytest
    from pytest_rageval import Usage
    from pytest_rageval.testing import ScriptedLLM

    def verdict(label):
        return json.dumps({"reason": "as it reads", "label": label})

    @pytest.fixture(scope="session")
    def rag_judge():
        return ScriptedLLM({"> no idea": verdict("rejected"), "": verdict("answered")}, usage=Usage(50, 5, 0.001))
"""

DESK = """
    from pytest_rageval import Answer, Ranking, ScoredPassage, Step, Usage

    def one(query):
        word, _, rest = query.question.partition(" ")
        if word == "raise":
            raise ValueError(rest)
        trace = (Step("retrieve", {"seconds": 0.25, "retriever": "shelf"}),)
        found = [ScoredPassage(name, None) for name in ("d1", "d2")]
        return Answer(rest, Ranking(tuple(found[: len(rest) % 3])), trace=trace)

    def two(query):
        word, _, rest = query.question.partition(" ")
        _, _, number = rest.partition(", ")
        usage = [Usage(10, 5, 0.25), Usage(10, 5)][int(number) % 2] if number else None
        return Answer(f"{rest} {len(query.history)}", usage=usage)
"""

TESTS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:noise.jsonl", ability="noise_robustness", noise_rate=[0, 0.5], passages=2,
              gates=["accuracy >= 0.5", "accuracy[noise_rate=*] >= 0.9", "accuracy[topic=*, min_n=3] >= 0.1"])
    def test_noise(rag):
        assert rag.case.id != "n0" or rag.case.facets["noise_rate"] == "0"

    @rag_case("jsonl:judged.jsonl", metrics=["RATE", "accuracy"], gates=["RATE >= 0.2"])
    def test_judged(rag):
        ...

    @rag_case("jsonl:talk.jsonl", metrics=["accuracy"], history="own", gates=["accuracy >= 0.1"])
    def test_talk(rag):
        ...

    @rag_case("jsonl:found.jsonl", metrics=["token_f1", "P@2"], gates=["n >= 5", "error_rate <= 0.1"])
    def test_found(rag):
        ...

    def test_plain():
        pass
""".replace("RATE", RATE)

SYSTEMS = ("--rag-system", "desk:one", "--rag-system", "desk:two")
LIMITS = ("--rag-gate", "cost_usd <= 10", "--rag-gate", "tokens <= 9000")
GATES = ("--rag-gate", "accuracy[topic=*] >= 0.2", "--rag-gate", "error_rate <= 0.5", *LIMITS)
EVERYTHING = (*SYSTEMS, *GATES, "--rag-repeat", "2")


def prepare(project: Project, *, contrary: bool = False, ini: str = "") -> None:
    """Write the project; with ``contrary``, the labels of people contradict every verdict of the judge."""
    says = ["say Paris", "say Rome", "say Paris", "raise no such model", "say no idea"]
    passages = [{"id": f"d{at}", "text": f"text {at}", "role": "positive" if at < 2 else "negative"} for at in range(4)]

    def rows(name: str, n: int, **more: Any) -> list[dict[str, Any]]:
        facets = [{"topic": "ABC"[at % 3], "task": ("qa", "chat")[at % 2]} for at in range(n)]
        texts = [{"id": f"{name}{at}", "question": says[at % 5], "answers": ["Paris"]} for at in range(n)]
        return [text | facet | more for text, facet in zip(texts, facets, strict=True)]

    noise = rows("n", 7, passages=passages)
    noise[2]["passages"] = passages[:1]
    project.data(noise, "noise.jsonl")
    distinct_rows = [row | {"question": f"{row['question']}, {at}"} for at, row in enumerate(rows("j", 6))]
    project.data(distinct_rows, "judged.jsonl")
    turns = ((talk, at) for talk in range(3) for at in (1, 2, 3))
    talks = [
        {"id": f"t{talk}.{at}", "question": "say Paris", "answers": [f"Paris {at - 1}"], "dialogue": talk, "round": at}
        for talk, at in turns
    ]
    project.data(talks, "talk.jsonl")
    project.data(rows("f", 5, qrels={"d1": 1}), "found.jsonl")
    declines = [float(says[at % 5] == "say no idea") for at in range(6)]
    label_keys = ["label", "system", "metric"]
    labels: list[dict[str, Any]] = [
        {"id": f"j{at}"} | dict(zip(label_keys, (abs(value - contrary), system, RATE), strict=True))
        for at, value in enumerate(declines)
        for system in ("desk:one", "desk:two")
    ]
    others = [labels[0] | {"id": "nobody"}, labels[0] | {"answer": "something else"}]
    project.data([*labels, *others], "labels.jsonl")
    project.file("pytest.ini", f"[pytest]\nrag_judge_labels = labels.jsonl\nrag_judge_min_kappa = 0.6\n{ini}")
    project.file("conftest.py", CONFTEST)
    project.file("desk.py", DESK)
    project.file("test_it.py", TESTS)


def shards(project: Project, of: int, *args: str, last: tuple[str, ...] = ()) -> list[Run]:
    """Run each shard, the last one with ``last`` too; their results are in shard1.json and so on."""
    more = {of: last}
    return [
        project.run("--rag-shard", f"{at}/{of}", *args, *more.get(at, ()), json_path=f"shard{at}.json")
        for at in range(1, of + 1)
    ]


def merge_shards(project: Project, of: int, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Merge the shards to merged.json; return the exit status and the lines that were printed."""
    capsys.readouterr()
    status = main(["merge", *(f"shard{at}.json" for at in range(1, of + 1)), "--out", "merged.json"])
    return status, capsys.readouterr().out.splitlines()


def timeless(results: Any) -> Any:
    """Return results without times."""
    copy = bare(results)
    for stage in copy.get("deployment", {}).get("stages", ()):
        stage["seconds"] = stage["seconds"]["n"]
    for system in copy.get("sections", {}).get("systems", ()):
        for timed in ("p50_s", "p95_s", "front"):
            del system[timed]
    return copy
