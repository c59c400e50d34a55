"""Runs of a chain for one case: outputs, steps, ranking and errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.environment import Environment
from pytest_rageval.environments.tool import Tool, ToolResult
from pytest_rageval.errors import CaseError, ModelError, RagEvalError, SettingError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.chat import Message
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.systems.chains.system import ChainOptions, build, family, read
from pytest_rageval.systems.embedded.model import EmbeddedModel
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.testing import ScriptedLLM
from pytest_rageval.trace.collector import collecting
from pytest_rageval.trace.completing import complete_answer

PAGES = (
    ScoredPassage("p1", 3.0, "Hamlet is by Shakespeare.", "Hamlet"),
    ScoredPassage("p2", 2.0, "Faust is by Goethe.", "Faust, Part One"),
    ScoredPassage("p3", 1.0, "Paris is in Texas.", "Paris, Texas"),
)
SEARCH = '[[action]]\nname = "found"\ndo = "retrieve"\nquery = "{question}"\n'
REPLY = '[[action]]\nname = "reply"\ndo = "generate"\nprompt = "{found}\\n\\n{question}"\n'


class RecordingRetriever:
    """A retriever that stores its queries."""

    in_place = True

    def __init__(self, pages: Sequence[ScoredPassage] = PAGES) -> None:
        self.pages = tuple(pages)
        self.queries: list[tuple[str, int]] = []

    def search(self, query: str, k: int) -> Ranking:
        self.queries.append((query, k))
        return Ranking(self.pages[:k])


def _setup(folder: Path, text: str, **options: str) -> SystemSetup:
    (folder / "c.toml").write_text(text, encoding="utf-8")
    return SystemSetup("--rag-system", ComponentOptions(options, "--rag-system"), "c.toml", (folder,))


def _options(folder: Path, text: str, **options: str) -> ChainOptions:
    return read(_setup(folder, text, **options))


def _answer(folder: Path, text: str, query: Query | None = None, options: Any = None, **parts: Any) -> Answer:
    """Return the completed answer of a chain."""
    setup = _setup(folder, text, **(options or {}))
    parts.setdefault("retriever", RecordingRetriever())
    system: Any = build(SystemParts(setup=setup, **parts), read(setup))
    with collecting() as collector:
        answer = asyncio.run(system(query or Query("who wrote hamlet")))
    return complete_answer(answer, collector)


def _steps(answer: Answer) -> list[tuple[str, str]]:
    return [(step.kind, step.detail.get("action", "")) for step in answer.trace]


def _step(answer: Answer, action: str) -> Step:
    return next(step for step in answer.trace if step.detail.get("action") == action)


def test_a_chain_rewrites_retrieves_and_answers(tmp_path: Path) -> None:
    llm = ScriptedLLM([" hamlet author \nsecond line", " Shakespeare "], usage=Usage(10, 2, 0.01))
    retriever = RecordingRetriever()
    text = (
        '[[action]]\nname = "query"\ndo = "generate"\nprompt = "Rewrite: {question}"\nmax_tokens = 40\n'
        + SEARCH.replace("{question}", "{query|line(1)|strip}")
        + "k = 2\n"
        + REPLY
        + '[output]\nanswer = "{reply|strip}"\n'
    )
    answer = _answer(tmp_path, text, llm=llm, retriever=retriever)
    assert answer.text == "Shakespeare"
    assert retriever.queries == [("hamlet author", 2)]
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("p1", "p2")
    assert [item.score for item in answer.ranking] == [3.0, 2.0]
    assert [request.params for request in llm.requests] == [{"max_tokens": 40}, {}]
    prompt = "Hamlet is by Shakespeare.\n\nFaust is by Goethe.\n\nwho wrote hamlet"
    assert llm.requests[1].messages == ({"role": "user", "content": prompt},)
    assert _steps(answer) == [("completion", "query"), ("retrieve", "found"), ("completion", "reply"), ("end", "")]
    search_detail, reply_detail = _step(answer, "found").detail, _step(answer, "reply").detail
    assert (search_detail["query"], search_detail["prompt"]) == ("hamlet author", "hamlet author")
    assert search_detail["text"] == "Hamlet is by Shakespeare.\n\nFaust is by Goethe."
    assert [each["id"] for each in search_detail["passages"]] == ["p1", "p2"]
    assert (reply_detail["prompt"], reply_detail["text"]) == ([{"role": "user", "content": prompt}], " Shakespeare ")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.cost_usd) == (20, 4, 0.02)


def test_fields_of_earlier_actions_fill_templates(tmp_path: Path) -> None:
    text = (
        SEARCH
        + 'join = " / "\npassage = "{number}. {title|before(\\", \\")}: {text} ({id})"\n'
        + '[[action]]\nname = "reply"\ndo = "template"\n'
        + 'text = """{found}\n{found|join("; ")}\n{found.ids[0]} {found.titles[2]} {found.texts[1]}\n'
        + '{found.ids} {found.titles_and_ids} {found.prompt}"""\n'
    )
    answer = _answer(tmp_path, text)
    lines = ["1. Hamlet: Hamlet is by Shakespeare. (p1)", "2. Faust: Faust is by Goethe. (p2)"]
    lines += ["3. Paris: Paris is in Texas. (p3)"]
    assert answer.text.split("\n") == [
        " / ".join(lines),
        "; ".join(lines),
        "p1 Paris, Texas Faust is by Goethe.",
        "p1; p2; p3 Hamlet, p1; Faust, Part One, p2; Paris, Texas, p3 who wrote hamlet",
    ]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.cost_usd) == (0, 0.0)
    assert _step(answer, "reply").kind == "template"


def test_an_index_beyond_the_ranking_is_empty_and_noted(tmp_path: Path) -> None:
    text = SEARCH + '[[action]]\nname = "reply"\ndo = "template"\ntext = "<{found.titles[7]}>"\n'
    answer = _answer(tmp_path, text)
    assert answer.text == "<>"
    assert _step(answer, "reply").detail["notes"] == ["{found.titles[7]} is empty: 3 found"]
    assert "notes" not in _step(answer, "found").detail
    generated = _answer(tmp_path, text.replace('"template"\ntext', '"generate"\nprompt'), llm=ScriptedLLM("x"))
    assert _step(generated, "reply").detail["notes"] == ["{found.titles[7]} is empty: 3 found"]
    assert [step.kind for step in generated.trace] == ["retrieve", "completion", "end"]


def test_the_output_notes_missing_passages_in_a_separate_step(tmp_path: Path) -> None:
    answer = _answer(tmp_path, SEARCH + '[output]\nanswer = "{found.titles[7]|default(\\"none\\")}"\n')
    assert answer.text == "none"
    assert _step(answer, "output").detail["notes"] == ["{found.titles[7]} is empty: 3 found"]


def test_a_chain_that_only_retrieves_generates_nothing(tmp_path: Path) -> None:
    answer = _answer(tmp_path, SEARCH + "k = 1\n" + SEARCH.replace("found", "more"))
    assert (answer.text, answer.generated) == ("", False)
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("p1", "p2", "p3")
    assert [item.score for item in answer.ranking] == [None] * 3  # scores of two searches are not comparable
    assert answer.usage is not None
    assert answer.usage.cost_usd == 0.0


def test_a_title_may_be_the_answer_without_any_model(tmp_path: Path) -> None:
    answer = _answer(tmp_path, SEARCH + '[output]\nanswer = "{found.titles[0]}"\n')
    assert (answer.text, answer.generated) == ("Hamlet", True)


def test_the_output_names_the_ranking(tmp_path: Path) -> None:
    text = SEARCH + "k = 1\n" + SEARCH.replace("found", "more") + '[output]\nranking = ["found"]\n'
    answer = _answer(tmp_path, text)
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("p1",)


@pytest.mark.parametrize(("supplied", "ids"), [("use", None), ("ignore", ("p1", "p2", "p3"))])
def test_supplied_passages_replace_every_search(tmp_path: Path, supplied: str, ids: tuple[str, ...] | None) -> None:
    query = Query("q", (Passage("s1", "Supplied text.", "S"),))
    llm, retriever = ScriptedLLM("x"), RecordingRetriever()
    answer = _answer(tmp_path, SEARCH + REPLY, query, {"supplied": supplied}, llm=llm, retriever=retriever)
    prompt = llm.requests[0].messages[0]["content"]
    assert (answer.ranking.doc_ids if answer.ranking else None) == ids
    assert ("Supplied text." in prompt) == (supplied == "use")
    assert bool(retriever.queries) == (supplied == "ignore")


def test_a_search_without_a_corpus_needs_supplied_passages(tmp_path: Path) -> None:
    query = Query("q", (Passage("s1", "Supplied text.", "S"),))
    assert _answer(tmp_path, SEARCH + REPLY, query, llm=ScriptedLLM("x"), retriever=None).text == "x"
    with pytest.raises(CaseError) as caught:
        _answer(tmp_path, SEARCH + REPLY, llm=ScriptedLLM("x"), retriever=None)
    assert caught.value.kind == "no_passages"


def test_messages_have_roles_and_empty_messages_are_left_out(tmp_path: Path) -> None:
    text = (
        '[[action]]\nname = "reply"\ndo = "generate"\nstop = ["END"]\ntemperature = 0.5\n'
        '[[action.message]]\nrole = "system"\ncontent = "{instructions}"\n'
        '[[action.message]]\nrole = "user"\ncontent = "{history}\\n{language} {question}"\n'
    )
    llm = ScriptedLLM("x")
    _answer(tmp_path, text, Query("q", history=(Turn("q0", "a0"), Turn("q1", "a1"))), llm=llm)
    (request,) = llm.requests
    content = "Question: q0\nAnswer: a0\n\nQuestion: q1\nAnswer: a1\nen q"
    assert request.messages == ({"role": "user", "content": content},)
    assert request.params == {"stop": ["END"], "temperature": 0.5}


def test_each_action_may_have_a_separate_model(tmp_path: Path) -> None:
    text = (
        '[[action]]\nname = "a"\ndo = "generate"\nprompt = "A"\nmodel = "openai/one"\n'
        '[[action]]\nname = "b"\ndo = "generate"\nprompt = "B {a}"\n'
    )
    models = {"openai/one": ScriptedLLM("one")}
    llm = ScriptedLLM("two")
    answer = _answer(tmp_path, text, llm=llm, models=models.__getitem__)
    assert answer.text == "two"
    assert models["openai/one"].requests[0].messages[0]["content"] == "A"
    assert llm.requests[0].messages[0]["content"] == "B one"
    assert [step.detail["prompt"][0]["content"] for step in answer.trace[:2]] == ["A", "B one"]


def test_a_chain_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"system 'chain:c.toml' needs a model"):
        _answer(tmp_path, SEARCH + REPLY)


def test_two_steps_with_the_same_prompt_both_store_it(tmp_path: Path) -> None:
    one = '[[action]]\nname = "a"\ndo = "generate"\nprompt = "Same"\n'
    answer = _answer(tmp_path, one + one.replace('"a"', '"b"'), llm=ScriptedLLM("x"))
    assert [step.detail["prompt"] for step in answer.trace[:2]] == [[{"role": "user", "content": "Same"}]] * 2


def test_named_retrievers_come_from_the_file_or_by_kind(tmp_path: Path) -> None:
    text = (
        SEARCH
        + 'retriever = "big"\n'
        + SEARCH.replace("found", "more")
        + 'retriever = "bm25"\n[retrievers]\nbig = { kind = "dense", m = 3 }\n'
    )
    built: list[tuple[str, Mapping[str, object]]] = []

    def retriever(kind: str, params: Mapping[str, object]) -> RecordingRetriever:
        built.append((kind, params))
        return RecordingRetriever()

    answer = _answer(tmp_path, text, retriever=None, retrievers=retriever)
    assert built == [("dense", {"m": 3}), ("bm25", {})]
    assert [step.detail["retriever"] for step in answer.trace[:2]] == ["big", "bm25"]


def test_without_k_a_search_returns_the_sessions_number_of_passages(tmp_path: Path) -> None:
    retriever = RecordingRetriever()
    _answer(tmp_path, SEARCH, retriever=retriever, top_k=2)
    assert retriever.queries == [("who wrote hamlet", 2)]


def test_an_empty_query_is_not_searched_and_is_noted(tmp_path: Path) -> None:
    retriever = RecordingRetriever()
    text = SEARCH.replace("{question}", '{question|after(\\"none\\")}') + REPLY
    answer = _answer(tmp_path, text, llm=ScriptedLLM("x"), retriever=retriever)
    assert (retriever.queries, answer.text) == ([], "x")
    assert _step(answer, "found").detail["notes"] == ["the query is empty, so nothing was searched"]
    assert answer.ranking is not None
    assert len(answer.ranking) == 0


def test_passages_without_texts_give_only_a_ranking(tmp_path: Path) -> None:
    llm = ScriptedLLM("x")
    answer = _answer(tmp_path, SEARCH + REPLY, llm=llm, retriever=RecordingRetriever([ScoredPassage("p1", 1.0)]))
    assert (answer.text, answer.generated, llm.requests) == ("", False, ())
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("p1",)


def test_a_chain_of_twelve_actions_keeps_every_prompt(tmp_path: Path) -> None:
    actions = [SEARCH.replace("found", "a0")]
    for number in range(1, 11):
        prompt = f"prompt and response {number}: {{a{number - 1}}} " + '{"q": {"text": "{question}"}}'
        actions.append(f"[[action]]\nname = 'a{number}'\ndo = 'generate'\nprompt = '''{prompt}'''\n")
    actions.append("[[action]]\nname = 'last'\ndo = 'template'\ntext = '''{\"answer\": \"{a10}\", \"all\": {}}'''\n")

    def reply(messages: Sequence[Message]) -> str:
        return f"r{len(llm.requests)}"

    llm = ScriptedLLM(reply)
    answer = _answer(tmp_path, "".join(actions), Query('a "quoted" {name}'), llm=llm)
    assert len(llm.requests) == 10
    assert json.loads(answer.text) == {"answer": "r10", "all": {}}
    fourth = _step(answer, "a4").detail["prompt"][0]["content"]
    assert fourth == 'prompt and response 4: r3 {"q": {"text": "a "quoted" {name}"}}'
    assert len([step for step in answer.trace if step.detail.get("action")]) == 12


@pytest.mark.parametrize("reply", ["{question} {{x}} {nothing} {a|lower}", "\ud800 \x00 }{", "x" * 1_000_000, "NaN"])
def test_a_hostile_reply_fills_later_prompts_as_text(tmp_path: Path, reply: str) -> None:
    llm = ScriptedLLM([reply, "done"])
    text = '[[action]]\nname = "a"\ndo = "generate"\nprompt = "A"\n' + (
        '[[action]]\nname = "b"\ndo = "generate"\nprompt = "<{a}>"\n'
    )
    assert _answer(tmp_path, text, llm=llm).text == "done"
    prompt = llm.requests[1].messages[0]["content"]
    assert prompt == f"<{reply}>".encode("utf-8", "backslashreplace").decode()


def test_an_expression_runs_in_the_sandbox_with_the_history(tmp_path: Path) -> None:
    text = (
        SEARCH
        + "[[action]]\nname = 'half'\ndo = 'python'\n"
        + "expression = '''\n"
        + "{'n': len(response), 'title': outputs['found']['titles'][0].upper(), 'asked': prompt[0],\n"
        + " 'first': wiki_id_title[0].split('; ')[0], 'found': found[:6], 'turns': history}'''\n"
        + "[[action]]\nname = 'reply'\ndo = 'generate'\nprompt_python = \"'Say ' + half[:8] + language\"\n"
    )
    llm = ScriptedLLM("x")
    sandbox = open_sandbox("monty", "this test")
    try:
        answer = _answer(tmp_path, text, llm=llm, sandbox=lambda needed_by: sandbox)
    finally:
        sandbox.close()
    assert llm.requests[0].messages[0]["content"] == 'Say {"n": 1,en'
    program = _step(answer, "half")
    assert program.kind == "program"
    assert json.loads(program.detail["text"]) == {
        "n": 1, "title": "HAMLET", "asked": "who wrote hamlet", "first": "Hamlet, p1", "found": "Hamlet", "turns": [],
    }  # fmt: skip
    assert _steps(answer) == [
        ("retrieve", "found"),
        ("program", "half"),
        ("program", "reply"),
        ("completion", "reply"),
        ("end", ""),
    ]


def test_an_expression_that_raises_is_an_error_of_the_case(tmp_path: Path) -> None:
    text = "[[action]]\nname = 'a'\ndo = 'python'\nexpression = \"question.split('[START]')[1]\"\n"
    sandbox = open_sandbox("monty", "this test")
    try:
        with pytest.raises(CaseError) as caught:
            _answer(tmp_path, text, sandbox=lambda needed_by: sandbox)
    finally:
        sandbox.close()
    assert caught.value.kind == "system_error"
    assert str(caught.value).startswith("c.toml:1: the expression of the action a raised IndexError")


def test_an_expression_cannot_reach_our_process(tmp_path: Path) -> None:
    for code in ("open('/etc/passwd').read()", "__import__('os').environ['PATH']", "().__class__.__base__"):
        text = f'[[action]]\nname = "a"\ndo = "python"\nexpression = """{code}"""\n'
        sandbox = open_sandbox("monty", "this test")
        try:
            with pytest.raises(CaseError, match="the expression of the action a raised"):
                _answer(tmp_path, text, sandbox=lambda needed_by, box=sandbox: box)
        finally:
            sandbox.close()


def _environments(call: Any) -> Environments:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    environment = Environment("pages", lambda: lambda: [Tool("Search", "Search.", schema, call)])
    return Environments({"pages": lambda: environment})


TOOL = '[[action]]\nname = "page"\ndo = "tool"\ntool = "Search"\narguments = { title = "{question|lower}" }\n'


def test_a_tool_is_called_with_filled_arguments(tmp_path: Path) -> None:
    def call(title: str) -> ToolResult:
        return ToolResult(f"page of {title}", (ScoredPassage("p9", None, "text", title),))

    environments = _environments(call)
    answer = _answer(tmp_path, TOOL, Query('Who is "{X}"?'), environments=environments)
    assert answer.text == 'page of who is "{x}"?'
    detail = _step(answer, "page").detail
    assert detail["arguments"] == {"title": 'who is "{x}"?'}
    assert json.loads(detail["prompt"]) == detail["arguments"]
    assert detail["text"] == answer.text
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("p9",)


def test_a_tool_outage_is_an_error_of_the_case(tmp_path: Path) -> None:
    def call(title: str) -> str:
        raise ConnectionRefusedError("down")

    with pytest.raises(CaseError) as caught:
        _answer(tmp_path, TOOL, environments=_environments(call))
    assert caught.value.kind == "tool_unavailable"


def test_a_run_ends_at_its_time_limit(tmp_path: Path) -> None:
    llm = ScriptedLLM("x", delay_s=5)
    answer = _answer(tmp_path, SEARCH + REPLY, options={"max_time": "0.05"}, llm=llm)
    assert answer.text == ""
    assert answer.trace[-1].detail["reason"] == "time_limit"


def test_a_prompt_that_does_not_fit_ends_the_run_and_keeps_the_ranking(tmp_path: Path) -> None:
    answer = _answer(tmp_path, SEARCH + REPLY, llm=ScriptedLLM([ModelError("context_length", "too long")]))
    assert answer.trace[-1].detail["reason"] == "context_limit"
    assert answer.ranking is not None


def test_the_embedded_model_answers_from_the_retrieved_passages(tmp_path: Path) -> None:
    answer = _answer(tmp_path, SEARCH + REPLY, Query("Who is Hamlet by?"), llm=EmbeddedModel())
    assert answer.text == "Hamlet is by Shakespeare."


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"suplied": "use"}, "has the unknown option 'suplied'; did you mean 'supplied'?"),
        ({"supplied": "no"}, "has supplied=no; write use or ignore"),
        ({"max_time": "0"}, "has max_time=0; write a number of seconds above 0"),
    ],
)
def test_an_invalid_option_is_refused(tmp_path: Path, options: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingError) as caught:
        _options(tmp_path, SEARCH, **options)
    assert problem in str(caught.value)


def test_an_expression_without_a_sandbox_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_rageval.sandbox.monty.find_spec", lambda name: None)
    text = "[[action]]\nname = 'a'\ndo = 'python'\nexpression = 'question'\n"
    with pytest.raises(SettingError, match=r"chain:c\.toml needs a sandbox: pip install"):
        _options(tmp_path, text)
    assert _options(tmp_path, SEARCH).chain.actions


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    setup = SystemSetup("--rag-system", ComponentOptions({}, "x"), "none.toml", (tmp_path,))
    with pytest.raises(SettingError, match=r"--rag-system: there is no file 'none\.toml'; correct the path"):
        read(setup)
    for name in ("chain", "chain:", "chain@openai/x"):
        with pytest.raises(RagEvalError, match=r"names no chain; write chain:FILE\.toml"):
            family(name, "chain", None)


def test_the_plan_counts_the_calls_exactly(tmp_path: Path) -> None:
    text = '[[action]]\nname = "a"\ndo = "generate"\nprompt = "A {question}"\n' + SEARCH + REPLY
    plan = family("chain:c.toml", "chain", None).plan
    assert plan is not None
    options = _options(tmp_path, text)
    run = plan(options, Query("q"), SystemParts())
    assert (run.calls, run.exact, run.final) == (2, True, True)
    assert run.messages == ({"role": "user", "content": "A q"},)
    later = plan(_options(tmp_path, SEARCH + REPLY), Query("q"), SystemParts())
    assert (later.calls, later.exact, later.final) == (1, True, False)
    assert later.messages == ({"role": "user", "content": "\n\nq"},)
    assert plan(_options(tmp_path, SEARCH), Query("q"), SystemParts()).calls == 0
