"""A chain is read from its TOML file, and its errors are reported with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.errors import RagEvalError
from pytest_rageval.systems.chains.chain import CallTool, Chain, Compute, Expression, Fill, Generate, Retrieve
from pytest_rageval.systems.chains.chain_file import read_chain

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
k = 5

[[action]]
name = "reply"
do = "generate"
prompt = "{found}\n\nAnswer in at most 5 words: {question}\n\nAnswer:"

[output]
answer = "{reply|strip}"
ranking = ["found"]
"""


def _read(folder: Path, text: str) -> Chain:
    path = folder / "c.toml"
    path.write_text(text, encoding="utf-8")
    return read_chain(path, "c.toml")


def _problem(folder: Path, text: str) -> str:
    with pytest.raises(RagEvalError) as caught:
        _read(folder, text)
    return str(caught.value)


def _action(text: str, name: str = "a", do: str = "template") -> str:
    return f'[[action]]\nname = "{name}"\ndo = "{do}"\n{text}\n'


def test_the_example_of_the_specification_is_read(tmp_path: Path) -> None:
    chain = _read(tmp_path, REWRITE)
    query, search, reply = chain.actions
    assert isinstance(query, Generate)
    assert query.params == {"max_tokens": 40}
    assert query.where == "c.toml:2"
    assert isinstance(search, Retrieve)
    assert (search.k, search.join, search.passage.source) == (5, "\n\n", "{text}")
    assert isinstance(reply, Generate)
    assert [message.role for message in reply.messages] == ["user"]
    assert chain.answer is not None
    assert chain.answer.source == "{reply|strip}"
    assert chain.ranking == ("found",)


def test_every_kind_of_action_is_read(tmp_path: Path) -> None:
    chain = _read(
        tmp_path,
        """
[[action]]
name = "found"
do = "retrieve"
retriever = "pages"
join = "; "
passage = "[{number}] {title|strip}: {text} ({id})"

[[action]]
name = "short"
do = "template"
text = "{found.titles[0]} {found.ids} {found.texts} {found.titles_and_ids} {found.prompt}"

[[action]]
name = "page"
do = "tool"
tool = "Search"
arguments = { title = "{short}", options = { limit = 3, tags = ["{language}", true] } }

[[action]]
name = "count"
do = "python"
expression = "len(found) + len(outputs['found']['titles']) + len(response)"

[[action]]
name = "reply"
do = "generate"
model = "openai/gpt-4o-mini"
temperature = 0
stop = "END"

[[action.message]]
role = "system"
content = "{instructions}"

[[action.message]]
role = "user"
content = "{history} {question} {count} {page}"

[retrievers]
pages = "bm25"
other = { kind = "hybrid", of = "bm25, dense" }
""",
    )
    search, short, page, count, reply = chain.actions
    assert isinstance(search, Retrieve)
    assert search.k is None
    assert search.retriever == "pages"
    assert isinstance(search.query, type(search.passage))
    assert search.query.source == "{question}"
    assert isinstance(short, Fill)
    assert isinstance(page, CallTool)
    assert page.tool == "Search"
    assert page.arguments["options"]["limit"] == 3
    assert isinstance(count, Compute)
    assert isinstance(count.expression, Expression)
    assert isinstance(reply, Generate)
    assert [message.role for message in reply.messages] == ["system", "user"]
    assert reply.params == {"temperature": 0.0, "stop": ["END"]}
    assert chain.models == ("openai/gpt-4o-mini",)
    assert chain.retrievers["other"].params == {"of": "bm25, dense"}
    assert chain.answer is not None
    assert chain.answer.source == "{reply}"
    assert len(chain.expressions) == 1
    assert len(chain.tools) == 1
    assert len(chain.retrieves) == 1


def test_without_an_output_the_last_text_is_the_answer_and_all_searches_are_the_ranking(tmp_path: Path) -> None:
    search = _action("", "one", "retrieve"), _action("", "two", "retrieve")
    chain = _read(tmp_path, search[0] + _action('text = "x"', "a") + search[1])
    assert chain.answer is not None
    assert chain.answer.source == "{a}"
    assert chain.ranking == ("one", "two")
    only = _read(tmp_path, "".join(search))
    assert only.answer is None


def test_expressions_may_replace_prompts_and_queries(tmp_path: Path) -> None:
    search = _action("query_python = \"question.split('[START]')[1]\"", "found", "retrieve")
    chain = _read(tmp_path, search + _action('prompt_python = "question + response[0]"', "b", "generate"))
    assert len(chain.expressions) == 2


def test_plain_words_prompt_and_response_are_text(tmp_path: Path) -> None:
    chain = _read(tmp_path, _action('text = "the prompt and the response of {question}"'))
    (action,) = chain.actions
    assert isinstance(action, Fill)
    assert [each.name for each in action.text.variables] == ["question"]


def test_an_action_may_be_called_response(tmp_path: Path) -> None:
    chain = _read(tmp_path, _action('text = "x"', "response") + _action('text = "{response}"', "b"))
    assert [action.name for action in chain.actions] == ["response", "b"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "c.toml:1: a chain has one or more [[action]] tables; add one"),
        ("[output]\nanswer = 'x'\n", "c.toml:1: a chain has one or more [[action]] tables; add one"),
        ("action = []\n", "c.toml:1: a chain has one or more [[action]] tables; add one"),
        ("[[actions]]\nname = 'a'\n", "c.toml:1: unknown key 'actions'; did you mean 'action'?"),
        ("[[action]\n", "c.toml:1: this is not valid TOML"),
        ("[[action]]\ndo = 'template'\n", "c.toml:1: the action has no name; add it"),
        ("[[action]]\nname = 'a'\n", "c.toml:1: the action has no do; add it"),
        (_action("", do="retreive"), "c.toml:3: unknown kind of action 'retreive'; did you mean 'retrieve'?"),
        (_action("text = 'x'", name="A-b"), "c.toml:2: name: found 'A-b', wanted a lower-case letter"),
        (_action("text = 'x'", name="question"), "c.toml:1: the name question is reserved (question, language"),
        (
            _action("text = 'x'") + _action("text = 'x'"),
            "c.toml:5: the name a is used before, at c.toml:1; choose another one",
        ),
        (_action("txt = 'x'"), "c.toml:4: unknown key 'txt'; did you mean 'text'?"),
        (_action(""), "c.toml:1: the action a has no text; add it"),
        (_action("", do="generate"), "c.toml:1: the action a has no prompt; add prompt, or [[action.message]] tables"),
        (_action("", do="tool"), "c.toml:1: the action a has no tool; add it"),
        (_action("", do="python"), "c.toml:1: the action a has no expression; add it"),
        (_action("text = 3"), "c.toml:4: text: found 3, wanted a string"),
        (_action("text = '{questoin}'"), "c.toml:4: unknown variable 'questoin'; did you mean 'question'?"),
        (_action("text = '{Question}'"), "c.toml:4: unknown variable 'Question'; did you mean 'question'?"),
        (_action("text = '''\nx\n{questoin}'''"), "c.toml:6: unknown variable 'questoin'; did you mean 'question'?"),
        (_action("text = '{question|stripp}'"), "c.toml:4: text: unknown filter 'stripp'; did you mean 'strip'?"),
        (_action("text = '{question'"), "c.toml:4: text: the variable that begins with '{question' is malformed"),
        (_action("text = '{a}'"), "c.toml:4: the action a uses its own output, which is a loop"),
        (
            _action("text = '{b}'") + _action("text = 'x'", name="b"),
            "c.toml:4: the action a uses b, which comes later; move b before it",
        ),
        (
            _action("text = '{b}'") + _action("text = '{c}'", name="b") + _action("text = '{a}'", name="c"),
            "c.toml:4: the actions use each other in a loop: a -> b -> c -> a",
        ),
        (
            _action("", "found", "retrieve") + _action("text = '{found.title[0]}'", "b"),
            "c.toml:8: unknown field of found 'title'; did you mean 'titles'?",
        ),
        (
            _action("text = 'x'") + _action("text = '{a.titles[0]}'", "b"),
            "c.toml:8: {a.titles[0]}: only a retrieve has titles, and a is a template",
        ),
        (_action("text = '{question.ids}'"), "c.toml:4: {question.ids}: question is one text; write {question}"),
        (_action("text = '{question[0]}'"), "c.toml:4: {question[0]}: question is one text; write {question}"),
        (
            _action("text = 'x'") + _action("text = '{a[0]}'", "b"),
            "c.toml:8: {a[0]}: only ids, titles, texts, titles_and_ids have an index; remove it",
        ),
        (_action("k = 0", do="retrieve"), "c.toml:4: k: found 0, wanted a whole number of 1 or more"),
        (_action("k = true", do="retrieve"), "c.toml:4: k: found True, wanted a whole number of 1 or more"),
        (_action("k = 2.5", do="retrieve"), "c.toml:4: k: found 2.5, wanted a whole number of 1 or more"),
        (_action("passage = '{body}'", do="retrieve"), "c.toml:4: unknown variable of a passage 'body'; known: id,"),
        (_action("prompt = 'x'\nmax_tokens = -1", do="generate"), "c.toml:5: max_tokens: found -1, wanted a whole"),
        (_action("prompt = 'x'\ntemperature = nan", do="generate"), "c.toml:5: temperature: found nan, wanted"),
        (_action("prompt = 'x'\ntemperature = 'hot'", do="generate"), "c.toml:5: temperature: found 'hot', wanted"),
        (_action("prompt = 'x'\nstop = ['']", do="generate"), "c.toml:5: stop: found [''], wanted a text, or a list"),
        (_action("prompt = 'x'\nmodel = ''", do="generate"), "c.toml:5: model: found '', wanted a text that is not"),
        (
            _action("prompt = 'x'\n[[action.message]]\nrole = 'user'\ncontent = 'x'", do="generate"),
            "c.toml:1: the action a has a prompt and messages; remove one of them",
        ),
        (
            _action("[[action.message]]\nrole = 'usr'\ncontent = 'x'", do="generate"),
            "c.toml:5: unknown role 'usr'; did you mean 'user'?",
        ),
        (_action("[[action.message]]\nrole = 'user'", do="generate"), "c.toml:4: a message has no content; add it"),
        (
            _action("tool = 'Search'\narguments = {date = 2020-01-01}", do="tool"),
            "c.toml:5: arguments: found datetime.date(2020, 1, 1), wanted JSON values",
        ),
        (_action("tool = 'S'\narguments = {x = inf}", do="tool"), "c.toml:5: arguments: found inf, wanted JSON values"),
        (_action("expression = 'question +'", do="python"), "c.toml:4: expression: this is not valid Python"),
        (_action("expression = 'x = 1'", do="python"), "c.toml:4: expression: the last line must be an expression"),
        (_action("expression = 'questoin[0]'", do="python"), "c.toml:4: unknown variable 'questoin'; did you mean"),
        (
            _action("expression = 'b'", do="python") + _action("text = 'x'", "b"),
            "c.toml:4: the action a uses b, which comes later; move b before it",
        ),
        (
            _action("query = 'x'\nquery_python = 'question'", do="retrieve"),
            "c.toml:1: the action has query and query_python; remove one of them",
        ),
        (_action("text = 'x'") + "[output]\nanswr = 'x'\n", "c.toml:6: unknown key 'answr'; did you mean 'answer'?"),
        (_action("text = 'x'") + "[output]\nanswer = '{b}'\n", "c.toml:6: unknown variable 'b'"),
        (_action("text = 'x'") + "[output]\nranking = ['a']\n", "c.toml:6: unknown retrieve action 'a'"),
        (_action("", do="retrieve") + "[output]\nranking = []\n", "c.toml:6: ranking: found [], wanted a list"),
        (_action("text = 'x'") + "[retrievers]\nbig = 3\n", "c.toml:6: big: found 3, wanted the kind of a retriever"),
        (_action("text = 'x'") + "[retrievers.big]\nk = 3\n", "c.toml:5: big: found {'k': 3}, wanted the kind"),
    ],
)
def test_an_error_is_one_sentence_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    message = _problem(tmp_path, text)
    assert message.startswith(problem)
    assert "\n" not in message


def test_expressions_may_set_new_names(tmp_path: Path) -> None:
    code = "import re\nwords = [w for w in question.split() if w]\nre.sub('x', 'y', max(words, key=lambda v: len(v)))"
    chain = _read(tmp_path, _action(f'expression = """\n{code}"""', do="python"))
    assert chain.expressions[0].code.strip() == code
