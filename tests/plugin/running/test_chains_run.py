"""``--rag-system chain:FILE.toml``: without a key, over HTTP, on workers, and refusals."""

from __future__ import annotations

import os

import pytest
from support.projects.model_projects import PRICES, asks, stop, table
from support.projects.rag_project import Mode, Project, case
from support.projects.resume_project import SAYS, resume
from support.projects.resume_project import stop as interrupt
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer

PAGES = [
    {"id": "p1", "title": "Hamlet", "text": "Hamlet is by William Shakespeare."},
    {"id": "p2", "title": "Faust", "text": "Faust is by Johann Wolfgang von Goethe."},
    {"id": "p3", "title": "Paris", "text": "Paris is the capital of France."},
]

REWRITE = r"""
    [[action]]
    name = "query"
    do = "generate"
    prompt = "Rewrite the question as a search query.\n\n{question}\n\nQuery:"
    max_tokens = 40

    [[action]]
    name = "found"
    do = "retrieve"
    query = "{query|line(1)}"
    k = 2

    [[action]]
    name = "reply"
    do = "generate"
    prompt = "{found}\n\nAnswer in at most 5 words: {question}\n\nAnswer:"

    [output]
    answer = "{reply|strip}"
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["has_answer", "R@2"], passages="retrieved")
    def test_it(rag):
        ...
"""

CASES = [
    {**case("q1", "Who is Hamlet by?", "William Shakespeare"), "qrels": {"p1": 1}},
    {**case("q2", "Who is Faust by?", "Goethe"), "qrels": {"p2": 1}},
    {**case("q3", "What is the capital of France?", "Paris"), "qrels": {"p3": 1}},
]

CHAIN = "--rag-system=chain:chains/rewrite.toml"


def write_project(project: Project, *ini: str, chain: str = REWRITE) -> Project:
    """Write a project with a corpus, three cases and a chain."""
    project.data([{key: value for key, value in row.items() if key != "passages"} for row in CASES])
    project.data(PAGES, "pages.jsonl")
    project.file("test_it.py", TEST)
    (project.path / "chains").mkdir(exist_ok=True)
    project.file("chains/rewrite.toml", chain)
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = pages.jsonl", *ini]))
    return project


def test_a_chain_runs_without_a_key(project: Project, mode: Mode) -> None:
    run = write_project(project).run(CHAIN, *mode)
    assert run.status == 0, run.text
    for outcome in run.results["outcomes"]:
        facets, answer = outcome["facets"], outcome["answer"]
        assert (facets["workflow"], facets["model"]) == ("rewrite", "embedded")
        assert outcome["scores"] == {"has_answer": {"value": 1.0}, "R@2": {"value": 1.0}}
        actions = [(step["kind"], step["detail"].get("action")) for step in answer["trace"]]
        assert actions == [("completion", "query"), ("retrieve", "found"), ("completion", "reply"), ("end", None)]
        assert all({"prompt", "text"} <= step["detail"].keys() for step in answer["trace"][:3])
        assert answer["usage"]["cost_usd"] == 0.0


def test_a_chain_asks_two_models_over_http_and_replays(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = lambda body: "capital" if "Rewrite" in last_user(body) else " Paris \n"
    asks(project, openai_server.base_url, [], "rag_record_mode = once", "rag_corpus = pages.jsonl")
    ini = (project.path / "pytest.ini").read_text(encoding="utf-8")
    write_project(project, chain=REWRITE.replace("max_tokens = 40", 'max_tokens = 40\nmodel = "openai/small"'))
    project.file("pytest.ini", ini)
    first = project.run(CHAIN)
    assert first.status == 0, first.text
    request_bodies = [request.body for request in openai_server.requests]
    assert (
        sorted((body["model"], body.get("max_tokens")) for body in request_bodies)
        == [("m", None)] * 3 + [("small", 40)] * 3
    )
    assert {outcome["answer"]["text"] for outcome in first.results["outcomes"]} == {"Paris"}
    assert sorted(os.listdir(project.path / "cassettes")) == ["model-openai--m.jsonl", "model-openai--small.jsonl"]
    facets = first.results["outcomes"][0]["facets"]
    assert (facets["workflow"], facets["model"]) == ("rewrite", "openai/m")

    stop(openai_server)
    again = project.run(CHAIN, "-n2")
    assert (again.status, openai_server.requests) == (0, []), again.text
    for outcome in again.results["outcomes"]:
        calls = outcome["calls"]
        assert (calls["calls"], calls["replayed"], calls["attempts"]) == (2, 2, 0)
        before = first.outcomes[outcome["case_id"]]["answer"]
        assert outcome["answer"]["text"] == before["text"]
        assert outcome["answer"]["ranking"] == before["ranking"]


def test_an_alias_sets_options_and_a_model(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    lines = (
        "rag_systems =",
        "    rewrite: chain:chains/rewrite.toml@openai/small; supplied=ignore; max_time=30",
        "    found: chain:chains/found.toml",
    )
    asks(project, openai_server.base_url, [], "rag_corpus = pages.jsonl", *lines)
    ini = (project.path / "pytest.ini").read_text(encoding="utf-8")
    write_project(project)
    project.file("chains/found.toml", '[[action]]\nname = "found"\ndo = "retrieve"\n')
    project.file("pytest.ini", ini)
    run = project.run("--rag-system=rewrite", "--rag-system=found")
    assert run.status == 0, run.text
    facets = {outcome["system"]: outcome["facets"] for outcome in run.results["outcomes"]}
    assert (facets["rewrite"]["workflow"], facets["rewrite"]["model"]) == ("rewrite", "openai/small")
    assert (facets["found"]["workflow"], facets["found"].get("model")) == ("found", None)
    assert {request.body["model"] for request in openai_server.requests} == {"small"}
    outcomes = [outcome for outcome in run.results["outcomes"] if outcome["system"] == "found"]
    assert [outcome["scores"]["has_answer"] for outcome in outcomes] == [
        {"value": None, "reason": outcomes[0]["scores"]["has_answer"]["reason"]}
    ] * 3
    assert [outcome["scores"]["R@2"]["value"] for outcome in outcomes] == [1.0] * 3


def test_a_script_answers_an_action(project: Project) -> None:
    chain = REWRITE.replace("max_tokens = 40", 'model = "script:replies.toml"')
    write_project(project, chain=chain)
    project.file("replies.toml", '[[reply]]\nwhen = "Rewrite"\ntext = "capital of France"\n')
    run = project.run(CHAIN)
    assert run.status == 0, run.text
    for outcome in run.results["outcomes"]:
        assert outcome["answer"]["trace"][1]["detail"]["query"] == "capital of France"


RETRIEVERS = """
    [[action]]
    name = "one"
    do = "retrieve"
    retriever = "sharp"
    k = 1

    [[action]]
    name = "two"
    do = "retrieve"
    retriever = "bm25"
    k = 1

    [retrievers]
    sharp = { kind = "bm25", k1 = 0.5 }
"""


OWN_RETRIEVER = """
    import pytest
    from pytest_rageval import Ranking, ScoredPassage

    @pytest.fixture(scope="session")
    def rag_retriever():
        class Mine:
            def search(self, query, k):
                return Ranking((ScoredPassage("mine", 1.0, "My own text."),))

        return Mine()
"""


def test_actions_name_their_retrievers(project: Project) -> None:
    run = write_project(project, chain=RETRIEVERS).run(CHAIN)
    assert run.status == 0, run.text
    for outcome in run.results["outcomes"]:
        one, two = (step["detail"] for step in outcome["answer"]["trace"][:2])
        assert [passage["id"] for passage in one["passages"]] == [passage["id"] for passage in two["passages"]]
        assert one["passages"][0]["score"] != two["passages"][0]["score"]
        assert outcome["scores"]["R@2"] == {"value": 1.0}
        assert outcome["facets"].get("model") is None


def test_a_named_retriever_of_a_chain_is_used_despite_a_retriever_fixture(project: Project) -> None:
    write_project(project, chain=RETRIEVERS)
    project.file("conftest.py", OWN_RETRIEVER)
    run = project.run(CHAIN)
    assert run.status == 0, run.text
    assert [outcome["scores"]["R@2"]["value"] for outcome in run.results["outcomes"]] == [1.0] * 3
    write_project(project)
    run = project.run(CHAIN)
    assert [outcome["answer"]["ranking"][0]["doc_id"] for outcome in run.results["outcomes"]] == ["mine"] * 3


def test_a_run_is_resumed_only_if_its_chain_is_unchanged(project: Project) -> None:
    write_project(project)
    project.file("conftest.py", SAYS)
    interrupt(project, "test_it[q3]", CHAIN)
    project.file("chains/rewrite.toml", REWRITE.replace("at most 5 words", "one word"))
    run = project.run(CHAIN, "--rag-resume", fresh=False, json_path=None)
    assert run.status == 4
    assert "its system differs: the files of chain:chains/rewrite.toml has changed" in str(run.result.stderr)
    project.file("chains/rewrite.toml", REWRITE)
    again = resume(project, "-v", CHAIN)
    assert again.status == 0, again.text
    again.said("*2 of 3 cases taken over*")
    assert [outcome["answer"]["text"] for outcome in again.results["outcomes"]] == [page["text"] for page in PAGES]


def test_a_dry_run_counts_the_calls_exactly_by_model(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, [], "rag_corpus = pages.jsonl")
    ini = (project.path / "pytest.ini").read_text(encoding="utf-8")
    write_project(project, chain=REWRITE.replace("max_tokens = 40", 'max_tokens = 40\nmodel = "openai/small"'))
    project.file("pytest.ini", ini)
    rows = table(project.run(CHAIN, "--rag-dry-run", json_path=None))
    assert {purpose: cells[:3] for (_, purpose), cells in rows.items() if purpose} == {
        "answer": ["openai/small", "3", "3"],
        "later steps": ["openai/m", "3", "3"],
    }
    assert rows["all", ""][:2] == ["3", "6"]
    assert openai_server.requests == []


def test_a_budget_stops_a_chain_between_two_calls(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, [], "rag_corpus = pages.jsonl", params={**PRICES, "max_tokens": 2})
    ini = (project.path / "pytest.ini").read_text(encoding="utf-8")
    write_project(project, chain=REWRITE.replace("max_tokens = 40", ""))
    project.file("pytest.ini", ini)
    run = project.run(CHAIN, "--rag-budget-usd", "0.09", "--rag-concurrency", "1")
    statuses = [outcome["status"] for outcome in run.results["outcomes"]]
    assert statuses.count("scored") < 3
    assert "error" not in statuses
    assert len(openai_server.requests) < 6


FAULTS = [
    (REWRITE.replace("{question}", "{questoin}"), "ERROR: chains/rewrite.toml:4: unknown variable 'questoin'; did you"),
    (REWRITE.replace("{question}", "{found}", 1), "ERROR: chains/rewrite.toml:4: the actions use each other in a loop"),
    (
        REWRITE.replace("k = 2", "k = 0"),
        "ERROR: chains/rewrite.toml:11: k: found 0, wanted a whole number",
    ),
    (REWRITE.replace("k = 2", "retriever = 'bm52'"), "ERROR: chains/rewrite.toml:7: unknown retriever 'bm52'; did you"),
    (REWRITE.replace("max_tokens = 40", "model = 'script:no.toml'"), "ERROR: the model script:no.toml cannot be used"),
    (
        RETRIEVERS.replace("k1 = 0.5", "k1 = -3"),
        "ERROR: chains/rewrite.toml:14: the retriever bm25 has k1 = -3",
    ),
    (
        RETRIEVERS.replace("k1 = 0.5", "k3 = 1"),
        "ERROR: chains/rewrite.toml:14: the retriever bm25 has the unknown setting 'k3'; known: b, k1",
    ),
    ("[output]", "ERROR: chains/rewrite.toml:1: a chain has one or more [[action]] tables; add one"),
    (
        "[[action]]\nname = 'a'\ndo = 'tool'\ntool = 'Serach'\narguments = {title = 'x'}",
        "ERROR: chains/rewrite.toml:1: unknown tool of environment 'wiki' 'Serach'; did you mean 'Search'?",
    ),
]


@pytest.mark.parametrize(("chain", "problem"), FAULTS)
def test_an_invalid_chain_ends_the_session_before_anything_runs(project: Project, chain: str, problem: str) -> None:
    run = write_project(project, chain=chain).run(CHAIN, json_path=None)
    assert run.status == 4
    (line,) = [line for line in run.result.stderr.lines if line.startswith("ERROR: ")]
    assert line.startswith(problem)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("chain:chains/none.toml", "--rag-system: there is no file 'chains/none.toml'; correct the path"),
        ("chains/rewrite.toml", "unknown system 'chains/rewrite.toml'; write 'chain:chains/rewrite.toml' for a chain"),
        ("chain:", "--rag-system: chain: names no chain; write chain:FILE.toml"),
        ("chian:chains/rewrite.toml", "write 'chain:chains/rewrite.toml' for a chain"),
    ],
)
def test_a_wrong_name_is_refused(project: Project, name: str, problem: str) -> None:
    run = write_project(project).run(f"--rag-system={name}", json_path=None)
    assert run.status == 4
    assert problem in str(run.result.stderr)


def test_an_action_may_call_a_tool_of_the_environment(project: Project) -> None:
    chain = """
        [[action]]
        name = "page"
        do = "tool"
        tool = "Search"
        arguments = { title = "{question|after(' is ')|before(' by')}" }
    """
    project.file("test_it.py", TEST)
    write_project(project, chain=chain)
    run = project.run(CHAIN, "-k", "q1")
    assert run.status == 0, run.text
    (outcome,) = run.results["outcomes"]
    assert outcome["answer"]["text"] == "Hamlet is by William Shakespeare."
    assert outcome["answer"]["trace"][0]["kind"] == "tool"


def test_gold_is_in_no_prompt(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "nothing"
    asks(project, openai_server.base_url, [], "rag_corpus = pages.jsonl")
    ini = (project.path / "pytest.ini").read_text(encoding="utf-8")
    write_project(project)
    project.data([{**CASES[0], "answers": ["CANARY-17"], "topic": "t"}])
    project.file("pytest.ini", ini)
    run = project.run(CHAIN)
    assert run.status == 0, run.text
    assert len(openai_server.requests) == 2
    assert "CANARY" not in str([request.body for request in openai_server.requests])
    assert "CANARY" not in str(run.results["outcomes"][0]["answer"])
