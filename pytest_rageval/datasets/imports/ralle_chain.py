"""Import a RaLLe experiment file as a chain file for ``chain:FILE.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.ralle_templates import chain_template
from pytest_rageval.datasets.source import read_object, shown_path
from pytest_rageval.errors import DataError, SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.toml_files import toml_string

__all__ = ["import_rows"]

ACTIONS = "a list of actions, each an object with prompt_template and function"

KINDS: Mapping[str, str] = MappingProxyType({"Retriever": "retrieve", "LLM": "generate", "Identity": "template"})
"""RaLLe's function -> kind of action."""

TEMPLATE_KEYS: Mapping[str, str] = MappingProxyType({"retrieve": "query", "generate": "prompt", "template": "text"})
"""Kind of an action -> the key of its template."""

TEMPLATE_KINDS = ("f-strings", "eval")

REPLACEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "dataset_name": "the dataset of a test is in its marker",
        "num_evaluate": "--rag-limit N runs the first N cases",
        "batch_size": "rag_concurrency bounds the answers in flight",
        "resume": "--rag-resume goes on with an interrupted run",
        "llm_name": "the chain asks rag_model",
        "retriever_name": "the chain uses rag_retriever",
    }
)
"""Key without a counterpart in chains -> the setting to use instead."""


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import a RaLLe experiment file as the text of a chain.

    The actions are named ``a0``, ``a1``, ... A template of the kind ``eval`` is a Python expression, which the sandbox
    runs with RaLLe's four variables. The notes list the values that a chain cannot contain.

    Raises:
        DataError: the file is not an experiment, or a template cannot be translated.
        SettingError: there are several files.

    Source: RaLLe (Hoshi et al., EMNLP 2023).
    """
    if len(request.paths) > 1:
        raise SettingError("ralle-chain imports one file at a time; name one")
    path = request.paths[0]
    name = shown_path(path)
    values = read_object(path)
    experiment = Fields(name, values)
    if "chain_config" not in values:
        raise experiment.error("chain_config", "an object with len_chain and chain")
    config = experiment.inner("chain_config", values["chain_config"], "an object with len_chain and chain")
    actions = list(config.objects("chain", ACTIONS))
    _check_length(config, len(actions))
    result.rows = len(actions)
    _drop(config, ("len_chain", "chain", "dataset"), result)
    if "dataset" in config:
        _drop(config.inner("dataset", config.values["dataset"], "an object"), (), result)
    head = f"# Imported from RaLLe's {ascii_safe(path.name)}."
    result.chain = "\n".join([head, *(line for at, each in enumerate(actions) for line in _lines(each, at, result))])
    result.chain += "\n"


def _check_length(config: Fields, count: int) -> None:
    if not count:
        raise config.error("chain", ACTIONS)
    stated = config.count("len_chain", 1)
    if stated is not None and stated != count:
        problem = f"chain_config.len_chain is {stated}, and chain has {count} actions; correct one of them"
        raise DataError(config.where, problem)


def _lines(action: Fields, at: int, result: ImportResult) -> Iterator[str]:
    """Yield the TOML lines of one action."""
    function = action.string("function")
    if function not in KINDS:
        problem = f"unknown function {short_repr(function)}; {did_you_mean(function, KINDS)}"
        raise DataError(action.where, f"{action.prefix}function: {problem}")
    kind, known = KINDS[function], ["function", "prompt_template", "f-strings_or_eval"]
    key, text = _template(action, at, kind)
    yield ""
    yield "[[action]]"
    yield f'name = "a{at}"'
    yield f'do = "{"python" if key == "expression" else kind}"'
    yield f"{key} = {toml_string(text)}"
    if kind == "retrieve":
        known.append("npassage")
        k = action.count("npassage", 1)
        yield from () if k is None else (f"k = {k}",)
        yield 'join = "; "'
    _drop(action, known, result)


def _template(action: Fields, at: int, kind: str) -> tuple[str, str]:
    """Return the key and the text of an action's template."""
    template = action.string("prompt_template")
    if not template:
        problem = "prompt_template is empty, which ends RaLLe's chain; remove this action and those after it"
        raise DataError(action.where, f"{action.prefix}{problem}")
    how = action.string("f-strings_or_eval", TEMPLATE_KINDS[0])
    if how not in TEMPLATE_KINDS:
        raise action.error("f-strings_or_eval", " or ".join(TEMPLATE_KINDS))
    if how == "eval":
        return "expression" if kind == "template" else f"{TEMPLATE_KEYS[kind]}_python", template
    try:
        return TEMPLATE_KEYS[kind], chain_template(template, at)
    except SettingError as error:
        raise DataError(action.where, f"{action.prefix}prompt_template: {error}") from None


def _drop(fields: Fields, known: tuple[str, ...] | list[str], result: ImportResult) -> None:
    """Add a note for each key that chains do not have; count unknown keys as skipped."""
    for key, value in fields.values.items():
        if key in REPLACEMENTS:
            result.notes.append(f"left out: {fields.prefix}{key} {short_repr(value)}; {REPLACEMENTS[key]}")
        elif key not in known:
            result.fields[f"{fields.prefix}{key}"] += 1
