"""Open the recordings of model calls in the folder that the options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rageval.llm.client.usage_meter import renews

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_rageval.hooks.config.options import Options
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["cassettes_of"]


def cassettes_of(options: Options, existing: tuple[str, ...] | None, writes: Path | None = None) -> Cassettes | None:
    """Return the recordings; None without a record mode.

    Args:
        options: settings of the command line and the ini.
        existing: names of the cassette files at the session's start; None in the main process.
        writes: the folder for new recordings; None writes them next to the existing ones.
    """
    if options.record_mode is None:
        return None
    from pytest_rageval.llm.recordings.cassettes import Cassettes

    return Cassettes(
        options.cassettes,
        options.record_mode,
        existing,
        root=options.folders[0],  # the rootdir
        stale=options.stale_recordings,
        renews=renews if options.record_cases else None,
        writes=writes,
    )
