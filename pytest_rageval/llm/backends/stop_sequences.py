"""Recognize servers that refuse the parameter ``stop``, such as those of reasoning models."""

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
    """Return whether a call failed because its model refuses ``stop``; `cut_at_stop` cuts replies in any case."""
    return bool(params.get("stop")) and error.kind == "bad_request" and bool(_REFUSALS.search(str(error)))
