"""Pages on what is declared: options, markers, fixtures, commands and Python names."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.markdown import described, sentence, table

if TYPE_CHECKING:
    from pytest_rageval.hooks.config.setting import Setting

PACKAGE = Path(__file__).resolve().parents[2] / "pytest_rageval"


def options() -> Iterator[str]:
    """Yield the options of the command line and the settings of the ini file."""
    from pytest_rageval.hooks.config.options import Options
    from pytest_rageval.hooks.config.setting import declared

    table_rows = list(declared(Options))
    inis = {row.ini for row in table_rows}
    yield from ("Options and settings", "")
    yield "Settings stand in `pytest.ini` under `[pytest]`, or in `pyproject.toml` under `[tool.pytest.ini_options]`."
    yield "If both are given, the option wins. `pytest --help` prints the same texts."
    yield from ("", "## Options of the command line")
    rows = []
    for row in (row for row in table_rows if row.option):
        value = row.argument.get("metavar") or ("MODE" if row.argument.get("choices") else "")
        value = f"[{value}]" if row.argument.get("nargs") == "?" else value
        ini = next((name for name in (row.dest, f"{row.dest}s") if name in inis), "")
        rows.append((f"`{f'{row.option} {value}'.strip()}`", f"`{ini}`" if ini else "", sentence(row.help), more(row)))
    yield from table(("option", "ini", "meaning", "more"), rows)
    yield "## Settings of the ini file"
    kinds = {"linelist": "lines", "bool": "true or false", "args": "words", "string": "text"}
    settings = []
    for row in (row for row in table_rows if row.ini):
        shown = "" if row.default is None else f"`{str(row.default).lower() if row.kind == 'bool' else row.default}`"
        settings.append((f"`{row.ini}`", kinds[row.kind], shown, sentence(row.help), more(row)))
    yield from table(("setting", "value", "default", "meaning", "more"), settings)


def more(row: Setting[Any]) -> str:
    """Return a link to the page that explains an option or a setting."""
    return f"[more](../{row.more})" if row.more else ""


def markers() -> Iterator[str]:
    """Yield the arguments of ``rag_case`` and all markers."""
    from pytest_rageval.hooks.collect.markers import RagCase, register

    doc = inspect.cleandoc(inspect.unwrap(RagCase.__call__).__doc__ or "")
    about, _, arguments = doc.partition("\nArgs:\n")
    yield from ("Markers", "", "## rag_case", "", sentence(about), "")
    yield "`rag_case` decorates a function, a class or a module (`pytestmark = rag_case(...)`). A `[[testbed]]` of a"
    yield "`*.rag.toml` file takes the same keys, and a `name`. A second `@rag_case` on a function adds its cases, as"
    yield "`test_x#2`."
    yield from table(("argument", "meaning"), described(arguments))

    class Lines:
        """Stands in for pytest's config, and keeps the lines."""

        made: list[str] = []  # noqa: RUF012

        def addinivalue_line(self, _: str, line: str) -> None:
            self.made.append(line)

    register(Lines())  # type: ignore[arg-type]
    yield from (
        "## All markers",
        "",
        "All are registered, so `--strict-markers` accepts them. Select with `pytest -m`.",
    )
    rows = (line.removesuffix(" (pytest-rageval)").rpartition(": ") for line in Lines.made)
    yield from table(("marker", "meaning"), [(f"`{name}`", sentence(text)) for name, _, text in rows])


INNER = {"begin", "end", "outcome", "recordings"}
"""Members of the fixture ``rag`` that the plugin itself uses."""


def fixtures() -> Iterator[str]:
    """Yield the fixtures, from their docstrings."""
    tree = ast.parse((PACKAGE / "hooks" / "run" / "fixtures.py").read_text(encoding="utf-8"))
    yield from ("Fixtures", "", "Override any of them in your `conftest.py`; the others keep working.", "")
    for node in tree.body:
        decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
        if isinstance(node, ast.FunctionDef) and any(text.startswith("pytest.fixture") for text in decorators):
            scope = "session" if any("session" in text for text in decorators) else "function"
            yield from (
                f"## {node.name}",
                "",
                f"Scope: {scope}.",
                "",
                inspect.cleandoc(ast.get_docstring(node) or "").replace("``", "`"),
                "",
            )
            if node.name == "rag":
                yield from result_members()


def result_members() -> Iterator[str]:
    """Yield what the fixture ``rag`` gives."""
    from pytest_rageval.hooks.run.result import RagResult

    rows = [
        (name.replace("`", "`rag.", 1), text)
        for name, text in described((RagResult.__doc__ or "").partition("Attributes:\n")[2])
    ]
    named = {name for name, _ in rows}
    for name, member in vars(RagResult).items():
        doc = inspect.getdoc(member.fget if isinstance(member, property) else member) or ""
        shown = f"`rag.{name}`" if isinstance(member, property) else f"`rag.{name}(...)`"
        if doc and (not name.startswith("_") or name == "__getitem__") and shown not in named and name not in INNER:
            rows.append(('`rag["accuracy"]`' if name == "__getitem__" else shown, sentence(doc.split("\n\n")[0])))
    yield from table(("member", "what it is"), rows)


def commands() -> Iterator[str]:
    """Yield the commands of ``rageval``, from their parsers."""
    from pytest_rageval.cli import parser
    from pytest_rageval.commands.command_table import COMMANDS

    yield from (
        "The command rageval",
        "",
        "It does what pytest does not. `rageval` alone prints its commands in order of use,",
        "and `rageval COMMAND --help` the texts below.",
    )
    rows = [
        ("" if at else group, f"[`{name}`](#rageval-{name})", sentence(each.about), f"`rageval {each.example}`")
        for group, below in COMMANDS.items()
        for at, (name, each) in enumerate(below.items())
    ]
    yield from table(("", "command", "what it does", "example"), rows)
    yield from command(parser(), "rageval")


def command(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    """Yield a command, its arguments and the commands below it."""
    rows, below = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below = [(f"{name} {word}", each, helps.get(word, "")) for word, each in action.choices.items()]
        elif not isinstance(action, argparse._HelpAction):
            rows.append((f"`{argument(action)}`", sentence(action.help or "")))
    if rows:
        yield from table(("argument", "meaning"), rows)
    for word, each, text in below:
        yield from (f"{'#' * (1 + word.count(' '))} {word}", "", sentence(each.description or text), "")
        yield from command(each, word)


def argument(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    value = action.metavar or (None if action.nargs == 0 else "|".join(action.choices or ()) or action.dest.upper())
    if not action.option_strings:
        return f"{value}..." if action.nargs == "+" else f"[{value}]" if action.nargs == "?" else str(value)
    shown = f"[{value}]" if action.nargs == "?" else value
    return f"{action.option_strings[-1]} {shown}" if shown else action.option_strings[-1]


def python() -> Iterator[str]:
    """Yield the public names of the package and its hooks."""
    import pytest_rageval
    from pytest_rageval import hookspecs, testing

    yield from ("Python names", "", "Import each from the package: `from pytest_rageval import NAME`.")
    home = {name: module for module, names in pytest_rageval._NAMES_OF_MODULE.items() for name in names}
    yield from table(
        ("name", "what it is"), [(f"`{name}`", first(home[name], name)) for name in pytest_rageval.__all__]
    )
    yield from ("`from pytest_rageval.testing import NAME`, for tests of your own suites.",)
    defined = {name: getattr(testing, name).__module__.partition(".")[2] for name in testing.__all__}
    yield from table(("name", "what it is"), [(f"`{name}`", first(home, name)) for name, home in defined.items()])
    yield from ("## Hooks", "", "Write them in a `conftest.py` or a plugin of your own.", "")
    for name in hookspecs.__all__:
        about, _, args = (inspect.getdoc(getattr(hookspecs, name)) or "").partition("\nArgs:\n")
        yield from (f"### {name}", "", CODE.sub(fenced, about.replace("``", "`")).strip())
        yield from table(("argument", "meaning"), described(args))


CODE = re.compile(r"::\n\n((?: {4}.*\n|\n)+)")


def fenced(match: re.Match[str]) -> str:
    """Return the code of a docstring as a fenced block."""
    return f":\n\n```python\n{textwrap.dedent(match[1]).strip()}\n```\n\n"


def first(home: str, name: str) -> str:
    """Return the first sentence on a public name: of its docstring."""
    body = ast.parse((PACKAGE / f"{home.replace('.', '/')}.py").read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name and ast.get_docstring(node):
            return sentence((ast.get_docstring(node) or "").split("\n\n")[0])
    return ALIASES.get(name, "") or sentence(getattr(import_module(f"pytest_rageval.{home}"), name).__doc__ or "")


ALIASES = {"System": "A system under test: a callable `Query -> Answer | str`, sync or async."}
"""Public names that have no docstring of their own."""
