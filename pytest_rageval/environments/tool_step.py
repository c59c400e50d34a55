"""Record a tool call as a step in the case's trace."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.environments.tool import Observation
from pytest_rageval.importing import cause_text
from pytest_rageval.model.plain import plain_json, plain_text
from pytest_rageval.trace.collector import CURRENT_STEP, Event, current_collector
from pytest_rageval.trace.passages import passage_detail
from pytest_rageval.trace.steps import TOOL

__all__ = ["ToolStep", "tool_step"]

SOURCE = "environment"
"""Source of these steps; distinguishes them from steps of `pytest_rageval.tracing` for the same call."""


@dataclass(eq=False, slots=True)
class ToolStep:
    """The trace step of one tool call.

    Attributes:
        detail: the values of the step, as in a trace.
    """

    detail: dict[str, Any] = field(default_factory=dict)

    def observe(self, observation: Observation) -> None:
        """Add the observation and the whole result to the step."""
        if observation.passages:
            self.detail["passages"] = [passage_detail(passage) for passage in observation.passages]
        if observation.error is not None:
            self.detail["error"] = observation.error
        else:
            self.detail["result"] = observation.text if observation.invalid else observation.result
        if observation.invalid:
            self.detail["invalid"] = True
        if observation.found is not None:
            self.detail["found"] = observation.found


@contextmanager
def tool_step(tool: str, arguments: Mapping[str, Any] | str) -> Iterator[ToolStep]:
    """Add a step "tool" that lasts as long as the ``with`` block; steps inside the block become its children."""
    step = ToolStep({"name": plain_text(tool), "arguments": plain_json(arguments)})
    collector = current_collector()
    if collector is None:
        yield step
        return
    event = collector.add(Event(TOOL, step.detail, source=SOURCE))
    outer, start = CURRENT_STEP.set(event), time.perf_counter()
    try:
        yield step
    except BaseException as error:
        step.detail["error"] = plain_text(cause_text(error))
        raise
    finally:
        seconds = step.detail["seconds"] = time.perf_counter() - start
        event.end = event.start + seconds
        CURRENT_STEP.reset(outer)
