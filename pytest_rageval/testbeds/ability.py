"""The abilities of a system: metrics, instructions, and required passages."""

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
    """One ability of a system, and how a testbed tests it.

    Attributes:
        name: the name that users write, also as a marker; "plain" for no ability.
        metrics: the default metrics; the first one is primary.
        wording: language -> instructions for the system; contains at least "en".
        evidence: the role of the passages that are not noise; "" if all passages are noise; None to supply the
            record's passages unchanged.
    """

    name: str
    metrics: tuple[str, ...]
    wording: Mapping[str, str]
    evidence: Role | None = None

    def instructions(self, language: str) -> str:
        """Return the instructions for the system in ``language``, or in English if there are none in it."""
        return self.wording.get(language) or self.wording["en"]

    def require(self, instance: Instance) -> None:
        """Raise `DataError` if the passages of an instance lack the roles that the ability needs."""
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
    """Return the ability with this name, "plain" for None; raise `UnknownNameError` for an unknown name."""
    return _ABILITIES.get("plain" if name is None else name)
