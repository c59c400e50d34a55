"""The protocol of a judge: a sample in, a verdict out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel
    from pytest_rageval.model.sample import Sample
    from pytest_rageval.model.verdict import Verdict

__all__ = ["Judge"]


class Judge(Protocol):
    """Returns a verdict on an answer, with the help of a model."""

    @property
    def name(self) -> str:
        """Unique among the judges of a session."""
        ...

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        """Return the verdict; an unreadable reply gives a verdict with a problem.

        A failed model call raises `ModelError`, and the case becomes an error.
        """
        ...
