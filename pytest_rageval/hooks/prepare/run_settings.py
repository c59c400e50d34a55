"""Collect the settings that decide a run's answers and scores, for its reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pytest_rageval.folders import regular_path
from pytest_rageval.hooks.config.diagnosis_rule import DiagnosisRule
from pytest_rageval.hooks.config.environments import EnvironmentLine
from pytest_rageval.hooks.config.models import ModelSetting
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.system_names import SystemName
from pytest_rageval.judges.panel import Panel
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


def settings_of(options: Options) -> dict[str, str]:
    """Return option -> value for the options that are set, and a digest of each prompt file.

    Parameters of models and retrievers contain no keys, headers and addresses, as in recordings, and secrets of the
    environment are masked. results.json has systems and data in their own fields.
    """
    by_ini = {setting.ini: value for setting, value in options.items()}
    # the default retriever searches rag_corpus; others may need no corpus
    by_ini["rag_retriever"] = options.corpus or options.retriever != Options.retriever.default
    values = {
        setting.key: _reported(value)
        for setting, value in options.items()
        if setting.reported and (not setting.needs or by_ini[setting.needs])
    }
    if options.repeat == 1:
        del values["rag_repeat"]
    if options.model.name or options.system_models:
        values |= _digests("rag_prompts", _PACKAGE / "systems" / "prompts", options.prompts)
    if options.judge.name or any(panel.remote_models for panel in options.panels.values()):
        values |= _digests("rag_judge_prompts", _PACKAGE / "judges" / "prompts", {})
    return {name: _text(value) for name, value in values.items() if value not in (None, "", {})}


def testbed_settings(testbed: Testbed) -> dict[str, str]:
    """Return argument of ``rag_case`` -> value; a path outside the project is reduced to its file name.

    Leave out defaults, except for the passages, the seed, and the noise rate and assembly of an ability.
    """
    settings = testbed.settings
    reported = settings.explicit | {"passages", "facets"} | ({"noise_rate", "assembly"} if settings.ability else set())
    values = {name: getattr(settings, name) for name in _TESTBED_SETTINGS if name in reported}
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
    """Return a path inside the project unchanged, any other as its file name: its folders differ between machines."""
    parsed = PurePath(path)
    return parsed.name if parsed.is_absolute() or ".." in parsed.parts else path


def _reported(value: Any) -> Any:
    """Return the value of a setting for reports, without folders and without names of persons and machines."""
    if isinstance(value, ModelSetting):
        return Request("model", "", value.params, (), 1).params
    if isinstance(value, Mapping):
        public = {name: each for name, each in value.items() if name != "dsn"}
        public = {name: str(each) if isinstance(each, EnvironmentLine) else each for name, each in public.items()}
        texts = {name: _judges(each) for name, each in public.items() if isinstance(each, Panel)}
        texts |= {name: str(each) for name, each in public.items() if isinstance(each, SystemName)}
        return texts or Request("retriever", "", public, (), 1).params
    if isinstance(value, DiagnosisRule):
        return str(value)
    return value.name if isinstance(value, Path) else value


def _judges(panel: Panel) -> str:
    """Return the judges of a panel, and the confidence from which its first judge decides alone."""
    escalate = [] if panel.escalate is None else [f"escalate={panel.escalate}"]
    return "; ".join([*panel.models, *escalate])


def _digests(name: str, folder: Path, user_files: Mapping[str, Path]) -> dict[str, str]:
    """Return a digest of the prompts of each language; the user's files replace the built-in ones."""
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))} | dict(user_files)
    return {f"{name}.{language}": _digest(path) for language, path in files.items()}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(regular_path(path).read_bytes()).hexdigest()[:DIGITS]
    except OSError:  # the system that needs the file reports the error
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
