"""Registries: built-in, registered and family names, and their errors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.registry import Registry

MODULE = """
FIRST = object()
TABLE = {"first": "registry_sample:FIRST", "broken": "registry_sample:NOT_THERE"}
"""


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "registry_sample.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "registry_sample", raising=False)
    return "registry_sample"


@pytest.mark.parametrize("lazy", ["registry_sample:TABLE", {"first": "registry_sample:FIRST"}])
def test_a_builtin_is_imported_on_first_use(sample: str, lazy: str | dict[str, str]) -> None:
    registry: Registry[object] = Registry("part", lazy)
    assert sample not in sys.modules
    value = registry.get("first")
    assert value is sys.modules[sample].FIRST
    vars(sys.modules[sample])["FIRST"] = object()
    assert registry.get("first") is value


def test_listing_names_imports_nothing(sample: str) -> None:
    registry: Registry[object] = Registry("part", {"first": "registry_sample:FIRST"})
    assert (list(registry), len(registry)) == (["first"], 1)
    assert "first" in registry
    assert sample not in sys.modules


def test_a_registry_without_builtins_is_empty() -> None:
    registry: Registry[int] = Registry("part")
    assert (list(registry), len(registry)) == ([], 0)
    with pytest.raises(UnknownNameError, match="unknown part 'x'; none is known here"):
        registry.get("x")


def test_registered_names_are_sorted_with_the_builtins(sample: str) -> None:
    registry: Registry[object] = Registry("part", "registry_sample:TABLE")
    registry.register("zebra", 1)
    registry.register("abc", 2)
    assert list(registry) == ["abc", "broken", "first", "zebra"]
    assert (len(registry), registry.get("abc"), registry.get("zebra")) == (4, 2, 1)
    assert "abc" in registry
    assert "other" not in registry
    assert 3 not in registry
    registry.get("first")
    assert (len(registry), list(registry)) == (4, ["abc", "broken", "first", "zebra"])


@pytest.mark.parametrize("name", ["first", "mine"])
def test_a_duplicate_name_is_refused(sample: str, name: str) -> None:
    registry: Registry[object] = Registry("part", "registry_sample:TABLE")
    registry.register("mine", 1)
    with pytest.raises(SettingError) as caught:
        registry.register(name, 2)
    assert str(caught.value) == f"part {name!r} is already registered; choose another name"
    assert registry.get("mine") == 1
    assert registry.get("first") is sys.modules[sample].FIRST


def test_an_unknown_name_suggests_the_nearest_and_its_place() -> None:
    registry: Registry[int] = Registry("dataset format")
    registry.register("jsonl", 1)
    registry.register("rgb", 2)
    with pytest.raises(UnknownNameError) as caught:
        registry.get("json", "tests/test_a.py:3")
    assert str(caught.value) == "tests/test_a.py:3: unknown dataset format 'json'; did you mean 'jsonl'?"
    assert (caught.value.kind, caught.value.name, caught.value.known) == ("dataset format", "json", ("jsonl", "rgb"))
    with pytest.raises(UnknownNameError, match=r"^unknown dataset format 'zzz'; known: jsonl, rgb$"):
        registry.get("zzz")


def test_false_values_are_valid() -> None:
    registry: Registry[object] = Registry("part")
    registry.register("none", None)
    registry.register("zero", 0)
    assert registry.get("none") is None
    assert registry.get("zero") == 0


def test_a_missing_builtin_raises_attribute_error(sample: str) -> None:
    registry: Registry[object] = Registry("part", "registry_sample:TABLE")
    with pytest.raises(AttributeError, match="NOT_THERE"):
        registry.get("broken")


@pytest.mark.parametrize("kind", ["datasets", "engines", "metrics", "retrievers", "systems"])
def test_every_builtin_of_the_catalog_resolves(kind: str) -> None:
    registry: Registry[object] = getattr(Catalog(), kind)
    assert len(registry) > 0
    for name in registry:
        value = registry.get(name)
        assert callable(value) or getattr(value, "name", None) == name


def test_two_catalogs_are_independent() -> None:
    one, other = Catalog(), Catalog()
    one.systems.register("mine", lambda parts: lambda query: "")
    assert "mine" in one.systems
    assert "mine" not in other.systems


def test_a_registered_value_is_checked() -> None:
    catalog = Catalog()
    with pytest.raises(SettingError, match=r'is no Metric; wrap the function: Metric\("mine", function\)$'):
        catalog.metrics.register("mine", print)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"the Metric is named 'other'; give both one name$"):
        catalog.metrics.register("mine", Metric("other", lambda sample: Score(1.0)))
    with pytest.raises(SettingError, match=r"^system 'mine' cannot be registered: 3 cannot be called$"):
        catalog.systems.register("mine", 3)  # type: ignore[arg-type]
    assert "mine" not in catalog.metrics


FAMILY = """
from pytest_rageval.errors import SettingError
HEADS = {"cube": "registry_family:power", "twice": "registry_family:twice"}

def power(name, head, get):
    if not name.removeprefix("cube@").isdigit():
        raise SettingError(f"{name} is no cube")
    return int(name.removeprefix("cube@")) ** 3

def twice(name, head, get):
    return 2 * get(name.removeprefix(f"{head}:"))
"""


@pytest.fixture(params=["registry_family:HEADS", "a table"])
def numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Registry[int]:
    (tmp_path / "registry_family.py").write_text(FAMILY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "registry_family", raising=False)
    heads = {"cube": "registry_family:power", "twice": "registry_family:twice"}
    return Registry("number", families=request.param if ":" in request.param else heads)


def test_a_family_builds_the_values_of_its_names(numbers: Registry[int]) -> None:
    numbers.register("one", 1)
    assert [numbers.get(name) for name in ("cube@2", "cube@3", "twice:cube@2", "twice:twice:one")] == [8, 27, 16, 4]
    assert (list(numbers), len(numbers)) == (["one"], 1), "a family has endless names, so they are not listed"
    assert "cube@2" in numbers
    assert "twice:one" in numbers
    assert "square@2" not in numbers


def test_an_invalid_family_name_is_reported_with_its_place(numbers: Registry[int]) -> None:
    with pytest.raises(SettingError, match=r"^here: cube@x is no cube$"):
        numbers.get("cube@x", "here")
    with pytest.raises(SettingError, match=r"^cube is no cube$"):
        numbers.get("cube")
    with pytest.raises(UnknownNameError, match=r"^here: unknown number 'Cubes@7'; did you mean 'cube@7'\?$"):
        numbers.get("Cubes@7", "here")


def test_a_name_of_a_family_cannot_be_registered(numbers: Registry[int]) -> None:
    with pytest.raises(SettingError, match="number 'cube@7' is already registered"):
        numbers.register("cube@7", 1)
