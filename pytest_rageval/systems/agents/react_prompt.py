"""Build the messages of `react`: instructions, tools, examples, question, steps so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.environments.tool import Tool
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import Message
from pytest_rageval.systems.agents.options import AgentOptions
from pytest_rageval.systems.agents.prompts import AgentPrompts, load_agent_prompts
from pytest_rageval.systems.agents.tool_texts import describe_tools, takes_text
from pytest_rageval.systems.prompting import Prompts
from pytest_rageval.text.placeholders import fill
from pytest_rageval.text.quoting import quote_lines

__all__ = ["ReactPrompt", "ReactTranscript", "load_react_prompts"]

_KEYS = {"system": ("tools",), "user": ("question", "transcript")}
"""The texts of the prompt file, each with its required placeholders."""


def load_react_prompts(options: AgentOptions) -> AgentPrompts:
    """Return the prompts, with the replacements of the option ``prompts``."""
    return load_agent_prompts(Path(__file__).parent / "prompts" / "react", _KEYS, options.prompts)


@dataclass(slots=True)
class ReactTranscript:
    """The steps so far, as the model sees them. Text is only appended, so a trace stores each text once."""

    parts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, query: Query) -> ReactTranscript:
        """Return the transcript before the first step; supplied passages are its first observation."""
        if query.passages is None:
            return cls()
        texts = ["\n".join(text for text in (each.title, each.text) if text.strip()) for each in query.passages]
        return cls(["Documents:", *(quote_lines(text) for text in texts)])

    def add(self, number: int, thought: str, action: str, observation: str, note: str = "") -> None:
        """Add a step; ``observation`` is data and is quoted, ``note`` is our text."""
        lines = [f"Thought {number}: {thought}", f"Action {number}: {action}"]
        lines += (
            [f"Observation {number}:", quote_lines(observation)] if observation else [f"Observation {number}: {note}"]
        )
        self.parts += [line.rstrip() for line in lines] + ([note] if observation and note else [])

    def text(self, *line_starts: str) -> str:
        """Return the steps, then the beginning of the step that the model has to continue."""
        return "\n".join((*self.parts, *line_starts))


@dataclass(frozen=True, slots=True)
class ReactPrompt:
    """Builds the messages of one case.

    Attributes:
        prompts: the texts for the model.
        sentences: the session's prompts, with the sentence that declines to answer.
        examples: how many worked examples to show.
    """

    prompts: AgentPrompts
    sentences: Prompts
    examples: int

    def head(self, query: Query, tools: Sequence[Tool]) -> tuple[Message, ...]:
        """Return the messages before the question: the system message and the earlier turns."""
        language = query.language
        name = next((tool.name for tool in tools if takes_text(tool)), "")
        examples = self.prompts.examples_text(language, self.examples) if name else ""
        values = {
            **self.sentences.sentences(language),
            "tools": describe_tools(tools),
            "examples": fill(examples, {"tool": name}).strip(),
        }
        messages = [{"role": "system", "content": self.prompts.text("system", language, values)}]
        for turn in query.history:
            messages.append({"role": "user", "content": turn.question})
            messages.append({"role": "assistant", "content": turn.answer})
        return tuple(message for message in messages if message["content"].strip())

    def question(self, query: Query, transcript: str) -> Message:
        """Return the last message: the question and the steps so far."""
        values = {"instructions": query.instructions, "question": query.question, "transcript": transcript}
        return {"role": "user", "content": self.prompts.text("user", query.language, values)}
