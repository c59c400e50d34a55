"""Templates with named placeholders, into which texts of any content are put."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["fill", "placeholders"]

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}(\s*)")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return ``template`` with each ``{name}`` that ``values`` knows replaced, in one pass.

    What is put in is not looked at again, so braces in it stay as they are; so do names that ``values`` does not know.
    An empty value takes the white space that follows its placeholder with it.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        text = values[match[1]]
        return text + match[2] if text else ""

    return _PLACEHOLDER.sub(value, template)


def placeholders(template: str) -> frozenset[str]:
    """Return the names that stand in braces in ``template``."""
    return frozenset(match[1] for match in _PLACEHOLDER.finditer(template))
