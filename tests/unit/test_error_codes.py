"""Error codes: each is declared once, used and documented once."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pytest_rageval.error_codes import CODES, KINDS, with_code
from pytest_rageval.errors import (
    CaseError,
    DataError,
    MissingDependencyError,
    RetrieverError,
    SettingError,
    UnknownNameError,
    code_of,
    message_with_code,
)

ROOT = Path(__file__).parents[2]
UNCODED = {"A gate failed", "Warnings", "Something else"}
"""Sections of the page without error codes; people find their entries by the words."""


def sections() -> dict[str, list[str]]:
    """Return each section of the page with the titles of its entries."""
    _, *parts = re.split(r"^## ", (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.splitlines()[0]: re.findall(r"^### (.+)$", part, re.MULTILINE) for part in parts}


PACKAGE = ROOT / "pytest_rageval"
TABLE = PACKAGE / "error_codes.py"


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def codes_in(tree: ast.AST) -> list[str]:
    """Return the error codes in the strings of a module."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [text for text in texts if re.fullmatch(r"RAG\d{3}", text)]


def test_each_code_has_one_entry_and_each_entry_a_code() -> None:
    titles = [title for section, each in sections().items() if section not in UNCODED for title in each]
    assert sorted(title.partition(": ")[0] for title in titles) == sorted(CODES)


def test_each_code_is_declared_once_and_used() -> None:
    declaration = ast.unparse(next(node for node in parse(TABLE).body if isinstance(node, ast.AnnAssign)))
    assert sorted(re.findall(r"'(RAG\d{3})':", declaration)) == sorted(CODES)
    codes = {code for path in PACKAGE.rglob("*.py") if path != TABLE for code in codes_in(parse(path))}
    assert codes | set(KINDS.values()) | {"RAG300"} == set(CODES)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UnknownNameError("metric", "x", ["y"]), "unknown metric 'x'; known: y [RAG102]"),
        (DataError("a:1", "no id", code="RAG202"), "a:1: no id [RAG202]"),
        (CaseError("auth", "refused"), "refused [RAG401]"),
        (CaseError("of_a_plugin", "odd\n  line"), "odd [RAG300]\n  line"),
        (ValueError("no error of ours"), "no error of ours"),
    ],
)
def test_a_message_ends_with_its_code(error: Exception, text: str) -> None:
    assert message_with_code(error) == text


def test_an_error_that_quotes_another_one_has_its_code() -> None:
    missing = MissingDependencyError("the retriever 'dense'", "dense")
    wrapped = SettingError(f"here: {missing}")
    wrapped.__context__ = missing
    assert message_with_code(wrapped) == f"{wrapped} [RAG106]"
    failed = CaseError("system_error", "system 'x' failed: rag_retriever 'mine' raised ValueError: no")
    failed.__cause__ = RetrieverError("mine", ValueError("no"))
    assert code_of(failed) == "RAG306"


def test_a_code_is_added_once() -> None:
    assert with_code(with_code("x", "RAG101"), "RAG102") == "x [RAG101]"
