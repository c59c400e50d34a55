"""Read the outputs of earlier actions from a file, to run one action of a chain alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.source import read_object, shown_path
from pytest_rageval.errors import DataError, UnknownNameError
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.systems.chains.chain import Action, Chain, Expression, Retrieve, sources_of
from pytest_rageval.systems.chains.expressions import LISTS, free_names
from pytest_rageval.systems.chains.filters import Value
from pytest_rageval.systems.chains.history import Output
from pytest_rageval.systems.chains.references import OUTPUTS
from pytest_rageval.systems.chains.values import passages_value

__all__ = ["outputs_of", "read_outputs"]

_PASSAGES = "a list of passages, each an object with id and text"
_KEYS = ("prompt", "text", "passages")


def read_outputs(path: Path, chain: Chain, action: Action) -> dict[str, Output]:
    """Return the outputs of earlier actions from a JSON file, in the order of the chain.

    The file is one object: name of an earlier action -> output. An output is a text; or the passages of a search, as a
    list of objects with ``id`` and, if known, ``title``, ``text`` and ``page``; or an object with ``text`` or
    ``passages``, and ``prompt``.

    Raises:
        DataError: the file or a value is invalid, or an output that the action reads is missing.
        UnknownNameError: a key is not the name of an earlier action.
    """
    return outputs_of(read_object(path), shown_path(path), chain, action)


def outputs_of(
    values: Mapping[str, object], where: str, chain: Chain, action: Action, *, complete: bool = True
) -> dict[str, Output]:
    """Return the outputs of earlier actions from an object; see `read_outputs`.

    If ``complete`` is false, outputs that the action reads may be missing.
    """
    earlier = {each.name: each for each in chain.actions[: chain.actions.index(action)]}
    for name in values:
        if name not in earlier:
            raise UnknownNameError(f"action before {action.name}", name, earlier, where)
    for name in _dependencies(action, earlier) if complete else ():
        if name not in values:
            raise DataError(where, f"the action {action.name} reads {name}, which is not among the outputs; add it")
    fields = Fields(where, values)
    return {name: _output(fields, name, each) for name, each in earlier.items() if name in values}


def _dependencies(action: Action, earlier: Mapping[str, Action]) -> Collection[str]:
    """Return the names of the earlier actions that an action reads."""
    names: dict[str, None] = {}
    for source in sources_of(action):
        if isinstance(source, Expression):
            names_read = free_names(source.code)
            names |= dict.fromkeys(earlier if {*names_read} & {*LISTS, OUTPUTS} else names_read)
        else:
            names |= dict.fromkeys(variable.name for variable in source.variables)
    return [name for name in names if name in earlier]


def _output(fields: Fields, name: str, action: Action) -> Output:
    value = fields.values[name]
    if isinstance(value, str):
        return Output("", Value((value,)))
    if isinstance(value, list):
        value = {"passages": value}
    expected = f"a text, {_PASSAGES}, or an object with {', '.join(_KEYS)}"
    inner = fields.inner(name, value, expected)
    inner.only(_KEYS)
    prompt = inner.string("prompt", "")
    if "passages" not in inner:
        return Output(prompt, Value((inner.string("text"),)))
    if not isinstance(action, Retrieve):
        raise DataError(fields.where, f"{name}: only a retrieve has passages, and {name} is a {action.do}; give a text")
    passages = tuple(map(_passage, inner.objects("passages", _PASSAGES)))
    text = Value((inner.string("text"),)) if "text" in inner else passages_value(action, passages)
    return Output(prompt, text, passages)


def _passage(fields: Fields) -> ScoredPassage:
    text, title, page = (fields.string(key, "") for key in ("text", "title", "page"))
    return ScoredPassage(fields.identifier("id"), fields.amount("score"), text, title, page)
