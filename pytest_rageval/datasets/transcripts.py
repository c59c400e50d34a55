"""Read the transcript in a recorded answer's field ``scratchpad`` as steps."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.scratchpad import Transcript, read_transcript

__all__ = ["scratchpad_steps", "transcript_in"]

WANTED = "a transcript with lines Thought 1:, Action 1: and Observation 1:"


def scratchpad_steps(record: Fields) -> tuple[Step, ...]:
    """Return the steps in the ``scratchpad`` of a recorded answer; an empty one has only the step of the end."""
    return transcript_in(record, "scratchpad").trace(record.string("answer"))


def transcript_in(record: Fields, name: str) -> Transcript:
    """Return the transcript in a field, which may be empty; raise `DataError` if it is not a transcript."""
    text = record.string(name)
    transcript = read_transcript(text)
    if text.strip() and not transcript.is_labelled:
        raise record.error(name, WANTED)
    return transcript
