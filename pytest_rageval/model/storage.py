"""Declare how the fields of a dataclass are stored as JSON; codecs and schema follow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

__all__ = [
    "ALWAYS",
    "NEEDED",
    "UNSTORED",
    "Amount",
    "Bounds",
    "Rule",
    "Share",
    "StoredField",
    "key_field",
    "stored",
    "stored_fields",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a value in the schema, written as metadata of an ``Annotated`` type.

    Attributes:
        minimum, maximum: limits of a number.
        pattern: regular expression that a text must match.
        items: smallest length of a text or an array.
        format: format of a text, as in JSON Schema.
    """

    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    items: int | None = None
    format: str | None = None


Share = Annotated[float, Bounds(0, 1)]
Amount = Annotated[float, Bounds(0)]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field is stored. Without a rule, a field is left out if its value is its default.

    Attributes:
        key: the key in the JSON object; "" if it is the field's name.
        always: whether the field is written even if its value is the default.
        needed: whether an object without the field is malformed. A missing field gets its default otherwise, because
            older files may lack it.
        unstored: whether the field is not stored at all.
        before: the field before which it is written; by default, fields with a default come last.
        inline: whether the value is an object whose keys are written into the object of this class.
        alone: whether only this field is written, instead of an object with its key.
        is_key: whether the value is the key of the object in a mapping; it is then not written in the object.
        private: how reports without texts replace a field with texts of the data: "removed", "null" (which is read as
            ""), or "kind", which keeps the part before ": ".
        schema: the field's schema, if it does not follow from the type.
        says: the field's description in the schema, if it differs from the docstring.
    """

    key: str = ""
    always: bool = False
    needed: bool = False
    unstored: bool = False
    before: str = ""
    inline: bool = False
    alone: bool = False
    is_key: bool = False
    private: Literal["", "removed", "null", "kind"] = ""
    schema: Mapping[str, Any] | None = None
    says: str | None = None


def stored(**rule: Any) -> dict[str, Rule]:
    """Return the ``metadata`` of a dataclass field; the arguments are those of `Rule`."""
    return {"stored": Rule(**rule)}


ALWAYS = stored(always=True)
NEEDED = stored(always=True, needed=True)
UNSTORED = stored(unstored=True)


class StoredField(NamedTuple):
    """A stored field of a dataclass.

    Attributes:
        name: its name in the class.
        hint: its type.
        rule: how it is stored.
        default: its default; `dataclasses.MISSING` without one.
    """

    name: str
    hint: Any
    rule: Rule
    default: Any

    @property
    def key(self) -> str:
        """Its key in the JSON object."""
        return self.rule.key or self.name

    @property
    def is_optional(self) -> bool:
        """Whether the key is absent if the field has its default."""
        return self.default is not MISSING and not self.rule.always

    @property
    def is_needed(self) -> bool:
        """Whether an object without the key is malformed."""
        return self.default is MISSING or self.rule.needed


@cache
def stored_fields(cls: Any) -> tuple[StoredField, ...]:
    """Return the stored fields of a dataclass or NamedTuple, in the order in which they are written."""
    hints = get_type_hints(cls, include_extras=True)
    if issubclass(cls, tuple):
        return tuple(StoredField(name, hints[name], Rule(always=True), MISSING) for name in cls._fields)
    all_fields = [
        StoredField(f.name, hints[f.name], f.metadata.get("stored", Rule()), _default(f)) for f in fields(cls)
    ]
    written = [each for each in all_fields if not (each.rule.unstored or each.rule.is_key)]
    ordered = sorted(written, key=lambda each: 2 if each.rule.inline else each.is_optional)
    for each in (each for each in written if each.rule.before):
        ordered.remove(each)
        ordered.insert([other.name for other in ordered].index(each.rule.before), each)
    return tuple(ordered)


def key_field(cls: Any) -> str | None:
    """Return the name of the field with `Rule.is_key`; None without such a field."""
    all_fields = fields(cls) if is_dataclass(cls) else ()
    return next((f.name for f in all_fields if f.metadata.get("stored", Rule()).is_key), None)


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default
