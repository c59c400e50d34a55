"""What an ability is: which metrics it reads, what it asks of the system and what it needs of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Role
from pytest_rageval.registry import Registry
from pytest_rageval.testbeds import BUILTIN

__all__ = ["Ability", "ability_named"]


@dataclass(frozen=True, slots=True)
class Ability:
    """One ability of a system, and how it is put to the test.

    Attributes:
        name: the name users write, also a marker; "plain" for none.
        metrics: the default metrics; the first is the primary one.
        wording: what the system is asked to do, by language; holds at least "en".
        evidence: the role of the passages that are not noise, "" when all are noise;
            None when the record's passages are supplied as they are.
    """

    name: str
    metrics: tuple[str, ...]
    wording: Mapping[str, str]
    evidence: Role | None = None

    def instructions(self, language: str) -> str:
        """Return what the system is asked to do, in ``language`` if there is a wording, else in English."""
        return self.wording.get(language) or self.wording["en"]

    def require(self, instance: Instance) -> None:
        """Refuse an instance whose passages do not have the roles that the ability is about."""
        if self.evidence is None:
            return
        roles = {passage.role for passage in instance.passages or ()}
        if self.evidence == "counterfactual":
            missing = "with the role counterfactual" if "counterfactual" not in roles else ""
        else:
            missing = "with a role" if roles <= {""} else ""
        if missing:
            raise DataError(instance.origin, f"passages: found none {missing}, which {self.name} needs")


_ABILITIES: Registry[Ability] = Registry("ability", BUILTIN)


def ability_named(name: str | None) -> Ability:
    """Return the ability of that name, "plain" for None; an unknown name is an `UnknownNameError`."""
    return _ABILITIES.get("plain" if name is None else name)
