"""Check the parameters of models, and separate those of retries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["check_parameters"]

_RETRY_FIELDS = {"attempts": "attempts", "deadline": "deadline_s"}
"""Parameter -> field of `RetryPolicy`: maximum requests per call, and seconds for all of them."""

_WHOLE, _ABOVE_0, _AMOUNT = "a whole number of 1 or more", "a number above 0", "a number of 0 or more"
_NUMBERS = {
    "attempts": _WHOLE,
    "deadline": _ABOVE_0,
    "input_cost_per_token": _AMOUNT,
    "max_completion_tokens": _WHOLE,
    "max_reply_bytes": _WHOLE,
    "max_tokens": _WHOLE,
    "output_cost_per_token": _AMOUNT,
    "timeout": _ABOVE_0,
}
"""Parameter that the plugin reads -> its valid values, for messages."""


def check_parameters(params: Mapping[str, Any], where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters to send with every call, and the limits of retries (``attempts``, ``deadline_s``), if set.

    Raises:
        SettingError: a parameter that the plugin reads has an invalid number.
    """
    for key, valid in _NUMBERS.items():
        if key in params and not _is_number(params[key], valid):
            raise SettingError(f"{where} has {key} = {short_repr(params[key])}; write {valid}")
    retry = {ours: params[key] for key, ours in _RETRY_FIELDS.items() if key in params}
    return {key: value for key, value in params.items() if key not in _RETRY_FIELDS}, retry


def _is_number(value: object, valid: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if valid is _WHOLE else (int, float)):
        return False
    return math.isfinite(value) and (value > 0 or (value == 0 and valid is _AMOUNT))
