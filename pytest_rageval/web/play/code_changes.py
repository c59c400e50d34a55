"""Detect changes of the project's code since it was loaded."""

from __future__ import annotations

import sys
import time
from pathlib import Path

__all__ = ["CodeChanges"]

INSTALLED = ("site-packages", "dist-packages")


class CodeChanges:
    """Compares the loaded modules of a project with their files.

    Args:
        project: the folder of the project.
    """

    def __init__(self, project: Path) -> None:
        self._project = project.resolve()
        self._since = time.time()

    def first_changed_file(self) -> str:
        """Return a file of the project that changed since this object was created; "" if none did."""
        for module in list(sys.modules.values()):
            name = getattr(module, "__file__", None)
            if not isinstance(name, str) or any(each in name for each in INSTALLED):
                continue
            if not Path(name).is_relative_to(self._project):
                continue
            try:
                changed = Path(name).stat().st_mtime > self._since
            except OSError:
                changed = True  # removed
            if changed:
                return str(Path(name).relative_to(self._project))
        return ""
