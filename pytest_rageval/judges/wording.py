"""The texts of judges' prompts by language: those of this package, and those of users."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["PackagedText", "Wording", "in_language", "prompt_texts"]

Wording = str | Mapping[str, str]
"""One text for every language, or language -> text."""

LANGUAGES = ("en", "zh")
"""The languages of judges' prompts."""

_FOLDER = Path(__file__).parent / "prompts"


@lru_cache(maxsize=len(LANGUAGES))
def prompt_texts(language: str) -> Mapping[str, Any]:
    """Return the texts of every judge's prompt and the built-in criteria, in one of `LANGUAGES`.

    The file ``prompts/LANGUAGE.toml`` has them.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    texts: dict[str, Any] = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return texts


@dataclass(frozen=True, slots=True)
class PackagedText(Mapping[str, str]):
    """Language -> one text of the package; its file is read on first use.

    Attributes:
        table: the table of the text in the TOML files.
        key: the key of the text in the table.
    """

    table: str
    key: str

    def __getitem__(self, language: str) -> str:
        if language not in LANGUAGES:
            raise KeyError(language)
        text: str = prompt_texts(language)[self.table][self.key]
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(LANGUAGES)

    def __len__(self) -> int:
        return len(LANGUAGES)


def in_language(wording: Wording, language: str) -> str:
    """Return the text in ``language``, else in English, else in the first available language."""
    if isinstance(wording, str):
        return wording
    return wording.get(language) or wording.get("en") or next(iter(wording.values()))
