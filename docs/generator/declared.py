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

from generator.markdown import described, sentence, table

PACKAGE = Path(__file__).resolve().parents[2] / "pytest_rageval"


SEE = {
    "rag_alpha": "explanation/decisions.md",
    "rag_alpha_per": "explanation/decisions.md",
    "rag_answers": "how-to/systems.md#score-answers-that-another-program-produced",
    "rag_baseline": "how-to/gates.md#compare-with-a-baseline",
    "rag_budget_usd": "how-to/money.md#stop-before-a-budget-is-passed",
    "rag_budget_partial": "how-to/money.md#stop-before-a-budget-is-passed",
    "rag_cassettes": "how-to/recordings.md",
    "rag_chunking": "how-to/retrieval.md#search-your-documents",
    "rag_cluster": "explanation/decisions.md#independent-units",
    "rag_concurrency": "how-to/slow-or-flaky.md#answer-several-cases-at-once",
    "rag_corpus": "how-to/retrieval.md#search-your-documents",
    "rag_dry_run": "how-to/money.md#count-before-you-pay",
    "rag_embedder_model": "how-to/models.md#embeddings",
    "rag_embedder_params": "how-to/models.md#embeddings",
    "rag_error_markers": "explanation/matching.md#when-is-an-answer-a-refusal",
    "rag_error_sentence": "how-to/models.md#change-the-prompts",
    "rag_gate": "how-to/gates.md",
    "rag_gates": "how-to/gates.md",
    "rag_html": "how-to/reports.md#a-page-of-the-run",
    "rag_inconclusive": "explanation/decisions.md#inconclusive",
    "rag_judge_labels": "how-to/people.md#let-the-labels-decide",
    "rag_judge_min_kappa": "how-to/people.md#let-the-labels-decide",
    "rag_judge_model": "how-to/judges.md",
    "rag_judge_params": "how-to/judges.md",
    "rag_judges": "how-to/judges.md#several-judges",
    "rag_json": "reference/results.md",
    "rag_keep_runs": "explanation/stored.md#the-folder-of-a-run",
    "rag_markdown": "how-to/pull-request.md",
    "rag_matrix": "how-to/reports.md#choose-the-matrix",
    "rag_cols": "how-to/reports.md#choose-the-matrix",
    "rag_rows": "how-to/reports.md#choose-the-matrix",
    "rag_min_compared": "explanation/decisions.md#not-comparable",
    "rag_mlflow": "how-to/reports.md#mlflow",
    "rag_model": "how-to/models.md",
    "rag_model_params": "how-to/models.md#parameters",
    "rag_partial_gates": "how-to/gates.md#a-part-of-the-cases",
    "rag_prompts": "how-to/models.md#change-the-prompts",
    "rag_record_mode": "how-to/recordings.md",
    "rag_rejection_markers": "explanation/matching.md#when-is-an-answer-a-refusal",
    "rag_rejection_sentence": "how-to/models.md#change-the-prompts",
    "rag_repeat": "how-to/slow-or-flaky.md#ask-every-case-several-times",
    "rag_report_texts": "how-to/secrets.md#keep-texts-out-of-reports",
    "rag_resume": "how-to/resume.md",
    "rag_retriever": "how-to/retrieval.md#choose-a-retriever",
    "rag_retriever_params": "how-to/retrieval.md#choose-a-retriever",
    "rag_secrets": "how-to/secrets.md",
    "rag_shard": "how-to/machines.md#split-the-cases-over-machines",
    "rag_stale_recordings": "how-to/recordings.md#record-your-own-system",
    "rag_system": "how-to/systems.md",
    "rag_top_k": "how-to/retrieval.md#choose-a-retriever",
    "rag_update_baseline": "how-to/gates.md#compare-with-a-baseline",
    "rag_update_baseline_part": "how-to/gates.md#compare-with-a-baseline",
    "rag_user_dict": "explanation/matching.md#chinese",
}
"""Option or setting -> the page that explains it."""


def options() -> Iterator[str]:
    """Yield the options of the command line and the settings of the ini file."""
    from _pytest.config.argparsing import Parser

    from pytest_rageval.hooks.config.options import add_options

    parser = Parser(_ispytest=True)
    add_options(parser)
    [group] = [group for group in parser._groups if group.name == "rag"]
    unknown = set(SEE) - {option.attrs()["dest"] for option in group.options} - set(parser._inidict)
    if unknown:
        raise KeyError(f"SEE names what is no option: {unknown}")
    yield from ("Options and settings", "")
    yield "Settings stand in `pytest.ini` under `[pytest]`, or in `pyproject.toml` under `[tool.pytest.ini_options]`."
    yield "If both are given, the option wins. `pytest --help` prints the same texts."
    yield from ("", "## Options of the command line")
    rows = []
    for option in group.options:
        attrs, name = option.attrs(), option.names()[0]
        value = attrs.get("metavar") or ("MODE" if attrs.get("choices") else "")
        value = f"[{value}]" if attrs.get("nargs") == "?" else value
        setting = next((dest for dest in (attrs["dest"], f"{attrs['dest']}s") if dest in parser._inidict), "")
        rows.append((f"`{f'{name} {value}'.strip()}`", f"`{setting}`" if setting else "", sentence(attrs["help"]),
                     more(attrs["dest"])))  # fmt: skip
    yield from table(("option", "ini", "meaning", "more"), rows)
    yield "## Settings of the ini file"
    kinds = {"linelist": "lines", "bool": "true or false", "args": "words", "paths": "paths", "string": "text"}
    settings = []
    for name, (text, kind, default) in parser._inidict.items():
        shown = "" if default in ("", None, [], ()) else f"`{str(default).lower() if kind == 'bool' else default}`"
        settings.append((f"`{name}`", kinds.get(kind or "string", str(kind)), shown, sentence(text), more(name)))
    yield from table(("setting", "value", "default", "meaning", "more"), settings)


def more(name: str) -> str:
    """Return a link to the page that explains an option or a setting."""
    return f"[more](../{SEE[name]})" if name in SEE else ""


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
    from pytest_rageval.cli import _parser

    yield from (
        "The command rageval",
        "",
        "It does what pytest does not. `rageval COMMAND --help` prints the same texts.",
    )
    yield from command(_parser(), "rageval")


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
    home = {name: module for module, names in pytest_rageval._HOME.items() for name in names}
    yield from table(
        ("name", "what it is"), [(f"`{name}`", first(home[name], name)) for name in pytest_rageval.__all__]
    )
    yield from ("`from pytest_rageval.testing import NAME`, for tests of your own suites.",)
    yield from table(("name", "what it is"), [(f"`{name}`", first("testing", name)) for name in testing.__all__])
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
