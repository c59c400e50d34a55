"""Parse settings that name components: models, judges, systems, retrievers and hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.hooks.config.parsing import text_by_language
from pytest_rageval.hooks.config.setting import Place

if TYPE_CHECKING:
    from pytest_rageval.hooks.config.models import ModelSetting
    from pytest_rageval.hooks.config.system_names import SystemName
    from pytest_rageval.judges.panel import Panel
    from pytest_rageval.llm.http.hosts import Hosts

__all__ = [
    "chat_params",
    "embedder_params",
    "hosts",
    "kappas",
    "named_systems",
    "panels",
    "prompts",
    "record_mode",
    "retriever_params",
    "sandbox",
]


def chat_params(value: Sequence[str], place: Place) -> ModelSetting:
    """Return a chat model's parameters; temperature 0 if not set."""
    from pytest_rageval.hooks.config.models import model_setting

    return model_setting(None, value, place.name)


def embedder_params(value: Sequence[str], place: Place) -> ModelSetting:
    """Return an embedding model's parameters."""
    from pytest_rageval.hooks.config.models import model_setting

    return model_setting(None, value, place.name, {})


def retriever_params(value: Sequence[str], place: Place) -> Mapping[str, Any]:
    """Return a retriever's parameters."""
    from pytest_rageval.hooks.config.models import parameters

    return parameters(value, place.name, "k1 = 1.2")


def record_mode(value: str, place: Place) -> str | None:
    """Return the record mode, one of VCR's; None for no recordings."""
    from pytest_rageval.hooks.config.models import record_mode

    return record_mode(str(value), place.name)


def named_systems(value: Sequence[str], place: Place) -> Mapping[str, SystemName]:
    """Return alias -> system."""
    from pytest_rageval.hooks.config.system_names import parse_systems

    return parse_systems(value)


def hosts(value: str, place: Place) -> Hosts | None:
    """Return the hosts whose requests are recorded; None if the setting is empty."""
    if not str(value).strip():
        return None
    from pytest_rageval.llm.http.hosts import Hosts

    return Hosts.parse(str(value).replace(",", " ").split(), place.name)


def panels(value: Sequence[str], place: Place) -> Mapping[str, Panel]:
    """Return metric -> panel."""
    from pytest_rageval.hooks.config.judge_panels import panels

    return panels(value)


def kappas(value: Sequence[str], place: Place) -> Mapping[str, float]:
    """Return judge -> its minimum kappa; the key "" stands for every other judge."""
    from pytest_rageval.hooks.config.min_kappas import kappas

    return kappas(value)


def prompts(value: Sequence[str], place: Place) -> Mapping[str, Path]:
    """Return language -> file of prompts."""
    files = text_by_language(value, place, "en: prompts/en.toml")
    return {language: place.folder / file for language, file in files.items()}


def sandbox(value: str, place: Place) -> str:
    """Return the name of a sandbox."""
    from pytest_rageval.sandbox import BUILTIN

    name = value.strip()
    if name not in BUILTIN:
        raise UnknownNameError("sandbox", name, BUILTIN, place.name)
    return name
