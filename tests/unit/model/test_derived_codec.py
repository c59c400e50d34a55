"""Codecs derived from dataclasses: write and read one field of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pytest

from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.private_fields import without_private
from pytest_rageval.model.storage import ALWAYS, NEEDED, UNSTORED, Share, stored


class Pair(NamedTuple):
    one: int
    other: int = 0


@dataclass(frozen=True, slots=True)
class Child:
    name: str = field(metadata=stored(is_key=True))
    weight: float = 1.0
    children: tuple[Child, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    items: tuple[str, ...] = field(default=(), metadata=stored(alone=True))


@dataclass(frozen=True, slots=True)
class Sides:
    left: int
    right: int = 0


@dataclass(frozen=True)
class Unslotted:
    text: str = "x"


@dataclass(frozen=True, slots=True)
class EveryField:
    id: str
    sides: Sides | None = field(default=None, metadata=stored(inline=True))
    kind: Literal["a", "b"] = "a"
    share: Share | None = field(default=None, metadata=ALWAYS)
    count: int | None = None
    unstored: bool = field(default=True, metadata=UNSTORED)
    names: Names = field(default=Names(), metadata=NEEDED)
    children: tuple[Child, ...] = ()
    by_name: Mapping[str, Child] = field(default_factory=dict)
    pair: Pair | None = None
    span: tuple[int, int] | None = None
    first: str = field(default="", metadata=stored(key="1st", before="kind"))
    text: str = field(default="", metadata=stored(always=True, private="null"))
    label: str | float | None = None
    other: Unslotted = field(default=Unslotted(), metadata=ALWAYS)


MINIMAL: dict[str, Any] = {"id": "w", "share": None, "names": [], "text": "", "other": {}}
LEAF, NODE = Child("leaf"), Child("node", 2.0, (Child("leaf"),))
FULL = EveryField(
    id="w",
    sides=Sides(1, 2),
    kind="b",
    share=0.5,
    count=3,
    names=Names(("n",)),
    children=(NODE, LEAF),
    by_name={"node": NODE},
    pair=Pair(1, 2),
    span=(3, 4),
    first="f",
    text="t",
    label=2.5,
    other=Unslotted("y"),
)


def test_fields_with_default_values_are_left_out_unless_marked() -> None:
    assert encoder(EveryField)(EveryField("w")) == MINIMAL
    assert decoder(EveryField)(MINIMAL) == EveryField("w")


def test_every_kind_of_field_is_written_and_read() -> None:
    encoded = encoder(EveryField)(FULL)
    assert list(encoded) == [
        "id", "share", "names", "text", "other", "1st", "kind", "count", "children", "by_name", "pair", "span",
        "label", "left", "right",
    ]  # fmt: skip
    assert encoded == {
        "id": "w", "share": 0.5, "names": ["n"], "text": "t", "other": {"text": "y"}, "1st": "f", "kind": "b",
        "count": 3, "children": {"node": {"weight": 2.0, "children": {"leaf": {}}}, "leaf": {}},
        "by_name": {"node": {"weight": 2.0, "children": {"leaf": {}}}}, "pair": {"one": 1, "other": 2},
        "span": [3, 4], "label": 2.5, "left": 1, "right": 2,
    }  # fmt: skip
    assert decoder(EveryField)(encoded) == FULL


def test_only_needed_keys_are_required_and_unknown_keys_are_ignored() -> None:
    assert decoder(EveryField)({"id": "w", "names": [], "text": None, "later": 1}) == EveryField("w")
    with pytest.raises(KeyError, match="names"):
        decoder(EveryField)({"id": "w"})


def test_a_key_field_is_an_argument_of_the_decoder() -> None:
    assert decoder(Child)({"weight": 3.0}, "c") == Child("c", 3.0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"id": 1}, "id is not a text but 1"),
        ({"names": [None]}, "items is not a text but None"),
        ({"1st": ["x"]}, r"1st is not a text but \['x'\]"),
        ({"children": 3}, "items"),
        ({"span": [1]}, r"span has another length: \[1\]"),
        ({"other": None}, "get"),
    ],
)
def test_a_malformed_value_is_refused(change: dict[str, Any], error: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError), match=error):
        decoder(EveryField)({**MINIMAL, **change})


def test_decoded_values_do_not_share_a_default_mapping() -> None:
    one, other = decoder(EveryField)(MINIMAL), decoder(EveryField)(MINIMAL)
    assert one.by_name is not other.by_name


def test_private_fields_are_left_out_at_any_depth() -> None:
    outer = Outer((Inner("a", "secret", "kind: secret"), Inner("b")), {"k": Inner("c", "secret")}, "secret", Inner("d"))
    plain = encoder(Outer)(outer)
    assert without_private(Outer, plain) == {
        "text": None, "inners": [{"name": "a", "why": "kind"}, {"name": "b"}], "by_name": {"k": {"name": "c"}},
        "one": {"name": "d"},
    }  # fmt: skip
    assert plain == encoder(Outer)(outer)


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    text: str = field(default="", metadata=stored(private="removed"))
    why: str | None = field(default=None, metadata=stored(private="kind"))


@dataclass(frozen=True, slots=True)
class Outer:
    inners: tuple[Inner, ...] = ()
    by_name: Mapping[str, Inner] = field(default_factory=dict)
    text: str = field(default="", metadata=stored(always=True, private="null"))
    one: Inner | None = None
