"""Fill templates with named placeholders; values may contain any text."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["fill", "placeholders"]

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}(\s*)")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return ``template`` with each ``{name}`` in ``values`` replaced, in one pass.

    Braces in values and unknown names stay unchanged. An empty value also removes the white space after its
    placeholder.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        text = values[match[1]]
        return text + match[2] if text else ""

    return _PLACEHOLDER.sub(value, template)


def placeholders(template: str) -> frozenset[str]:
    """Return the names in braces in ``template``."""
    return frozenset(match[1] for match in _PLACEHOLDER.finditer(template))
