"""Parse the first prompt of a `PromptedJudge` back into the parts that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.wording import LANGUAGES, prompt_texts
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.chat import Message
from pytest_rageval.model.sample import Sample

__all__ = ["PromptReader", "ShownParts"]

ROLES = ["system", "user"]


@dataclass(frozen=True, slots=True)
class ShownParts:
    """The parts in a judge's prompt.

    Attributes:
        language: the language of the prompt.
        texts: part -> text, without trailing white space in its lines.
    """

    language: str
    texts: Mapping[str, str]


class PromptReader:
    """Parses the prompts of one judge by their fixed texts: the task, and the headings above quoted lines.

    Args:
        judge: the judge; prompts of the swapped judge are parsed, too.
    """

    def __init__(self, judge: PromptedJudge) -> None:
        self._judge = judge
        self._languages: dict[str, str] = {}
        for language in LANGUAGES:
            sample = Sample(Case("", Instance("", "?", (("!",),), language=language), None, {}), Answer("!"))
            for each in (judge, judge.swapped):
                if each is not None:
                    self._languages.setdefault(str(each.messages(sample)[0]["content"]), language)

    def read(self, messages: Sequence[Message]) -> ShownParts:
        """Return the parts in a prompt.

        Raises:
            SettingError: the messages are not a first prompt of the judge.
        """
        name = self._judge.name
        if [message.get("role") for message in messages] != ROLES:
            raise SettingError(f"wanted two messages, the prompt of {name}: system, then user")
        system, user = (message.get("content") for message in messages)
        language = self._languages.get(system.strip()) if isinstance(system, str) else None
        if language is None or not isinstance(user, str):
            raise SettingError(f"the system message is not the prompt of the judge {name}; ask with rag_judges")
        texts = _read_material(user, prompt_texts(language)["parts"])
        missing = [part for part in self._judge.shows if part not in texts]
        if missing:
            raise SettingError(f"the user message lacks the part {missing[0]} of the prompt of {name}")
        return ShownParts(language, texts)


def _read_material(text: str, headings: Mapping[str, str]) -> dict[str, str]:
    """Return part -> text of a user message that `material` wrote.

    Raises:
        SettingError: a line is neither quoted nor a heading.
    """
    by_heading = {heading: part for part, heading in headings.items() if part != "nothing"}
    lines: dict[str, list[str]] = {}
    part = ""
    for line in text.split("\n"):
        if line.startswith(">") and part:
            lines[part].append(line.removeprefix(">").removeprefix(" "))
        elif (heading := by_heading.get(line)) is not None and heading not in lines:
            part = heading
            lines[part] = []
        elif line and not (line == headings["nothing"] and part):
            raise SettingError(f"the user message has the line {short_repr(line)}, which no judge's prompt has there")
    return {name: "\n".join(each) for name, each in lines.items()}
