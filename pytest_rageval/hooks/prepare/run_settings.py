"""The settings that decide what a run's answers and scores are, as its reports tell them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.folders import regular
from pytest_rageval.hooks.config.models import ModelSetting
from pytest_rageval.hooks.config.settings import Options, ini_value
from pytest_rageval.llm.recordings.request import Request

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Testbed

__all__ = ["settings_of", "testbed_settings"]

_TOLD = (
    "dataset", "qrels", "ability", "passages", "noise_rate", "correct_rate", "assembly", "relevance", "history",
    "where", "facets", "cluster", "limit", "sample",
)  # fmt: skip
"""The settings of a testbed that say what it asks; its metrics and gates have their own places in results.json."""

_PACKAGE = Path(__file__).parents[2]
DIGITS = 16  # of a prompt file's sha256


def settings_of(config: pytest.Config, options: Options) -> dict[str, str]:
    """Return the settings by their options' names, prompts by a digest of their file; what is not set is left out.

    Of what models and retrievers are asked with, keys, headers and addresses are left out, as from recordings, and
    secrets of the environment masked. Systems and data have their own places in results.json.
    """
    told: dict[str, Any] = {
        "model": options.model.name,
        "model_params": _params(options.model),
        "judge_model": options.judge.name,
        "judge_params": _params(options.judge),
        "judges": {name: "; ".join(panel.models) for name, panel in options.panels.items()},
        "embedder_model": options.embedder.name,
        "embedder_params": _params(options.embedder),
        "seed": options.seed,
        "limit": options.limit,
        "sample": options.sample,
        "repeat": options.repeat if options.repeat > 1 else None,
        "answers": options.answers.name if options.answers else None,
    }
    if ini_value(config, "rag_corpus"):
        given = {name: value for name, value in options.retriever_params.items() if name != "dsn"}
        told |= {
            "retriever": options.retriever,
            "retriever_params": Request("retriever", options.retriever, given, (), 1).params,
            "top_k": options.top_k,
            "chunking": str(ini_value(config, "rag_chunking")),
        }
    if options.model.name:
        told |= _digests("prompts", _PACKAGE / "systems" / "prompts", options.prompts)
    if options.judge.name or options.panels:
        told |= _digests("judge_prompts", _PACKAGE / "judges" / "prompts", {})
    return {f"rag_{name}": _text(value) for name, value in told.items() if value not in (None, "", {})}


def testbed_settings(testbed: Testbed) -> dict[str, str]:
    """Return what a testbed asks, by the names that ``rag_case`` has; of a path outside the project its last part.

    What was not given is left out, unless its default matters: the passages, the shares of noise of an ability, the
    seed.
    """
    settings = testbed.settings
    in_force = settings.explicit | {"passages", "facets"} | ({"noise_rate", "assembly"} if settings.ability else set())
    told = {name: getattr(settings, name) for name in _TOLD if name in in_force} | {"seed": testbed.seed}
    form, _, path = settings.dataset.partition(":")
    told["dataset"] = f"{form}:{_without_folders(path)}"
    if settings.qrels:
        told["qrels"] = _without_folders(settings.qrels)
    for name, value in told.items():
        if isinstance(value, tuple):
            told[name] = value[0] if len(value) == 1 else list(value)
        elif isinstance(value, Mapping):
            told[name] = dict(value)
    return {name: _text(value) for name, value in told.items() if value not in (None, "", {})}


def _without_folders(path: str) -> str:
    """Return a path; of one that leads out of the project the last part, as the folders above are a machine's."""
    told = PurePath(path)
    return told.name if told.is_absolute() or ".." in told.parts else path


def _params(setting: ModelSetting) -> Mapping[str, Any]:
    return Request("model", setting.name, setting.params, (), 1).params if setting.name else {}


def _digests(name: str, folder: Path, own: Mapping[str, Path]) -> dict[str, str]:
    """Return a digest of each language's prompts, the user's own in the place of the built-in ones."""
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))} | dict(own)
    return {f"{name}.{language}": _digest(path) for language, path in files.items()}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(regular(path).read_bytes()).hexdigest()[:DIGITS]
    except OSError:  # which system needs it says so
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
