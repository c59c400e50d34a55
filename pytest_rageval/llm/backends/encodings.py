"""Load OpenAI's tokenizers from litellm's files, without network or cache folder."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any

from pytest_rageval.llm.backends.litellm_files import litellm_file

__all__ = ["encoding", "encoding_of"]

_INCLUDED = ("cl100k_base", "o200k_base")


def encoding_of(model: str) -> Any | None:
    """Return the tokenizer of an OpenAI chat model ("gpt-4o-mini"); None if it is unknown or its file is missing."""
    try:
        return encoding(import_module("tiktoken").encoding_name_for_model(model))
    except (KeyError, ImportError, OSError):
        return None


@lru_cache(maxsize=2)
def encoding(name: str) -> Any:
    """Return the ``tiktoken.Encoding`` of a name; raise `OSError` if litellm does not include its file.

    The definition of the tokenizer is tiktoken's; only its file is read from litellm's folder, not from its URL.
    """
    if name not in _INCLUDED:
        raise FileNotFoundError(f"litellm brings no file of the encoding {name}")
    public = import_module("tiktoken_ext.openai_public")
    definition = public.ENCODING_CONSTRUCTORS[name]
    make_arguments = FunctionType(definition.__code__, {**vars(public), "load_tiktoken_bpe": _ranks})
    return import_module("tiktoken").Encoding(**make_arguments())


def _ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return token -> rank; the file's name is the SHA-1 of its URL."""
    from base64 import b64decode
    from hashlib import sha1

    name = sha1(url.encode(), usedforsecurity=False).hexdigest()
    lines = litellm_file("litellm_core_utils", "tokenizers", name).read_bytes().splitlines()
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
