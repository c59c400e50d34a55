"""The input of lint checks: records, settings, corpus, and matching of gold answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.metrics.published.rgb_compat import published_hits
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Gold, Instance
from pytest_rageval.testbeds.settings import Settings, parse_settings

__all__ = ["Leakage", "Subject"]


@dataclass(frozen=True, slots=True)
class Leakage:
    """The files that must not contain a question of the dataset.

    Attributes:
        prompts: prompt files, which a system reads.
        against: files of training data, which a system may have learned.
    """

    prompts: tuple[Path, ...] = ()
    against: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A dataset to check, with its settings.

    Attributes:
        name: the dataset, as ``format:path``.
        instances: its records, in the order of the file.
        settings: ability, passages, noise_rate, correct_rate and assembly, as in ``rag_case``; None means not set. With
            the ability "", pools are not checked; the ability is not inferred from the passages.
        corpus: the ids of the corpus's documents and pages; None without a corpus.
        locator: the located evidence of the records; None without a corpus or evidence.
        leakage: the prompt files and training data; None if leakage is not checked.
        left_out: ``file:line`` and a sentence for each record that the format skips.
    """

    name: str
    instances: tuple[Instance, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    corpus: Collection[str] | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    locator: EvidenceLocator | None = None
    leakage: Leakage | None = None
    _settings_cache: dict[str, Settings] = field(default_factory=dict)

    def contained(self, gold: Gold, text: str, language: str) -> tuple[str | None, ...]:
        """Return for each slot the first alias that ``text`` contains, or None.

        Aliases are matched like in the metric ``accuracy``; with the assembly ``rgb-compat``, like in RGB's evaluation.
        """
        if not self._is_rgb:
            return slot_hits(gold, text)
        return tuple(
            next((alias for alias in slot if published_hits(((alias,),), text, language) == (1,)), None)
            for slot in gold
        )

    def settings_under(self, ability: str) -> Settings:
        """Return the checked settings for an ability.

        Raises:
            SettingError: a setting is invalid.
        """
        if ability not in self._settings_cache:
            raw = {**self.settings, "ability": ability, "dataset": "format:path"}
            if not self.settings.get("ability") and ability != "counterfactual_robustness":
                raw.pop("correct_rate", None)
            self._settings_cache[ability] = parse_settings(raw, "lint", known_keys_only=True)
        return self._settings_cache[ability]

    def check(self) -> None:
        """Raise a `SettingError` for invalid settings."""
        self.settings_under(str(self.settings.get("ability") or "counterfactual_robustness"))

    @property
    def _is_rgb(self) -> bool:
        return self.settings.get("assembly") == "rgb-compat"
