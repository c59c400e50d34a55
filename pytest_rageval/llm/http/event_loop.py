"""Find out whether the running code would block an event loop by waiting."""

from __future__ import annotations

import sys

__all__ = ["on_event_loop"]


def on_event_loop() -> bool:
    """Return whether an event loop runs in this thread; waiting here would then stop its other requests."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    return asyncio._get_running_loop() is not None
