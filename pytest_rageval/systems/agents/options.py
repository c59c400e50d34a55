"""The options that all agents share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.environments.environment import MAX_OBSERVATION
from pytest_rageval.systems.setup import SystemSetup

__all__ = ["AgentOptions", "read_agent_options"]


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The options that all agents share.

    Attributes:
        environment: the name of the environment; "" for the case's, or the only one.
        max_steps: the most steps of a run, >= 1.
        max_time: seconds of a run.
        max_observation: characters of an observation that the model sees.
        prompts: a user's TOML file of prompts; None for the built-in ones.
        examples: how many worked questions of the prompt file the model sees.
    """

    environment: str = ""
    max_steps: int = 10
    max_time: float = 120.0
    max_observation: int = MAX_OBSERVATION
    prompts: Path | None = None
    examples: int = 1

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the options name."""
        return () if self.prompts is None else (self.prompts,)


def read_agent_options(setup: SystemSetup) -> AgentOptions:
    """Return the shared options of a system; the caller reads its own ones and then calls ``finish``.

    Raises:
        SettingError: a value is invalid, or the file of prompts is missing.
    """
    options = setup.options
    prompts = options.text("prompts")
    return AgentOptions(
        environment=options.text("environment"),
        max_steps=options.whole("max_steps", 10),
        max_time=options.seconds("max_time", 120.0),
        max_observation=options.whole("max_observation", MAX_OBSERVATION),
        prompts=setup.file(prompts) if prompts else None,
        examples=options.whole("examples", 1, least=0),
    )
