"""A function of chunks that can be sent to any process as a name and bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module

from pytest_rageval.errors import DataError, RagEvalError, SettingError

__all__ = ["ChunkFunction", "reply_of", "result_of"]

_RESULT, _FAULT = b"=", b"!"


@dataclass(frozen=True, slots=True)
class ChunkFunction:
    """A function of a chunk's bytes.

    Attributes:
        name: ``module:attribute`` of a function of two arguments of bytes, which returns bytes.
        argument: its first argument; the second one is the chunk.
    """

    name: str
    argument: bytes

    def __call__(self, chunk: bytes) -> bytes:
        """Return the result for a chunk."""
        module, _, attribute = self.name.partition(":")
        result: bytes = getattr(import_module(module), attribute)(self.argument, chunk)
        return result


def reply_of(function: ChunkFunction, chunk: bytes) -> bytes:
    """Return the result for a chunk or its error, in the format that `result_of` reads."""
    try:
        return _RESULT + function(chunk)
    except DataError as error:
        return _FAULT + json.dumps([error.where, error.problem, error.code]).encode()
    except RagEvalError as error:
        return _FAULT + json.dumps([None, str(error), error.code]).encode()


def result_of(reply: bytes) -> bytes:
    """Return the result in a reply.

    Raises:
        DataError: the function refused the chunk.
        SettingError: the function raised another error of the package; the message is the same.
    """
    if reply[:1] == _RESULT:
        return reply[1:]
    where, problem, code = json.loads(reply[1:])
    if where is None:
        raise SettingError(problem, code=code)
    raise DataError(where, problem, code=code)
