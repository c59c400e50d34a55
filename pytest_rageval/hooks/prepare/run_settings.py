"""The settings that decide a run's answers and scores, for its reports."""

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

_TESTBED_SETTINGS = (
    "dataset", "qrels", "ability", "passages", "noise_rate", "correct_rate", "assembly", "relevance", "history",
    "where", "facets", "cluster", "limit", "sample",
)  # fmt: skip
"""Settings of a testbed in reports; results.json has its metrics and gates in their own fields."""

_PACKAGE = Path(__file__).parents[2]
DIGITS = 16  # of a prompt file's sha256


def settings_of(config: pytest.Config, options: Options) -> dict[str, str]:
    """Return option name -> value for the settings that are set, with a digest of each prompt file.

    Parameters of models and retrievers leave out keys, headers and addresses, like recordings, and mask secrets of the
    environment. results.json has systems and data in their own fields.
    """
    values: dict[str, Any] = {
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
        params = {name: value for name, value in options.retriever_params.items() if name != "dsn"}
        values |= {
            "retriever": options.retriever,
            "retriever_params": Request("retriever", options.retriever, params, (), 1).params,
            "top_k": options.top_k,
            "chunking": str(ini_value(config, "rag_chunking")),
        }
    if options.model.name:
        values |= _digests("prompts", _PACKAGE / "systems" / "prompts", options.prompts)
    if options.judge.name or options.panels:
        values |= _digests("judge_prompts", _PACKAGE / "judges" / "prompts", {})
    return {f"rag_{name}": _text(value) for name, value in values.items() if value not in (None, "", {})}


def testbed_settings(testbed: Testbed) -> dict[str, str]:
    """Return argument of ``rag_case`` -> value; a path outside the project is reduced to its last part.

    Leave out defaults, except for the passages, the seed, and the noise rate and assembly of an ability.
    """
    settings = testbed.settings
    in_force = settings.explicit | {"passages", "facets"} | ({"noise_rate", "assembly"} if settings.ability else set())
    values = {name: getattr(settings, name) for name in _TESTBED_SETTINGS if name in in_force}
    values["seed"] = testbed.seed
    form, _, path = settings.dataset.partition(":")
    values["dataset"] = f"{form}:{_without_folders(path)}"
    if settings.qrels:
        values["qrels"] = _without_folders(settings.qrels)
    for name, value in values.items():
        if isinstance(value, tuple):
            values[name] = value[0] if len(value) == 1 else list(value)
        elif isinstance(value, Mapping):
            values[name] = dict(value)
    return {name: _text(value) for name, value in values.items() if value not in (None, "", {})}


def _without_folders(path: str) -> str:
    """Return a path inside the project unchanged, else its last part: folders outside differ between machines."""
    parsed = PurePath(path)
    return parsed.name if parsed.is_absolute() or ".." in parsed.parts else path


def _params(setting: ModelSetting) -> Mapping[str, Any]:
    return Request("model", setting.name, setting.params, (), 1).params if setting.name else {}


def _digests(name: str, folder: Path, own: Mapping[str, Path]) -> dict[str, str]:
    """Return a digest of each language's prompts; the user's files replace the built-in ones."""
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))} | dict(own)
    return {f"{name}.{language}": _digest(path) for language, path in files.items()}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(regular(path).read_bytes()).hexdigest()[:DIGITS]
    except OSError:  # the system that needs the file reports the error
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
