"""``rageval chain`` checks a chain and runs it on one question, without tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.projects.model_projects import asks, stop
from support.projects.rag_project import Project, Row
from support.servers.openai_server import OpenAIServer

CHAIN = """
    [[action]]
    name = "search"
    do = "generate"
    prompt = "Rewrite as a query: {question}"

    [[action]]
    name = "found"
    do = "retrieve"
    query = "{search|line(1)}"
    k = 2

    [[action]]
    name = "reply"
    do = "generate"
    prompt = "{found}\\n\\n{found.titles[0]}\\n\\nAnswer: {question}"

    [output]
    answer = "{reply|strip}"
"""
SCRIPT = """
    [[reply]]
    when = "Rewrite as a query"
    text = "museum opening hours"

    [[reply]]
    text = "The museum opens at 9:00 \\u202e.\\n"
"""
PAGES = [
    {"id": "m1", "title": "Museum", "text": "The museum has opening hours:\nfrom 9:00 to 17:00."},
    {"id": "t1", "title": "Tower", "text": "The tower has no museum."},
]
CASES: list[Row] = [
    {
        "id": "q1",
        "question": "When does the museum open?",
        "answers": ["9:00", "nine o'clock"],
        "qrels": {"m1": 1, "m2": 1, "t1": 0},
    },
    {"id": "q2", "question": "Who built it?", "slots": [["CANARY"], ["9:00"]], "qrels": {"m1": 1}},
]


@pytest.fixture
def chains(project: Project) -> Project:
    """Return a project with a chain, a scripted model and a corpus."""
    project.file("chains/museum.toml", CHAIN)
    project.file("says.toml", SCRIPT)
    project.data(PAGES, "pages.jsonl")
    project.data(CASES)
    project.file("pytest.ini", "[pytest]\nrag_corpus = pages.jsonl\nrag_model = script:says.toml\n")
    return project


def run(project: Project, *args: str) -> list[str]:
    """Return the lines of a run of the chain."""
    return run_lines(project, "chains/museum.toml", *args)


def run_lines(project: Project, *args: str) -> list[str]:
    """Return the lines of ``rageval chain run`` that ends with 0."""
    result = project.command("chain", "run", *args)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def refused(project: Project, *args: str) -> str:
    """Return the one sentence of a command that is refused."""
    result = project.command("chain", *args)
    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr.count("\n") == 1
    return str(result.stderr)


def test_a_run_shows_every_prompt_document_and_reply_with_gold_marked(chains: Project) -> None:
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q1")
    assert [re.sub(r"score [\d.]+$", "score 1", line) for line in lines] == [
        "chains/museum.toml, model script:says.toml",
        "  question:",
        "  | When does the museum open?",
        "  gold answer: 9:00 / nine o'clock",
        "  gold pages: m1, m2",
        "",
        "search  generate  script:says.toml",
        "  prompt:",
        "  | Rewrite as a query: When does the museum open?",
        "  reply:",
        "  | museum opening hours",
        "",
        "found  retrieve  bm25",
        "  query:",
        "  | museum opening hours",
        "  documents: 2",
        "  1.  >>m1<<  Museum  score 1",
        "  | The museum has opening hours:",
        "  | from >>9:00<< to 17:00.",
        "  2.  t1  Tower  score 1",
        "  | The tower has no museum.",
        "",
        "reply  generate  script:says.toml",
        "  prompt:",
        "  | The museum has opening hours:",
        "  | from >>9:00<< to 17:00.",
        "  |",
        "  | The tower has no museum.",
        "  |",
        "  | Museum",
        "  |",
        "  | Answer: When does the museum open?",
        "  reply:",
        "  | The museum opens at >>9:00<< \\u202e.",
        "  |",
        "",
        "  answer:",
        "  | The museum opens at >>9:00<< \\u202e.",
        "page not found: m2",
    ]


def test_missing_gold_is_listed_and_never_sent(chains: Project) -> None:
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q2")
    assert lines[-2:] == ["not in the documents: CANARY", "not in the answer: CANARY"]
    canary_lines = [line for line in lines if "CANARY" in line]
    assert canary_lines == ["  gold answer: CANARY", *lines[-2:]]


def test_a_question_needs_no_dataset(chains: Project) -> None:
    lines = run(chains, "--question", "When?")
    assert "  | Rewrite as a query: When?" in lines
    assert not any("gold" in line or ">>" in line for line in lines)


def test_prompts_only_fills_known_variables_and_asks_nothing(chains: Project) -> None:
    chains.file("pytest.ini", "[pytest]\nrag_model = openai/none\n")
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q1", "--prompts-only")
    assert lines[lines.index("search  generate") :] == [
        "search  generate",
        "  prompt:",
        "  | Rewrite as a query: When does the museum open?",
        "",
        "found  retrieve",
        "  query:",
        "  | <search>",
        "",
        "reply  generate",
        "  prompt:",
        "  | <found>",
        "  |",
        "  | <found.titles[0]>",
        "  |",
        "  | Answer: When does the museum open?",
    ]


def test_until_runs_the_first_actions(chains: Project) -> None:
    lines = run(chains, "--question", "When?", "--until", "found")
    assert [line for line in lines if line[:1].isalpha()] == [
        "chains/museum.toml, model script:says.toml",
        "search  generate  script:says.toml",
        "found  retrieve  bm25",
    ]
    assert run(chains, "--question", "When?", "--until", "search")[-2:] == ["  answer:", "  | museum opening hours"]


def test_from_runs_one_action_on_given_outputs(chains: Project) -> None:
    outputs = {"prompt": "hours", "passages": [{"id": "x", "title": "Given", "text": "A text of 9:00."}]}
    chains.file("outputs.json", json.dumps({"found": outputs}))
    args = ("--dataset", "jsonl:cases.jsonl", "--id", "q1", "--from", "reply", "--with", "outputs.json")
    lines = run(chains, *args)
    assert lines[lines.index("reply  generate  script:says.toml") + 1 :][:6] == [
        "  prompt:",
        "  | A text of >>9:00<<.",
        "  |",
        "  | Given",
        "  |",
        "  | Answer: When does the museum open?",
    ]
    assert not any(line.startswith(("search", "found")) for line in lines)


def test_supplied_passages_are_filled_in_without_a_retriever(chains: Project) -> None:
    chains.data([{**CASES[0], "passages": [{"id": "p1", "title": "A", "text": "Open from 9:00."}]}])
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q1", "--prompts-only")
    assert lines[-5:] == ["  | Open from >>9:00<<.", "  |", "  | A", "  |", "  | Answer: When does the museum open?"]
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q1")
    assert "found  retrieve  supplied passages" in lines


def test_a_failed_run_shows_what_ran_before(chains: Project) -> None:
    chains.file("says.toml", '[[reply]]\nwhen = "Rewrite"\ntext = "hours"\n\n[[reply]]\nraise = "rate_limited"\n')
    result = chains.command("chain", "run", "chains/museum.toml", "--question", "When?")
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert "found  retrieve  bm25" in lines
    assert "  error: ModelError: " in result.stdout
    assert lines[-1].startswith("error: ")


def test_a_run_replays_the_recordings_of_the_tests(chains: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "It opens at 9:00."
    asks(chains, openai_server.base_url, CASES[:1], "rag_record_mode = once", "rag_corpus = pages.jsonl")
    first_run = chains.run("--rag-system=chain:chains/museum.toml")
    assert (first_run.statuses, len(openai_server.requests)) == ({"q1": "scored"}, 2), first_run.text
    stop(openai_server)
    lines = run(chains, "--dataset", "jsonl:cases.jsonl", "--id", "q1")
    assert "chains/museum.toml, model openai/m" in lines
    assert "  | It opens at >>9:00<<." in lines
    assert openai_server.requests == []


def test_check_lists_the_actions(chains: Project) -> None:
    result = chains.command("chain", "check", "chains/museum.toml")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "chains/museum.toml: 3 actions, 2 model calls, model script:says.toml",
        "  1  search  generate  uses question",
        "  2  found   retrieve  uses search           k 2",
        "  3  reply   generate  uses found, question",
        "answer: {reply|strip}",
        "ranking: found",
    ]
    chains.file(
        "pytest.ini", "[pytest]\nrag_systems =\n    mine: chain:chains/museum.toml@script:says.toml; supplied=ignore\n"
    )
    result = chains.command("chain", "check", "mine")
    assert result.stdout.splitlines()[-1] == "The ini has no rag_corpus: each case has to supply passages."


TOOLS = """
    [[action]]
    name = "page"
    do = "tool"
    tool = "Search"
    arguments = { title = "{question}" }

    [[action]]
    name = "words"
    do = "python"
    expression = "len(page.split())"

    [[action]]
    name = "sentence"
    do = "template"
    text = "{words.prompt} words"
"""


def test_tools_and_expressions_run_like_in_a_test(chains: Project) -> None:
    chains.file("tools.toml", TOOLS)
    assert run_lines(chains, "tools.toml", "--question", "museum")[4:] == [
        "page  tool  Search",
        "  arguments:",
        '  | {"title": "museum"}',
        "  result:",
        "  | The museum has opening hours:",
        "  | from 9:00 to 17:00.",
        "",
        "words  python",
        "  python:",
        "  | len(page.split())",
        "  value:",
        "  | 9",
        "",
        "sentence  template",
        "  text:",
        "  | 9 words",
        "",
        "  answer:",
        "  | 9 words",
    ]
    chains.file("pytest.ini", "[pytest]\nrag_corpus = pages.jsonl\nrag_environments =\n    a: wiki\n    b: wiki\n")
    assert chains.command("chain", "check", "tools.toml").returncode == 0
    assert "there are several environments (a, b)" in refused(chains, "run", "tools.toml", "--question", "museum")
    chains.data([{**CASES[0], "question": "Tower", "environment": "b"}])
    assert "  | The tower has no museum." in run_lines(
        chains, "tools.toml", "--dataset", "jsonl:cases.jsonl", "--id", "q1"
    )


@pytest.mark.parametrize("word", ["check", "run"])
def test_a_tool_that_the_environment_lacks_is_refused(chains: Project, word: str) -> None:
    chains.file("tools.toml", TOOLS.replace("Search", "Serch"))
    args = ("--question", "museum") if word == "run" else ()
    problem = "tools.toml:1: unknown tool of environment 'wiki' 'Serch'; did you mean 'Search'?"
    assert problem in refused(chains, word, "tools.toml", *args)
    chains.file("pytest.ini", "[pytest]\n")
    assert "the system needs an environment; set rag_corpus" in refused(chains, word, "tools.toml", *args)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ("check chains/museums.toml", "there is no file 'chains/museums.toml'; correct the path"),
        ("check kilt/nq-red", "did you mean 'kilt/nq-read'?"),
        ("check faulty.toml", "faulty.toml:4: unknown variable 'questoin'; did you mean 'question'?"),
        ("check chains/museum.toml@script:none.toml", "there is no file 'none.toml'"),
        ("run MUSEUM --dataset jsonl:cases.jsonl", "--id names its case; add it"),
        ("run MUSEUM --question x --id q1", "--dataset names the file of the case; add it"),
        ("run MUSEUM --dataset jsonl:cases.jsonl --id q3", "unknown id 'q3'; known: q1, q2"),
        ("run MUSEUM --dataset jsonl:none.jsonl --id q3", "dataset 'none.jsonl' is missing"),
        ("run MUSEUM --question x --until replay", "--until: unknown action 'replay'; did you mean 'reply'?"),
        ("run MUSEUM --question x --from reply", "--with names the file of outputs; add it"),
        (
            "run MUSEUM --question x --from reply --with o.json --prompts-only",
            "--from runs one action; leave out --until",
        ),
    ],
)
def test_bad_input_is_refused_with_one_sentence(chains: Project, args: str, problem: str) -> None:
    chains.file("faulty.toml", '[[action]]\nname = "reply"\ndo = "generate"\nprompt = "{questoin}"\n')
    assert problem in refused(chains, *args.replace("MUSEUM", "chains/museum.toml").split())


def test_an_empty_question_is_refused(chains: Project) -> None:
    assert "--question is empty" in refused(chains, "run", "chains/museum.toml", "--question", " ")


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        ({}, "the action reply reads found, which is not among the outputs; add it"),
        ({"found": 3}, "found: found 3, wanted a text, a list of passages"),
        ({"found": [{"title": "A"}]}, "found.passages[0].id is missing"),
        ({"found": {"passage": []}}, "unknown key 'passage' in found; did you mean 'passages'?"),
        ({"search": [], "found": "x"}, "search: only a retrieve has passages, and search is a generate"),
        ({"reply": "x", "found": "x"}, "unknown action before reply 'reply'"),
    ],
)
def test_bad_outputs_are_refused_with_one_sentence(chains: Project, outputs: object, problem: str) -> None:
    Path(chains.path / "o.json").write_text(json.dumps(outputs), encoding="utf-8")
    text = refused(chains, "run", "chains/museum.toml", "--question", "x", "--from", "reply", "--with", "o.json")
    assert "o.json" in text
    assert problem in text
