"""Declare in a dataclass how its fields are stored as JSON; codecs and the schema are derived from this."""

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
    """Limits of a value, for the schema; the metadata of an ``Annotated`` type.

    Attributes:
        minimum, maximum: of a number.
        pattern: a regular expression that a text matches.
        items: smallest length of a text or an array.
        format: the schema's format of a text.
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
    """How a field is stored. Without a rule, a field with a default is left out if it has that value.

    Attributes:
        key: its key, if that is not its name.
        always: whether it is written even if it has its default.
        needed: whether an object without it is malformed; older files may lack other fields with a default.
        unstored: whether it is not stored at all.
        before: the field that it is written before; else fields with a default come last.
        inline: whether the keys of its object stand in this one.
        alone: whether it is stored instead of its object.
        is_key: whether it is the key under which its object stands.
        private: what reports without texts have for a field with texts of the data: "removed", "null" (read as ""), or
            "kind", the part before ": ".
        schema: its schema, if that does not follow from its type.
        says: its description in the schema, if that is not the one in the docstring.
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
    """Return the ``metadata`` of a dataclass's field with this `Rule`."""
    return {"stored": Rule(**rule)}


ALWAYS = stored(always=True)
NEEDED = stored(always=True, needed=True)
UNSTORED = stored(unstored=True)


class StoredField(NamedTuple):
    """A field as it is stored.

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
    """Return the stored fields of a dataclass or NamedTuple in the order in which they are written."""
    hints = get_type_hints(cls, include_extras=True)
    if issubclass(cls, tuple):
        return tuple(StoredField(name, hints[name], Rule(always=True), MISSING) for name in cls._fields)
    every = [StoredField(f.name, hints[f.name], f.metadata.get("stored", Rule()), _default(f)) for f in fields(cls)]
    written = [each for each in every if not (each.rule.unstored or each.rule.is_key)]
    ordered = sorted(written, key=lambda each: 2 if each.rule.inline else each.is_optional)
    for each in (each for each in written if each.rule.before):
        ordered.remove(each)
        ordered.insert([other.name for other in ordered].index(each.rule.before), each)
    return tuple(ordered)


def key_field(cls: Any) -> str | None:
    """Return the name of the field under whose value an object of this class stands; None if there is none."""
    every = fields(cls) if is_dataclass(cls) else ()
    return next((f.name for f in every if f.metadata.get("stored", Rule()).is_key), None)


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default
