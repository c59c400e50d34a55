"""What the systems that use a model say to it: prompts by language, ours or a user's."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe, found
from pytest_rageval.folders import regular
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.chat import Message
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.text.placeholders import fill, placeholders

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Prompts", "closed_book_messages", "load_prompts", "messages_for"]

_BUILTIN = Path(__file__).parent / "prompts"

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "system": (),
    "user": ("question", "passages"),
    "passage": ("text",),
    "closed_book_system": (),
    "closed_book_user": ("question",),
}
"""The texts of a language, and the placeholders that each must have."""

_MEANING = {"question": "question", "passages": "documents", "text": "text of a document"}

_NONE: Mapping[str, str] = MappingProxyType({})
_NO_FILES: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of every language; a language without any has the English ones.

    Attributes:
        texts: language -> key (``system user passage closed_book_system closed_book_user``) -> text, in which
            ``{rejection}`` and ``{error}`` stand for the sentences below, and in the user's and the passage's text
            ``{question} {passages} {instructions}`` and ``{number} {title} {text}`` for what is asked.
        rejection: language -> the sentence that declines; the sentence of RGB's protocol where it is missing.
        error: language -> the sentence that reports an error in the documents, likewise.
    """

    texts: Mapping[str, Mapping[str, str]]
    rejection: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str, language: str, values: Mapping[str, str] = _NONE) -> str:
        """Return a text with its sentences and ``values`` put in, trimmed."""
        template = self.texts.get(language, self.texts["en"])[key]
        sentences = {
            "rejection": _sentence(self.rejection, REJECTION_SENTENCE, language),
            "error": _sentence(self.error, ERROR_SENTENCE, language),
        }
        return fill(template, {**sentences, **values}).strip()


def load_prompts(
    overrides: Mapping[str, Path] = _NO_FILES,
    rejection: Mapping[str, str] = _NONE,
    error: Mapping[str, str] = _NONE,
) -> Prompts:
    """Return the built-in prompts with a user's own in their place.

    Args:
        overrides: language -> TOML file; each of its keys replaces the built-in text of that language, or the English
            one where there is none.
        rejection: language -> the sentence that ``{rejection}`` stands for.
        error: language -> the sentence that ``{error}`` stands for.

    Raises:
        SettingError: a file cannot be read, is no TOML, or has a key or a text that cannot be used.
    """
    texts = {path.stem: _read(path) for path in sorted(_BUILTIN.glob("*.toml"))}
    for language, path in overrides.items():
        texts[language] = {**texts.get(language, texts["en"]), **_read(path)}
    return Prompts(texts, dict(rejection), dict(error))


def messages_for(query: Query, prompts: Prompts) -> tuple[Message, ...]:
    """Return what a model is asked: the task, the earlier turns, then the instructions, the passages, the question.

    A query without passages is asked as one with none.
    """
    language = query.language
    passages = [_passage(p, number, language, prompts) for number, p in enumerate(query.passages or (), 1)]
    values = {
        "question": query.question,
        "passages": "\n\n".join(passages),
        "instructions": query.instructions,
    }
    return _conversation(query, prompts.text("system", language), prompts.text("user", language, values))


def closed_book_messages(query: Query, prompts: Prompts) -> tuple[Message, ...]:
    """Return what a model is asked without passages: the earlier turns and the question.

    Neither passages nor instructions are put in, as instructions speak of the documents.
    """
    language = query.language
    user = prompts.text("closed_book_user", language, {"question": query.question})
    return _conversation(query, prompts.text("closed_book_system", language), user)


def _conversation(query: Query, system: str, user: str) -> tuple[Message, ...]:
    """Return the messages in order; an empty one is left out, as there are providers that refuse it."""
    said = [("system", system)]
    for turn in query.history:
        said += [("user", turn.question), ("assistant", turn.answer)]
    said.append(("user", user))
    return tuple({"role": role, "content": content} for role, content in said if content.strip())


def _passage(passage: Passage, number: int, language: str, prompts: Prompts) -> str:
    values = {"number": str(number), "title": passage.title, "text": passage.text}
    return prompts.text("passage", language, values)


def _sentence(own: Mapping[str, str], protocol: Mapping[str, str], language: str) -> str:
    return own.get(language) or protocol.get(language) or protocol["en"]


def _read(path: Path) -> dict[str, str]:
    where = f"prompts {ascii_safe(str(path))}"
    try:
        texts: dict[str, str] = tomllib.loads(regular(path).read_text(encoding="utf-8-sig"))
    except OSError as fault:
        raise SettingError(f"{where}: cannot be read: {fault.strerror}; name a TOML file of prompts") from None
    except UnicodeDecodeError:
        raise SettingError(f"{where}: is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise SettingError(f"{where}: is not valid TOML: {ascii_safe(str(fault))}; correct it there") from None
    for key, text in texts.items():
        _check(key, text, where)
    return texts


def _check(key: str, text: object, where: str) -> None:
    if key not in _REQUIRED:
        raise UnknownNameError("key", key, _REQUIRED, where)
    if not isinstance(text, str):
        raise SettingError(f"{where}: {key}: found {found(text)}, wanted a string")
    there = placeholders(text)
    for name in _REQUIRED[key]:
        if name not in there:
            raise SettingError(
                f"{where}: {key}: there is no {{{name}}} in it; put it where the {_MEANING[name]} shall be"
            )
