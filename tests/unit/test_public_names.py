"""House rules that no tool checks: public names, naming and length limits."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import pytest_rageval

PACKAGE = Path(pytest_rageval.__file__).parent
LONGEST_MODULE, LONGEST_FUNCTION = 300, 60
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_name(path: Path) -> str:
    return ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def definitions(tree: ast.Module) -> list[Definition]:
    public = [node for node in tree.body if isinstance(node, Definition) and not node.name.startswith("_")]
    return [node for node in public if not any(ast.unparse(mark) == "overload" for mark in node.decorator_list)]


def order(name: str) -> tuple[int, str]:
    """Order names as ruff does: constants of more than a letter, then classes, then the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def test_the_package_exports_the_names_of_the_contract() -> None:
    names = pytest_rageval.__all__
    assert names == sorted(names, key=order)
    assert len(names) == len(set(names))
    assert {"Answer", "Query", "Ranking", "ScoredPassage", "Usage", "rag_case"} <= set(names)


@pytest.mark.parametrize("name", pytest_rageval.__all__)
def test_every_public_name_is_defined_in_its_module(name: str) -> None:
    value = getattr(pytest_rageval, name)
    module = pytest_rageval._MODULE_OF[name]
    assert value is getattr(import_module(module), name)
    assert name in import_module(module).__all__
    assert name in dir(pytest_rageval)


def test_a_star_import_brings_the_public_names_and_nothing_else() -> None:
    scope: dict[str, object] = {}
    exec("from pytest_rageval import *", scope)  # noqa: S102 - the one way to write a star import in a function
    assert set(scope) - {"__builtins__"} == set(pytest_rageval.__all__)


def test_a_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'pytest_rageval' has no attribute 'rag_cases'$"):
        _ = pytest_rageval.rag_cases
    assert not hasattr(pytest_rageval, "__wrapped__")


def imported_by(statement: str) -> set[str]:
    code = f"import json, sys; before = set(sys.modules)\n{statement}\nprint(json.dumps([*set(sys.modules) - before]))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(result.stdout))


def test_importing_the_package_imports_no_submodule() -> None:
    ours = {name for name in imported_by("import pytest_rageval") if name.startswith("pytest_rageval")}
    assert ours == {"pytest_rageval"}


def test_neither_the_package_nor_its_values_need_pytest_or_numpy() -> None:
    names = [name for name in pytest_rageval.__all__ if "hooks" not in pytest_rageval._MODULE_OF[name]]
    imported = imported_by(f"from pytest_rageval import {', '.join(names)}")
    assert "pytest_rageval.model.case" in imported
    assert not {"pytest", "_pytest", "pluggy", "xdist", "numpy", "bm25s", "rjieba", "tabulate"} & imported


def test_every_module_lists_its_public_names() -> None:
    assert [fault for name in MODULES for fault in public_faults(name)] == []


def public_faults(name: str) -> list[str]:
    module = import_module(name)
    public = {node.name for node in definitions(tree_of(name))}
    names = getattr(module, "__all__", None)
    if names is None:
        return [f"{name} has no __all__"] if public else []
    faults = [f"{name} does not have {export}" for export in names if not hasattr(module, export)]
    faults += [f"{name} hides {unlisted}" for unlisted in sorted(public - set(names))]
    if list(names) != sorted(set(names), key=order):
        faults.append(f"{name} has an unsorted __all__")
    return faults


def test_a_module_exports_only_names_that_it_defines() -> None:
    reexporting = [name for name, path in MODULES.items() if path.name in ("__init__.py", "plugin.py")]
    for name in sorted(set(MODULES) - set(reexporting)):
        imports = [node for node in tree_of(name).body if isinstance(node, ast.ImportFrom)]
        imported = {alias.asname or alias.name for node in imports for alias in node.names}
        assert imported & set(getattr(import_module(name), "__all__", ())) == set(), name


def test_every_module_and_everything_public_has_a_docstring() -> None:
    bare = [name for name in MODULES if not ast.get_docstring(tree_of(name))]
    bare += [f"{name}.{d.name}" for name in MODULES for d in definitions(tree_of(name)) if not ast.get_docstring(d)]
    assert bare == []


def test_no_module_is_too_long() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_function_is_too_long() -> None:
    functions = [
        (f"{name}.{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for name in MODULES
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 300
    assert [function for function in functions if function[1] > LONGEST_FUNCTION] == []


def test_no_module_is_named_utils_helpers_or_common() -> None:
    assert [name for name in MODULES if {"utils", "helpers", "common"} & set(name.split("."))] == []


def test_no_module_has_a_todo_or_prints() -> None:
    for name, path in MODULES.items():
        words = set(path.read_text(encoding="utf-8").replace(":", " ").split())
        calls = {n.func.id for n in ast.walk(tree_of(name)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not {"TODO", "FIXME", "XXX"} & words, name
        assert "print" not in calls, name


def test_only_the_hooks_import_pytest() -> None:
    for name in MODULES:
        if name.split(".")[1:2] not in (["hooks"], ["hookspecs"], ["plugin"]):
            assert not {"pytest", "_pytest", "pluggy", "xdist"} & imported_roots(tree_of(name)), name


def imported_roots(tree: ast.Module) -> set[str]:
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize(
    "package", ["corpora", "datasets", "datasets.imports", "linting", "metrics", "retrieval", "systems", "testbeds"]
)
def test_every_builtin_exists_in_its_package(package: str) -> None:
    builtin: dict[str, str] = import_module(f"pytest_rageval.{package}").BUILTIN
    assert builtin
    assert list(builtin) == sorted(builtin)
    for name, reference in builtin.items():
        module, _, attribute = reference.partition(":")
        assert module.startswith(f"pytest_rageval.{package}.")
        value = getattr(import_module(module), attribute)
        assert getattr(value, "name", name) == name
