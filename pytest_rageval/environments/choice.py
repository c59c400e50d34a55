"""Hold the environments of a session and choose the one that a case uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

from pytest_rageval.environments.environment import Environment
from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.model.current import CASE_ENVIRONMENT

__all__ = ["Environments", "environment_name"]


class Environments:
    """The environments of a session by name; each is built on first use.

    Args:
        builders: name -> function that builds the environment.

    Attributes:
        names: the names, in the order of declaration.
    """

    def __init__(self, builders: Mapping[str, Callable[[], Environment]]) -> None:
        self.names = tuple(builders)
        self._builders = dict(builders)
        self._built: dict[str, Environment] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Environment:
        """Return the environment with a name, the same object on each call; errors in its options propagate.

        Raises:
            UnknownNameError: no environment has the name.
        """
        if name not in self.names:
            raise UnknownNameError("environment", name, self.names)
        with self._lock:
            if name not in self._built:
                self._built[name] = self._builders[name]()
                del self._builders[name]
            return self._built[name]

    def of_case(self, option: str = "") -> Environment:
        """Return the environment of the current case.

        Args:
            option: the system's option ``environment``; the case's facet has priority.

        Raises:
            SettingError: no name is set and the session does not have exactly one environment, or the name is unknown.
        """
        return self.get(environment_name(self.names, CASE_ENVIRONMENT.get(), option))


def environment_name(names: Collection[str], facet: str, option: str = "", where: str = "") -> str:
    """Return the name of a case's environment: from its facet, else from the option, else the only environment.

    Args:
        names: the environments of the session.
        facet: the case's facet ``environment``; "" if it has none.
        option: the system's option ``environment``; "" if it has none.
        where: the start of messages, for example the case.

    Raises:
        SettingError: no name is set and the session does not have exactly one environment, or the name is unknown.
    """
    name = facet or option
    if name in names:
        return name
    prefix = f"{where}: " if where else ""
    if not names:
        needed = f"the environment {short_repr(name)}" if name else "an environment"
        raise SettingError(f"{prefix}the system needs {needed}; set rag_corpus or rag_environments in the ini")
    if name:
        raise UnknownNameError("environment", name, names, where)
    if len(names) == 1:
        return next(iter(names))
    listed = ", ".join(names)
    raise SettingError(
        f"{prefix}there are several environments ({listed}); name one with the facet environment of the case, or with "
        "environment= of the system"
    )
