from __future__ import annotations

import functools
import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.llm.recorded_functions.dependencies import Dependencies
from pytest_rageval.llm.recordings.stale import differences

FILES = {
    "ragdemo/__init__.py": "",
    "ragdemo/system.py": """
import json, numpy
from . import prompts
from ragdemo.search import find

class Desk:
    def __call__(self, query): return find(query)
    def answer(self, query): return find(query)

def answer(query):
    from ragdemo_lazy import later
    return find(query)
""",
    "ragdemo/prompts.py": "PROMPT = 'Answer.'",
    "ragdemo/search/__init__.py": "from .bm25 import find",
    "ragdemo/search/bm25.py": "def find(query): return query",
    "ragdemo/search/unused.py": "",
    "ragdemo_lazy.py": "import ragdemo_space.inner, ragdemo.system\nlater = 1",
    "ragdemo_space/inner.py": "",
    "ragdemo_other.py": "from ragdemo.system import Desk\ndesk = Desk()",
    ".venv/lib/site-packages/ragdemo_installed.py": "",
}

CODE = {
    "ragdemo/__init__.py",
    "ragdemo/system.py",
    "ragdemo/prompts.py",
    "ragdemo/search/__init__.py",
    "ragdemo/search/bm25.py",
    "ragdemo_lazy.py",
    "ragdemo_space/inner.py",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder of importable modules."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / ".venv/lib/site-packages"))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("ragdemo"):
            del sys.modules[name]


def import_system(root: Path) -> ModuleType:
    source = root / "ragdemo/system.py"
    source.write_text(source.read_text(encoding="utf-8").replace(", numpy", ", ragdemo_installed"), encoding="utf-8")
    return importlib.import_module("ragdemo.system")


def digests(function: Callable[..., Any], root: Path, *declared: object, caller: Path | None = None) -> dict[str, str]:
    return Dependencies("mine", function, caller, declared).digests(root)


def test_the_dependencies_are_the_module_and_its_imports_inside_the_rootdir(root: Path) -> None:
    assert set(digests(import_system(root).answer, root)) == CODE


@pytest.mark.parametrize(
    "get_callable",
    [
        lambda module: module.Desk(),
        lambda module: module.Desk,
        lambda module: module.Desk().answer,
        lambda module: functools.partial(module.answer, k=3),
        lambda module: functools.wraps(module.answer)(lambda query: module.answer(query)),
    ],
    ids=["object", "class", "method", "partial", "wrapper"],
)
def test_every_kind_of_callable_has_its_code_among_the_dependencies(
    get_callable: Callable[[ModuleType], Any], root: Path
) -> None:
    assert set(digests(get_callable(import_system(root)), root)) == CODE


def test_the_file_that_creates_the_recorded_function_is_a_dependency(root: Path) -> None:
    caller = root / "ragdemo_other.py"
    assert set(digests(len, root, caller=caller)) == CODE | {"ragdemo_other.py"}


def test_the_code_of_a_class_is_found_after_its_module_was_replaced(root: Path) -> None:
    desk = import_system(root).Desk()
    sys.modules["ragdemo.system"] = ModuleType("ragdemo.system")
    assert set(digests(desk, root)) == CODE


def test_code_outside_the_rootdir_is_no_dependency(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert digests(import_system(root).answer, tmp_path_factory.mktemp("elsewhere")) == {}
    assert digests(len, root) == {}


def test_a_rootdir_behind_a_link_has_the_same_digests(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("links") / "root"
    link.symlink_to(root)
    answer = import_system(root).answer
    assert digests(answer, link) == digests(answer, root)


def test_one_changed_import_changes_one_digest(root: Path) -> None:
    answer = import_system(root).answer
    before = digests(answer, root)
    (root / "ragdemo/search/bm25.py").write_text("def find(query): return query * 2", encoding="utf-8")
    assert differences(before, digests(answer, root)) == "ragdemo/search/bm25.py changed"


def test_a_missing_or_broken_import_is_not_an_error(root: Path) -> None:
    path = root / "ragdemo/search/bm25.py"
    path.write_text("import nosuch.module, encodings.nosuch\nfrom .... import far\nfind = ", encoding="utf-8")
    other = root / "ragdemo/prompts.py"
    other.write_text("import nosuch.module, encodings.nosuch\nfrom ......... import far\n", encoding="utf-8")
    assert "ragdemo/search/bm25.py" in digests(len, root, caller=root / "ragdemo/system.py")


def test_declared_files_are_found_next_to_the_caller_and_in_the_rootdir(root: Path) -> None:
    for name in ("prompt.txt", "ragdemo/prompt.txt", "data/a.md", "data/.hidden", "data/below/b.md"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    caller = root / "ragdemo/prompts.py"
    file_digests = digests(len, root, "prompt.txt", Path("data"), "ragdemo_lazy.py", caller=caller)
    assert set(file_digests) - CODE == {"ragdemo/prompt.txt", "data/a.md", "data/below/b.md"}
    assert "ragdemo_space/inner.py" in file_digests
    assert digests(len, root, root / "prompt.txt") == digests(len, root, "prompt.txt")


def test_a_declared_file_outside_the_rootdir_is_named_by_its_path_as_declared(root: Path) -> None:
    outside = root.parent / f"{root.name}-data.txt"
    outside.write_text("data", encoding="utf-8")
    assert set(digests(len, root, f"../{outside.name}")) == {f"../{outside.name}"}
    shutil.copy(outside, root / "copy.txt")
    assert set(digests(len, root, f"../{outside.name}").values()) == set(digests(len, root, "copy.txt").values())


def test_declared_files_are_read_each_time(root: Path) -> None:
    (root / "prompt.txt").write_text("be kind", encoding="utf-8")
    settings = {"k": 5, "names": ["a"]}
    dependencies = Dependencies("mine", len, None, ["prompt.txt", settings, 3])
    before = dependencies.digests(root)
    assert dependencies.digests(root) == before
    (root / "prompt.txt").write_text("be brief", encoding="utf-8")
    settings["k"] = 6
    assert differences(before, dependencies.digests(root)) == "prompt.txt changed, setting k changed"
    assert set(before) == {"prompt.txt", "setting k", "setting names", "depends[2]"}


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ("gpt-4o", "depends of mine names the file 'gpt-4o', which does not exist; correct it, or write a setting as"),
        (Path("none"), "depends of mine names the file 'none', which does not exist"),
        ({"k": object()}, "depends of mine cannot be recorded: it is or holds <object object"),
        ({1: 2}, "depends of mine cannot be recorded: it is or holds {1: 2}"),
        (float("nan"), "depends of mine cannot be recorded: it is or holds nan"),
    ],
)
def test_the_error_names_a_dependency_that_cannot_be_recorded(declared: object, problem: str, root: Path) -> None:
    with pytest.raises(SettingError) as caught:
        digests(len, root, declared)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("declared", ["prompt.txt", Path("prompt.txt"), {"k": 1}, 5, None])
def test_depends_must_be_a_list(declared: Any) -> None:
    with pytest.raises(SettingError, match=r"depends of mine is .*; write a list, as depends=\['prompts\.toml'\]"):
        Dependencies("mine", len, None, declared)


def test_differences_are_sorted_and_at_most_three_are_listed() -> None:
    assert differences({"a": "1", "b": "1"}, {"a": "1", "b": "1"}) == ""
    assert differences({"a": "1", "b": "1"}, {"b": "2", "c": "1"}) == "b changed, c was added, a was removed"
    assert differences(dict.fromkeys("abcde", "1"), {}) == "a was removed, b was removed, c was removed, 2 more"
