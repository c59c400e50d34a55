"""``rageval chain check``: check that a chain can run, and list its actions."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.chain_command import check_in_project
from pytest_rageval.report.text.lines import counted
from pytest_rageval.systems.chains.chain import Action, CallTool, Expression, Generate, Retrieve, sources_of
from pytest_rageval.systems.chains.expressions import free_names

__all__ = ["check_chain"]


def check_chain(name: str) -> Iterator[str]:
    """Yield a summary of a chain and a line for each action: name, kind, inputs and settings.

    Raises:
        RagEvalError: the chain cannot run.
    """
    checked = check_in_project(name)
    chain = checked.chain
    calls = sum(isinstance(action, Generate) for action in chain.actions)
    model = f", model {ascii_safe(checked.model)}" if checked.model else ""
    yield f"{chain.file_name}: {counted(len(chain.actions), 'action')}, {counted(calls, 'model call')}{model}"
    widths = [max(len(text) for text in texts) for texts in zip(*map(_columns, chain.actions), strict=True)]
    for at, action in enumerate(chain.actions, 1):
        cells = [cell.ljust(width) for cell, width in zip(_columns(action), widths, strict=True)]
        yield f"{at:3}  {'  '.join(cells)}".rstrip()
    yield f"answer: {'none, it only retrieves' if chain.answer is None else ascii_safe(chain.answer.source)}"
    yield f"ranking: {', '.join(chain.ranking) or 'none'}"
    if checked.lacks_corpus:
        yield "The ini has no rag_corpus: each case has to supply passages."


def _columns(action: Action) -> tuple[str, str, str, str]:
    """Return the cells of an action's line: name, kind, inputs and settings."""
    uses = ", ".join(_uses(action))
    return action.name, action.do, f"uses {uses}" if uses else "", ascii_safe(", ".join(_settings(action)))


def _uses(action: Action) -> dict[str, None]:
    """Return the names of variables and actions that an action reads, in order, each once."""
    names: dict[str, None] = {}
    for source in sources_of(action):
        if isinstance(source, Expression):
            names |= dict.fromkeys(free_names(source.code))
        else:
            names |= dict.fromkeys(variable.name for variable in source.variables)
    return names


def _settings(action: Action) -> Iterator[str]:
    if isinstance(action, Retrieve):
        yield from () if action.k is None else (f"k {action.k}",)
        yield from (f"retriever {action.retriever}",) if action.retriever else ()
    elif isinstance(action, Generate):
        yield from (f"model {action.model}",) if action.model else ()
        yield from (f"{key} {value}" for key, value in action.params.items())
    elif isinstance(action, CallTool):
        yield f"tool {action.tool}"
