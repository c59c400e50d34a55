"""The stash key of the reporting process's recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.hooks.reporting.recorder import Recorder

__all__ = ["RECORDER", "recorder_of"]

RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
"""On the config of the reporting process: the recorder, from the first report on."""


def recorder_of(config: pytest.Config) -> Recorder:
    """Return the session's recorder; the first call creates it and its run folder."""
    if RECORDER not in config.stash:
        from pytest_rageval.hooks.reporting.recorder import Recorder

        config.stash[RECORDER] = Recorder(config)
    return config.stash[RECORDER]
