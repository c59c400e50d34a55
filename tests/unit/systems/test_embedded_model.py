"""The model `embedded` in agent runs: its searches, lookups and answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pytest_rageval.environments.environment import Environment, OpenEnvironment
from pytest_rageval.environments.pages import Pages
from pytest_rageval.environments.tool import Tool
from pytest_rageval.environments.wiki import tools_over
from pytest_rageval.errors import ModelError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.chat import Completion
from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.systems.embedded.model import EmbeddedModel
from pytest_rageval.systems.embedded.names import names_in
from pytest_rageval.systems.embedded.turn import TURN, ToolUse, Turn
from pytest_rageval.trace.actions import read_action

PAGES = (
    Passage("p1", "The Long Ferry is a film. It was directed by Otto Lind and shows Mara Holt.", "The Long Ferry"),
    Passage("p2", "Otto Lind, director of The Long Ferry, died in Torhaven in 2003.", "Otto Lind"),
    Passage("p3", "Torhaven is a port.", "Torhaven"),
)


def wiki() -> Environment:
    return Environment("wiki", lambda: tools_over(Pages(PAGES)))


def reply(turn: Turn | None) -> Completion:
    async def ask() -> Completion:
        TURN.set(turn)
        return await EmbeddedModel().complete([{"role": "user", "content": "ignored"}])

    return asyncio.run(ask())


async def _play(turn: Turn, tools: OpenEnvironment) -> tuple[list[tuple[str, Any]], str]:
    uses: list[ToolUse] = []
    while True:
        TURN.set(Turn(turn.dialect, turn.question, turn.language, tools.tools, tuple(uses), turn.passages,
                      turn.max_steps, turn.finish))  # fmt: skip
        completion = await EmbeddedModel().complete([])
        if turn.dialect == "react":
            action = read_action(completion.text, [tool.name for tool in tools.tools])
            assert action is not None
            assert not action.fault
            if action.is_finish:
                text = action.arguments if isinstance(action.arguments, str) else action.arguments["answer"]
                return [(use.name, use.arguments) for use in uses], text
            first = next(iter(next(tool for tool in tools.tools if tool.name == action.name).parameters["properties"]))
            arguments = {first: action.arguments} if isinstance(action.arguments, str) else action.arguments
            name = action.name
        else:
            if not completion.tool_calls:
                return [(use.name, use.arguments) for use in uses], completion.text
            (call,) = completion.tool_calls
            name, arguments = call.name, json.loads(call.arguments)
            if name == turn.finish:
                return [(use.name, use.arguments) for use in uses], arguments["answer"]
        uses.append(ToolUse(name, arguments, await tools.run(name, arguments)))


def play(turn: Turn, environment: Environment | None = None) -> tuple[list[tuple[str, Any]], str]:
    """Return the calls and the answer of a whole run."""
    with (environment or wiki()).open() as tools:
        return asyncio.run(_play(turn, tools))


QUESTION = "Where did the director of The Long Ferry die?"
CALLS = [
    ("Search", {"title": "The Long Ferry"}),
    ("Search", {"title": "Otto Lind"}),
    ("Search", {"title": "Mara Holt"}),
    ("Search", {"title": "Torhaven"}),
    ("Lookup", {"keyword": "director"}),
]


@pytest.mark.parametrize(("dialect", "finish"), [("react", "Finish"), ("tools", ""), ("tools", "finish")])
def test_it_searches_the_names_in_the_question_then_those_in_the_pages(dialect: Any, finish: str) -> None:
    calls, answer = play(Turn(dialect, QUESTION, finish=finish))
    assert calls == CALLS
    assert "died in Torhaven" in answer


@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_it_answers_within_the_step_limit(steps: int) -> None:
    calls, _ = play(Turn("react", QUESTION, max_steps=steps, finish="Finish"))
    assert calls == CALLS[: steps - 1]


def test_a_question_without_names_searches_its_content_words() -> None:
    hours = {"type": "object", "properties": {"day": {"type": "integer"}, "place": {"type": "string"}}}
    opening = Tool(
        "opening", "When it opens.", {**hours, "required": ["place"]}, lambda place: f"The {place} opens at 9."
    )
    environment = Environment("desk", lambda: lambda: (opening,))
    calls, answer = play(Turn("react", "when does the museum open?", finish="Finish"), environment)
    assert ("opening", {"place": "museum"}) in calls
    assert "museum opens at 9" in answer
    chinese, _ = play(Turn("react", "博物馆几点开门？", "zh", finish="Finish"), environment)
    assert ("opening", {"place": "博物馆"}) in chinese


def test_without_evidence_it_declines_in_the_language_of_the_question() -> None:
    assert play(Turn("react", "Who is Ada Rook?", finish="Finish"))[1] == REJECTION_SENTENCE["en"]
    assert play(Turn("react", "谁是市长？", "zh", finish="Finish"))[1] == REJECTION_SENTENCE["zh"]


def test_without_a_usable_tool_it_answers_from_the_supplied_passages() -> None:
    number = Tool("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, abs)
    environment = Environment("sums", lambda: lambda: (number,))
    supplied = (Passage("a", "Otto Lind died in Torhaven."),)
    calls, answer = play(Turn("react", "Where did Otto Lind die?", passages=supplied, finish="Finish"), environment)
    assert (calls, answer) == ([], "Otto Lind died in Torhaven.")


def test_an_argument_with_brackets_is_written_as_json() -> None:
    title = Turn("react", 'Who made "Odd ] Bracket"?', tools=tuple(tools_over(Pages(PAGES))()), finish="Finish")
    action = read_action(reply(title).text)
    assert action is not None
    assert action.fault == ""
    supplied = (Passage("a", 'The sign ":]" of Otto Lind\'s [old shop is it.\nIt hangs.'),)
    action = read_action(
        reply(Turn("react", "What is the sign of Otto Lind?", passages=supplied, finish="Finish")).text
    )
    assert action is not None
    assert isinstance(action.arguments, dict)
    assert action.arguments["answer"].startswith('The sign ":]" of')


def test_a_failed_or_empty_search_is_not_evidence_and_is_not_repeated() -> None:
    def fail(title: str) -> str:
        raise KeyError(title)

    broken = Tool("look", "Look.", {"type": "object", "properties": {"title": {"type": "string"}}}, fail)
    calls, answer = play(
        Turn("react", "Who is Otto Lind?", finish="Finish"), Environment("x", lambda: lambda: (broken,))
    )
    assert calls == [("look", {"title": "Otto Lind"})]
    assert answer == REJECTION_SENTENCE["en"]


@pytest.mark.parametrize("turn", [None, Turn("other", "?")], ids=["none", "other"])  # type: ignore[arg-type]
def test_a_request_that_is_not_from_a_built_in_system_is_refused(turn: Turn | None) -> None:
    with pytest.raises(ModelError, match="answers only the built-in agents and chains"):
        reply(turn)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where was the director of film Lord of the Sands born?", ["Lord of the Sands"]),
        ("Are Ann Bo (Criminal) and Gare De La Roche-Sur-Yon near?", ["Ann Bo (Criminal)", "Gare De La Roche-Sur-Yon"]),
        ("Which film is older, Wrong Turn 5: Bloodlines or Dark River (2017 Film)?",
         ["Wrong Turn 5: Bloodlines", "Dark River (2017 Film)"]),
        ("What nationality is Beatrice I, Countess Of Burgundy's husband?", ["Beatrice I, Countess Of Burgundy"]),
        ("It was directed by J. R. Smith. He was born in Rome.", ["J. R. Smith", "Rome"]),
        ("Which came first, 3 Dots or Dying God?", ["3 Dots", "Dying God"]),
        ("In 1938 it was shown. The Hague is a city.", ["Hague"]),
        ("It lies on the Grey Sea. Its port is old. Dr. Ann Bo lives there.", ["Grey Sea", "Dr. Ann Bo"]),
        ("Has Widow's Bridge an arch?", ["Widow", "Widow's Bridge", "Bridge"]),
        ("The pier of Tarnhaven, 412 metres long, opened on 3 May 1874.", ["Tarnhaven"]),
        ("nothing here", []),
        ("谁是市长？", []),
        ("", []),
    ],
)  # fmt: skip
def test_names_are_runs_of_capitalised_words(text: str, names: list[str]) -> None:
    assert names_in(text) == names
