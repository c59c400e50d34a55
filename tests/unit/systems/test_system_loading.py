"""Systems are loaded from `module:attribute`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.model.case import Query
from pytest_rageval.systems.loading import load_system

MODULE = "rageval_loaded_app"
SOURCE = """
def answer(query):
    return "plain " + query.question

class Assistant:
    def __call__(self, query):
        return "object " + query.question
    def method(self, query):
        return "method " + query.question
    class Nested:
        def __call__(self, query):
            return "nested"

class Needs:
    def __init__(self, model):
        self.model = model
    def __call__(self, query):
        return ""

class Idle:
    pass

class Failing:
    def __init__(self):
        raise RuntimeError("no model file\\nsecond line")

assistant = Assistant()
NUMBER = 3
"""


@pytest.fixture(autouse=True)
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the user's module on the import path and remove it afterwards."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in (MODULE, "rageval_broken_app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("attribute", "text"),
    [("answer", "plain q"), ("assistant", "object q"), ("assistant.method", "method q"), ("Assistant", "object q"),
     ("Assistant.Nested", "nested")],
)  # fmt: skip
def test_functions_objects_methods_and_classes_are_loaded(attribute: str, text: str) -> None:
    assert load_system(f"{MODULE}:{attribute}")(Query("q")) == text


def failure(spec: str) -> str:
    with pytest.raises(SettingError) as caught:
        load_system(spec)
    message = str(caught.value)
    assert message.isprintable()
    return message


@pytest.mark.parametrize(
    "spec",
    ["", "app", "app:", ":answer", "a:b:c", ".app:answer", "app.:x", "app:x.", "app/rag.py:answer", "a b:c", "\0:x"],
)
def test_a_malformed_name_is_refused(spec: str) -> None:
    assert "a system is a registered name or module:attribute" in failure(spec)


def test_a_missing_module_is_named() -> None:
    assert failure("no_such_app.rag:answer") == (
        "rag_system 'no_such_app.rag:answer': no module 'no_such_app'; "
        "install it, or add its folder to pytest's pythonpath "
        "(the rootdir and the directory pytest was started in are importable too)"
    )


def test_a_missing_submodule_is_named() -> None:
    assert f"no module '{MODULE}.rag'" in failure(f"{MODULE}.rag:answer")


def test_a_missing_attribute_suggests_the_nearest() -> None:
    assert failure(f"{MODULE}:anser").endswith(f"module {MODULE!r} has no 'anser'; did you mean 'answer'?")
    assert failure(f"{MODULE}:assistant.metod").endswith("'assistant' has no 'metod'; did you mean 'method'?")


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise ValueError('bad key\\nmore')", "ValueError: bad key"),
        ("import missing_dependency", "ModuleNotFoundError: No module named 'missing_dependency'"),
        ("def broken(:", "SyntaxError: "),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise KeyError", "KeyError"),
    ],
)
def test_a_failed_import_is_reported_in_one_sentence(app: Path, source: str, cause: str) -> None:
    (app / "rageval_broken_app.py").write_text(source, encoding="utf-8")
    assert f"importing 'rageval_broken_app' failed with {cause}" in failure("rageval_broken_app:answer")


def test_a_class_that_needs_arguments_is_refused() -> None:
    message = failure(f"{MODULE}:Needs")
    assert "cannot be instantiated without arguments (TypeError: " in message
    assert message.endswith("name a function or an instance instead")


def test_a_class_that_fails_is_refused_with_its_first_line() -> None:
    assert "(RuntimeError: no model file)" in failure(f"{MODULE}:Failing")


@pytest.mark.parametrize(("attribute", "description"), [("NUMBER", "int 3"), ("Idle", "Idle <")])
def test_an_attribute_that_is_not_callable_is_refused(attribute: str, description: str) -> None:
    message = failure(f"{MODULE}:{attribute}")
    assert description in message
    assert message.endswith("cannot be called; name a function or a class")
