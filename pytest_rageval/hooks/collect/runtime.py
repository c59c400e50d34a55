"""What calls the systems of a process, as the session sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_rageval.engine.answerers import SystemAnswerer
    from pytest_rageval.model.calls import Calls
    from pytest_rageval.trace.otel.live import LiveTraces

__all__ = ["Runtime"]


class Runtime(Protocol):
    """Calls the systems of this process; exists from the first case on."""

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """The calls that no report contains yet, in the form of `PendingWork`."""

    @property
    def fault(self) -> str | None:
        """Why calls are no longer written to the journal."""

    @property
    def hint(self) -> str | None:
        """A measured hint on how to make the session faster."""

    @property
    def systems(self) -> Sequence[SystemAnswerer]:
        """The systems of this process so far, with what was seen of their calls."""

    @property
    def traces(self) -> LiveTraces:
        """Collects the spans of cases."""

    def stop_looking_ahead(self) -> None:
        """From now on, ask the system only when a case's test runs."""

    def close(self) -> Calls:
        """Stop all calls; return those that belong to no case."""
