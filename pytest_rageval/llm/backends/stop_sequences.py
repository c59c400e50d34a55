"""Recognize a server that refuses the parameter ``stop``, as those of reasoning models do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_rageval.errors import ModelError

__all__ = ["is_stop_refused"]

_REFUSALS = re.compile(
    r"(?:unsupported|unrecognized|unknown|unexpected)\b[^.\n]{0,40}?['\"`]stop['\"`]"
    r"|['\"`]?\bstop['\"`]?(?: parameter| sequences)? (?:is|are) not (?:supported|allowed)",
    re.IGNORECASE,
)


def is_stop_refused(error: ModelError, params: Mapping[str, object]) -> bool:
    """Return whether a call failed because its model takes no ``stop``; the caller cuts replies in any case."""
    return bool(params.get("stop")) and error.kind == "bad_request" and bool(_REFUSALS.search(str(error)))
