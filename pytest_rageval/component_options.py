"""Read and check the options in an ini line such as ``name: component; option=value``."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from pytest_rageval.errors import SettingError, did_you_mean, short_repr

__all__ = ["ComponentOptions"]

MAX_SECONDS = 1_000_000
"""Maximum time limit in seconds. Waiting for some millions of seconds fails on Windows; other systems allow more."""


class ComponentOptions:
    """The options of one line. Read each option with its type, then call `finish`.

    An invalid value or an unknown option raises a `SettingError` that begins with ``where``.

    Args:
        options: name -> value, as written.
        where: the start of error messages, for instance "rag_environments: wiki".
    """

    def __init__(self, options: Mapping[str, str], where: str) -> None:
        self.where = where
        self._options = options
        self._names: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """Return the text of an option."""
        self._names.append(name)
        return self._options.get(name, default)

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        """Return one of the words in ``choices``."""
        value = self.text(name, default)
        if value not in choices:
            raise SettingError(f"{self.where} has {name}={value}; write {' or '.join(choices)}")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """Return whether an option is ``true``; it must be ``true`` or ``false``."""
        return self.choice(name, str(default).lower(), ("true", "false")) == "true"

    def whole(self, name: str, default: int, least: int = 1) -> int:
        """Return a whole number of ``least`` or more."""
        value = self.text(name, str(default))
        if not value.isascii() or not value.isdigit() or len(value) > 9 or int(value) < least:
            raise SettingError(f"{self.where} has {name}={value}; write a whole number of {least} or more")
        return int(value)

    def seconds(self, name: str, default: float) -> float:
        """Return a number of seconds above 0, up to `MAX_SECONDS`."""
        value = self.text(name, f"{default:g}")
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds <= MAX_SECONDS:
            raise SettingError(
                f"{self.where} has {name}={value}; write a number of seconds above 0, up to {MAX_SECONDS}"
            )
        return seconds

    def finish(self) -> None:
        """Raise a `SettingError` for an option that was never read."""
        for name in self._options:
            if name not in self._names:
                hint = did_you_mean(name, self._names) if self._names else "it takes no options; remove it"
                raise SettingError(f"{self.where} has the unknown option {short_repr(name)}; {hint}")
