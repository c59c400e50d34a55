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
        environment: the name of the environment; "" for the environment of the case, or for the only one.
        max_steps: maximum number of steps of a run, >= 1.
        max_time: maximum duration of a run, in seconds.
        max_observation: maximum length of an observation, in characters; a longer one is shortened for the model.
        prompts: a user's TOML file of prompts; None for the built-in ones.
        examples: how many worked examples of the prompt file the model sees.
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
    """Return the options that all agents share; the caller reads the other options and then calls ``finish``.

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
