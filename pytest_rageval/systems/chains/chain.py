"""Data classes of a chain: its actions, its answer and its ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pytest_rageval.systems.chains.template import Template

__all__ = [
    "Action",
    "CallTool",
    "Chain",
    "Compute",
    "Expression",
    "Fill",
    "Generate",
    "PromptMessage",
    "Retrieve",
    "RetrieverSource",
    "Source",
    "sources_of",
]

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Expression:
    """A Python expression. It runs in the sandbox, and nothing is filled into its text."""

    code: str


Source = Template | Expression
"""Makes a text from the history."""


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Search for passages.

    Attributes:
        where: the file and line of the action.
        name: the name of the action, unique in the chain.
        query: makes the text of the query.
        k: the number of passages; None for ``rag_top_k``.
        retriever: a name in ``[retrievers]`` or a kind of ``rag_retriever``; "" for the session's retriever.
        join: the separator of the passages in the text.
        passage: makes the text of one passage; its variables are ``id title text number``.
    """

    where: str
    name: str
    query: Source
    k: int | None = None
    retriever: str = ""
    join: str = "\n\n"
    passage: Template = field(default_factory=lambda: Template("", ()))
    do = "retrieve"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message to a model."""

    role: str
    content: Source


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask a model.

    Attributes:
        where, name: see `Retrieve`.
        messages: the messages, in order.
        model: the litellm name of the model of this action; "" for the system's model.
        params: ``max_tokens``, ``temperature`` and ``stop``, if the file sets them.
    """

    where: str
    name: str
    messages: tuple[PromptMessage, ...]
    model: str = ""
    params: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    do = "generate"


@dataclass(frozen=True, slots=True)
class Fill:
    """Fill a template."""

    where: str
    name: str
    text: Template
    do = "template"


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a tool of the case's environment.

    Attributes:
        where, name: see `Retrieve`.
        tool: the tool's name.
        arguments: name -> JSON value; each text in it is a `Template`.
    """

    where: str
    name: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    do = "tool"


@dataclass(frozen=True, slots=True)
class Compute:
    """Run a Python expression in the sandbox."""

    where: str
    name: str
    expression: Expression
    do = "python"


Action = Retrieve | Generate | Fill | CallTool | Compute
"""One step of a chain. ``do`` is its kind as the file writes it."""


@dataclass(frozen=True, slots=True)
class RetrieverSource:
    """A retriever in the table ``[retrievers]`` of the chain's file.

    Attributes:
        where: the file and line.
        kind: a kind of ``rag_retriever``.
        params: its parameters, as in ``rag_retriever_params``.
    """

    where: str
    kind: str
    params: Mapping[str, Any] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain.

    Attributes:
        file_name: the name of its file in messages.
        actions: one or more, in order.
        answer: makes the answer; None if the chain only retrieves.
        ranking: the names of the retrieve actions whose passages are the ranking, in order.
        retrievers: name -> retriever, from the table ``[retrievers]``.
    """

    file_name: str
    actions: tuple[Action, ...]
    answer: Template | None
    ranking: tuple[str, ...]
    retrievers: Mapping[str, RetrieverSource] = field(default_factory=lambda: _NONE)

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct models that actions name; "" is the system's model."""
        return tuple(dict.fromkeys(each.model for each in self.actions if isinstance(each, Generate)))

    @property
    def tools(self) -> tuple[CallTool, ...]:
        """The actions that call a tool."""
        return tuple(each for each in self.actions if isinstance(each, CallTool))

    @property
    def retrieves(self) -> tuple[Retrieve, ...]:
        """The actions that search."""
        return tuple(each for each in self.actions if isinstance(each, Retrieve))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that need a sandbox."""
        return tuple(source for each in self.actions for source in sources_of(each) if isinstance(source, Expression))


def sources_of(action: Action) -> tuple[Source, ...]:
    """Return the templates and expressions of an action."""
    if isinstance(action, Retrieve):
        return (action.query,)
    if isinstance(action, Generate):
        return tuple(message.content for message in action.messages)
    if isinstance(action, Fill):
        return (action.text,)
    if isinstance(action, Compute):
        return (action.expression,)
    return tuple(_templates(action.arguments))


def _templates(value: Any) -> list[Template]:
    """Return the templates in a JSON value."""
    if isinstance(value, Template):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    return [template for each in inner for template in _templates(each)]
