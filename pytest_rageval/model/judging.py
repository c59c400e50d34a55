"""The protocol of a judge: a sample in, a verdict out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel
    from pytest_rageval.model.sample import Sample
    from pytest_rageval.model.verdict import Verdict

__all__ = ["Judge"]


class Judge(Protocol):
    """Gives a verdict on an answer, with the help of a model."""

    @property
    def name(self) -> str:
        """Unique among the judges of a session."""
        ...

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        """Return the verdict; a reply that cannot be read is a verdict with a problem.

        A model call that fails raises `ModelError`, which makes the case an error.
        """
        ...
