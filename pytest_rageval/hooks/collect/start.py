"""Start collection at the first rag case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rageval.hooks.collect.keys import CATALOG, COLLECTED

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["collected_of"]


def collected_of(config: pytest.Config) -> Collected:
    """Return the session's `Collected`; create it, with all its imports, at the first rag case."""
    if COLLECTED not in config.stash:
        from pytest_rageval.hooks.collect.masking import Masking
        from pytest_rageval.hooks.collect.session import Collected
        from pytest_rageval.hooks.collect.session_corpus import corpus_of
        from pytest_rageval.hooks.config.options import Options
        from pytest_rageval.hooks.config.shared_folder import OWN_RECORDINGS, budget_file, existing_recordings

        config.pluginmanager.register(Masking(config), "rageval-masking")
        collected = config.stash[COLLECTED] = Collected(
            config.stash[CATALOG],
            Options(config),
            corpus_of(config),
            config.rootpath,
            existing_recordings(config),
            budget_file(config),
        )
        collected.models.own_recordings = config.stash.get(OWN_RECORDINGS, None)
        collected.models.scripts.check(collected.models.names)
        if not config.option.collectonly:
            collected.models.preload()
            if collected.models.http is not None and not config.option.rag_dry_run:
                config.add_cleanup(collected.models.http.stop)
                collected.models.http.start()
    return config.stash[COLLECTED]
