"""Pages on files: formats that are read, and results.json."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from generator.markdown import sentence, slug, table
from generator.schema import results_schema

PACKAGE = Path(__file__).resolve().parents[2] / "pytest_rageval"


def formats() -> Iterator[str]:
    """Yield the names of formats, systems, retrievers and importers, from their tables."""
    from pytest_rageval.datasets import jsonl
    from pytest_rageval.datasets.fields import RESERVED, ROLES

    yield from (
        "Formats and names",
        "",
        "These names are built in. [Write cases](../how-to/cases.md) says how to use them.",
    )
    for folder, title, use in (
        ("datasets", "Datasets", '`@rag_case("FORMAT:PATH")`'),
        ("corpora", "Corpora", "`rag_corpus = FORMAT:PATH`"),
        ("datasets.imports", "Formats to import", "`rageval import FORMAT SOURCE`"),
        ("systems", "Systems", "`--rag-system NAME`, or `module:attribute` for your own"),
        ("retrieval", "Retrievers", "`rag_retriever = NAME`"),
    ):
        module = import_module(f"pytest_rageval.{folder}")
        names = {**module.BUILTIN, **{f"{name}:FILE": at for name, at in getattr(module, "FAMILIES", {}).items()}}
        yield from ("", f"## {title}", "", f"{use}.")
        yield from table(
            ("name", "what it is"),
            [(f"`{name}`", sentence(what_is(names[name], names.values()))) for name in sorted(names)],
        )
    yield from ("## Keys of a jsonl record", "")
    yield "Known keys: " + ", ".join(f"`{key}`" for key in sorted(jsonl.KEYS)) + ". Any other key is a facet."
    yield "Roles of a passage: " + ", ".join(f"`{role}`" for role in ROLES) + "."
    yield "Names that a facet cannot have: " + ", ".join(f"`{name}`" for name in sorted(RESERVED)) + "."


def what_is(reference: str, others: Iterable[str]) -> str:
    """Return the first paragraph of a module's docstring; of the function's, if the module serves several names."""
    module, _, attribute = reference.partition(":")
    tree = ast.parse((PACKAGE.parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    shared = len({other for other in others if other.partition(":")[0] == module}) > 1
    own = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == attribute]
    return (ast.get_docstring(own[0] if own and shared else tree) or "").split("\n\n")[0].replace("``", "`")


def results() -> Iterator[str]:
    """Yield results.json, from its schema."""
    schema = json.loads(results_schema())
    yield from ("results.json", "", f"{schema['description']}.", "")
    yield "The [schema](../../pytest_rageval/report/results.schema.json) is part of the package."
    yield "`pytest --rag-json PATH` writes the file; every run also stores one in `.rageval/runs/<run>/`."
    yield from ("", "## The file")
    yield from fields(schema)
    for name, part in sorted(schema["$defs"].items()):
        if "properties" in part:
            yield from (f"## {name}", "", sentence(part.get("description", "")))
            yield from fields(part)


def fields(part: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a table of an object's fields, with those of objects in it."""
    yield from table(("field", "type", "required", "meaning"), list(rows_of(part, prefix)))


def rows_of(part: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each field of an object, and below it those of objects in it."""
    required = part.get("required", ())
    for name, field in part.get("properties", {}).items():
        yield (
            f"`{prefix}{name}`",
            kind(field),
            "yes" if name in required else "",
            sentence(field.get("description", "")),
        )
        inner, below = field, f"{prefix}{name}."
        if isinstance(field.get("additionalProperties"), dict):
            inner, below = field["additionalProperties"], f"{prefix}{name}.*."
        elif isinstance(field.get("items"), dict):
            inner, below = field["items"], f"{prefix}{name}[]."
        yield from rows_of(inner, below)


def kind(field: Mapping[str, Any]) -> str:
    """Return the type of a field in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{slug(name)})" if name in LINKED else name
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{'null' if each is None else each}`" for each in field["enum"])
    for key in ("oneOf", "anyOf"):
        if key in field:
            return " or ".join(kind(each) for each in field[key])
    named = field.get("type", "any")
    text = " or ".join(named) if isinstance(named, list) else str(named)
    if isinstance(field.get("items"), dict):
        return f"{text} of {kind(field['items'])}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"{text} of {kind(field['additionalProperties'])}"
    return text


LINKED = {name for name, part in json.loads(results_schema())["$defs"].items() if "properties" in part}
