from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.llm.recorded_functions.source_digest import Import, content_digest, read_source

CODE = '''
"""Answers."""
import os, rag.search as search
from . import prompts
from ..rag.index import build, load
from json import *

LIMIT = 3


class Desk:
    """Has answers."""

    def answer(self, query, k=5):
        """Answer."""
        from rag.model import ask
        return f"{ask(query)!r:>{k}} of {k}"
'''


def digest(folder: Path, code: str, name: str = "module.py") -> str:
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return read_source(path).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 3  # passages"),
        ("LIMIT = 3", "LIMIT   =   (3)"),
        ('"""Answers."""', ""),
        ('"""Has answers."""', '"""Has other answers."""'),
        ('        """Answer."""\n', ""),
        ("\n", "\r\n"),
    ],
)
def test_an_edit_that_cannot_change_a_result_leaves_the_digest_unchanged(old: str, new: str, tmp_path: Path) -> None:
    assert digest(tmp_path, CODE.replace(old, new), "other.py") == digest(tmp_path, CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("LIMIT = 3", "LIMIT = '3'"),
        ("LIMIT = 3", "LIMIT = -3"),
        ("LIMIT = 3", "limit = 3"),
        ("k=5", "k=None"),
        ("k=5", "*, k=5"),
        ("!r", "!s"),
        (" of ", " by "),
        ("rag.model", ".rag.model"),
        ("class Desk", "@dataclass\nclass Desk"),
    ],
)
def test_an_edit_that_may_change_a_result_changes_the_digest(old: str, new: str, tmp_path: Path) -> None:
    assert digest(tmp_path, CODE.replace(old, new), "other.py") != digest(tmp_path, CODE)


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ('def f():\n    """{}"""', False),
        ('@recorded(name="x")\ndef f():\n    """{}"""', False),
        ('@pytest.fixture\ndef f():\n    """{}"""', False),
        ('@tool\ndef f():\n    """{}"""', True),
        ('@app.tool("x")\nasync def f():\n    """{}"""', True),
        ('class Desk:\n    """{}"""', False),
        ('class Ask(dspy.Signature):\n    """{}"""', True),
        ('"""{}"""\nprompt = __doc__', True),
        ('def f():\n    """{}"""\n    return inspect.getdoc(f)', True),
        ('def f():\n    ("{}", 1)', True),
    ],
)
def test_a_docstring_counts_only_if_it_may_be_a_prompt(code: str, counts: bool, tmp_path: Path) -> None:
    one, other = (digest(tmp_path, code.format(text), f"{text}.py") for text in ("be_kind", "be_brief"))
    assert (one != other) is counts


def test_imports_are_found_anywhere_in_a_module(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(CODE + '\nimportlib.import_module("rag.plugins")\nimport_module(name)', encoding="utf-8")
    assert sorted(read_source(path).imports) == [
        Import(0, "json", ("*",)),
        Import(0, "os"),
        Import(0, "rag.model", ("ask",)),
        Import(0, "rag.plugins"),
        Import(0, "rag.search"),
        Import(1, "", ("prompts",)),
        Import(2, "rag.index", ("build", "load")),
    ]


@pytest.mark.parametrize("code", ["def f(:", "x = '\0'", "(" * 5_000 + ")" * 5_000])
def test_a_file_that_cannot_be_parsed_counts_by_its_content(code: str, tmp_path: Path) -> None:
    assert digest(tmp_path, code) == content_digest(tmp_path / "module.py")


def test_deeply_nested_code_and_a_long_number_are_parsed(tmp_path: Path) -> None:
    deep = "x = " + " + ".join(["1"] * 900) + "\ny = 0x" + "f" * 9_000
    assert digest(tmp_path, deep) != digest(tmp_path, deep.replace("+ 1", "- 1"), "other.py")


def test_a_digest_is_the_same_on_every_python_version(tmp_path: Path) -> None:
    assert digest(tmp_path, CODE) == "dab61211b951"  # a change here makes all recordings of users stale


def test_windows_and_unix_line_ends_have_the_same_digest(tmp_path: Path) -> None:
    lines = b"one\r\ntwo\n" * 300_000 + b"end\r"
    (tmp_path / "a").write_bytes(lines)
    (tmp_path / "b").write_bytes(lines.replace(b"\r\n", b"\n"))
    (tmp_path / "c").write_bytes(lines + b"x")
    first, second, third = (content_digest(tmp_path / name) for name in "abc")
    assert first == second != third
