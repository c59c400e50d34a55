"""Create the embedding model of the ini if it runs on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.models import ModelSetting

if TYPE_CHECKING:
    from pytest_rageval.retrieval.local_embedder import LocalEmbedder

__all__ = ["LOCAL", "local_embedder"]

LOCAL = "sentence-transformers/"
"""Prefix of embedding models that run on this machine."""


def local_embedder(setting: ModelSetting, folder: Path) -> LocalEmbedder | None:
    """Return the embedding model of a setting, not loaded yet; None if a provider runs it or none is named.

    Args:
        setting: the model.
        folder: the base of relative paths of models.

    Raises:
        SettingError: the setting has parameters.
        MissingDependencyError: sentence-transformers is not installed.
    """
    name = str(setting.name)
    if not name.startswith(LOCAL):
        return None
    from pytest_rageval.retrieval.local_embedder import LocalEmbedder

    if setting.params:
        raise SettingError(f"rag_embedder_params has {next(iter(setting.params))}, and {name} takes no parameters")
    return LocalEmbedder(name, folder)
