"""Systems named by ``module:attribute``: loading, import folders and refusals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.named_systems import NamedSystems

MODULE = "rageval_named_app"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    first, second = tmp_path / "root", tmp_path / "here"
    for folder in (first, second):
        folder.mkdir()
    source = "class Desk:\n    def __call__(self, query):\n        return 'x'\n"
    (second / f"{MODULE}.py").write_text(source, encoding="utf-8")
    return first, second


def test_each_unregistered_system_is_loaded_once(folders: tuple[Path, Path]) -> None:
    systems = NamedSystems(folders)
    systems.load(["extractive", f"{MODULE}:Desk", f"{MODULE}:Desk"], ["extractive"])
    desk = systems.get(f"{MODULE}:Desk")
    assert callable(desk)
    assert systems.get("extractive") is None
    systems.load([f"{MODULE}:Desk"], [])
    assert systems.get(f"{MODULE}:Desk") is desk
    systems.close()


def test_the_folders_are_last_on_sys_path_until_close(folders: tuple[Path, Path]) -> None:
    before = list(sys.path)
    systems = NamedSystems((*folders, folders[0]))
    systems.load(["extractive"], ["extractive"])
    assert sys.path == before
    systems.load([f"{MODULE}:Desk"], [])
    assert sys.path == [*before, *map(str, folders)]
    systems.close()
    systems.close()
    assert sys.path == before


def test_an_alias_with_a_model_is_refused(folders: tuple[Path, Path]) -> None:
    systems = NamedSystems(folders)
    with pytest.raises(SettingError) as error:
        systems.load(["agent"], ["extractive"], ["agent"])
    sentence = "rag_systems sets the model of 'agent'; name it without @MODEL, or add a line with the other model"
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("extracive", "unknown system 'extracive' (one of your own is module:attribute); did you mean 'extractive'?"),
        ("\x1b", "unknown system '\\x1b' (one of your own is module:attribute); known: extractive, parrot"),
        ("rageval_nowhere:x", "rag_system 'rageval_nowhere:x': no module 'rageval_nowhere'"),
    ],
)
def test_an_unloadable_system_is_refused(folders: tuple[Path, Path], name: str, sentence: str) -> None:
    systems = NamedSystems(folders)
    with pytest.raises(SettingError) as error:
        systems.load([name], ["parrot", "extractive"])
    systems.close()
    assert str(error.value).startswith(sentence)
