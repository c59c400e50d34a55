"""Gold answers never reach the system: nothing that can be reached from a query holds them, or a passage's role."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pytest_rageval.datasets import jsonl, rgb
from pytest_rageval.model.case import Case, Instance, Passage, Query
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

RGB = {
    "en_refine": ("noise_robustness", "negative_rejection"),
    "zh_refine": ("noise_robustness", "negative_rejection"),
    "en": ("noise_robustness", "negative_rejection"),
    "en_int": ("information_integration",),
    "zh_int": ("information_integration",),
    "en_fact": ("counterfactual_robustness",),
    "zh_fact": ("counterfactual_robustness",),
}


def reachable(root: object) -> Iterator[object]:
    """Yield all that can be reached from ``root`` by attributes, slots, items, closures, defaults and bound objects."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (types.ModuleType, type)):
            continue
        seen[id(value)] = value
        yield value
        if isinstance(value, (str, bytes, int, float, bool, type(None))):
            continue
        waiting.extend(_parts(value))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (tuple, list, set, frozenset)):
        yield from value
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield getattr(value, name)
    for name in (
        "__closure__",
        "__defaults__",
        "__kwdefaults__",
        "__self__",
        "__func__",
        "__wrapped__",
        "cell_contents",
    ):
        part = getattr(value, name, None)
        if part is not None and not callable(part) | isinstance(part, types.BuiltinMethodType):
            yield part


def _check(case: Case) -> None:
    query = case.query
    values = list(reachable(query))
    instance = case.instance
    golds = {id(alias) for slot in (*instance.gold, *instance.fake) for alias in slot}
    holders = {id(part) for part in (instance, instance.gold, instance.fake, *instance.gold, *instance.fake, case)}
    holders |= {id(passage) for passage in instance.passages or ()} | {id(instance.qrels), id(case.facets)}
    allowed = {id(text) for p in query.passages or () for text in (p.id, p.text, p.title)} | {id(query.question)}
    for value in values:
        assert not isinstance(value, (Case, Instance))
        assert id(value) not in holders - {id(()), id("")}
        if isinstance(value, Passage):
            assert (value.role, value.group) == ("", None)
        if isinstance(value, str):
            assert value not in ("positive", "negative", "counterfactual")
            assert id(value) not in golds or id(value) in allowed
    texts = [value for value in values if isinstance(value, str)]
    supplied = " ".join(text for passage in query.passages or () for text in (passage.text, passage.title))
    for slot in instance.gold:
        for alias in slot:
            if alias not in supplied and alias not in query.question:
                assert not any(alias == text for text in texts)


def test_the_search_for_gold_reaches_closures_slots_and_containers() -> None:
    gold = "the gold answer"

    def closure() -> str:
        return gold

    class Slotted:
        __slots__ = ("deep",)

        def __init__(self) -> None:
            self.deep = {"a": [(closure,)]}

    assert gold in list(reachable(Slotted()))


@pytest.mark.parametrize("name", RGB)
def test_no_query_of_rgb_holds_its_gold(fixtures_dir: Path, name: str) -> None:
    for ability in RGB[name]:
        raw: dict[str, object] = {"dataset": f"rgb:{name}.json", "ability": ability, "passages": [2, 5]}
        if ability == "noise_robustness":
            raw["noise_rate"] = [0.0, 0.4, 1.0]
        for assembly in ("balanced", "rgb-compat"):
            settings = parse_settings({**raw, "assembly": assembly}, "here")
            cases = expand(settings, rgb.load(fixtures_dir / "datasets" / "rgb" / f"{name}.json"), 0)
            assert cases
            for _, case in cases:
                assert case.instance.gold
                _check(case)


def test_no_query_of_jsonl_holds_its_gold(fixtures_dir: Path) -> None:
    instances = jsonl.load(fixtures_dir / "datasets" / "cases.jsonl")
    cases = expand(parse_settings({"dataset": "jsonl:cases.jsonl"}, "here"), instances, 0)
    assert cases
    for _, case in cases:
        _check(case)


def test_a_query_has_these_fields_alone() -> None:
    assert set(Query.__slots__) == {"question", "passages", "history", "language", "instructions"}
    assert not hasattr(Query("q"), "__dict__")
