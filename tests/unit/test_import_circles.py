"""The package has no import cycle and no crowded folder."""

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


def imports_of(name: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports at any place."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def test_the_package_has_no_import_cycle() -> None:
    graph = {name: set(imports_of(name)) - {name} for name in MODULES}
    assert sum(map(len, graph.values())) > 2 * len(MODULES)  # the scan finds imports
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1]
        raise AssertionError(" -> ".join(cycle)) from None


def test_no_folder_holds_more_than_25_modules() -> None:
    folders = {path.parent for path in MODULES.values()}
    counts = {str(folder.relative_to(PACKAGE)): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert {name: count for name, count in counts.items() if count > 25} == {}
