"""No two modules of the package import each other, type-checking and lazy imports included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest_rageval

PACKAGE = Path(pytest_rageval.__file__).parent


def module_name(path: Path) -> str:
    """Return the dotted name of a module of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py")}


def imported(name: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports, wherever the import stands."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def test_no_two_modules_import_each_other() -> None:
    graph = {name: set(imported(name)) - {name} for name in MODULES}
    assert sum(map(len, graph.values())) > 2 * len(MODULES)  # the imports were found
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise AssertionError(" -> ".join(circle)) from None


def test_no_folder_holds_more_than_25_modules() -> None:
    folders = {path.parent for path in MODULES.values()}
    crowded = {str(folder.relative_to(PACKAGE)): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert {name: count for name, count in crowded.items() if count > 25} == {}
