"""What is checked: the instances, the settings they are to be used under, and what counts as contained."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.metrics.published.rgb_compat import published_hits
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Gold, Instance
from pytest_rageval.testbeds.settings import Settings, parse_settings

__all__ = ["Subject"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A dataset and how it is to be used.

    Attributes:
        name: of the dataset, as ``format:path``.
        instances: its records, in the order of the file.
        settings: as in ``rag_case``: ability, passages, noise_rate, correct_rate, assembly; None stands for not given.
        corpus: the ids of the documents to retrieve and of their pages; None where no corpus is named.
        locator: what the corpus holds of the records' evidence; None without a corpus or evidence.
        left_out: ``file:line`` and one sentence of each record that is no instance.
    """

    name: str
    instances: tuple[Instance, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    corpus: Collection[str] | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    locator: EvidenceLocator | None = None
    _parsed: dict[str, Settings] = field(default_factory=dict)

    def contained(self, gold: Gold, text: str, language: str) -> tuple[str | None, ...]:
        """Return for each slot the first of its aliases that ``text`` contains, or None.

        The metric ``accuracy`` decides what is contained, or RGB's own evaluation where the assembly is RGB's.
        """
        if not self._published:
            return slot_hits(gold, text)
        return tuple(
            next((alias for alias in slot if published_hits(((alias,),), text, language) == (1,)), None)
            for slot in gold
        )

    def settings_under(self, ability: str) -> Settings:
        """Return the settings under an ability that was given or is implied, checked.

        Raises:
            SettingError: they cannot be used.
        """
        if ability not in self._parsed:
            raw = {**self.settings, "ability": ability, "dataset": "format:path"}
            if not self.settings.get("ability") and ability != "counterfactual_robustness":
                raw.pop("correct_rate", None)
            self._parsed[ability] = parse_settings(raw, "lint", known_keys_only=True)
        return self._parsed[ability]

    def check(self) -> None:
        """Raise a `SettingError` where the settings cannot be used."""
        self.settings_under(str(self.settings.get("ability") or "counterfactual_robustness"))

    @property
    def _published(self) -> bool:
        return self.settings.get("assembly") == "rgb-compat"
