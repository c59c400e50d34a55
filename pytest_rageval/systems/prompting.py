"""Load the prompts of the systems, by language: built-in texts with a user's overrides."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe, short_repr
from pytest_rageval.folders import regular_path
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
"""Key of a text -> its required placeholders."""

_MEANING = {"question": "question", "passages": "documents", "text": "text of a document"}

_NONE: Mapping[str, str] = MappingProxyType({})
_NO_FILES: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of every language; a language without prompts uses the English ones.

    Attributes:
        texts: language -> key (``system user passage closed_book_system closed_book_user``) -> text. Placeholders:
            ``{rejection}`` and ``{error}`` for the sentences below; ``{question} {passages} {instructions}`` in a user
            text; ``{number} {title} {text}`` in a passage text.
        rejection: language -> the sentence that declines to answer; default: the sentence of RGB's protocol.
        error: language -> the sentence that reports an error in the documents; default: the sentence of RGB's protocol.
    """

    texts: Mapping[str, Mapping[str, str]]
    rejection: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str, language: str, values: Mapping[str, str] = _NONE) -> str:
        """Fill the sentences and ``values`` into a text, and trim it."""
        template = self.texts.get(language, self.texts["en"])[key]
        return fill(template, {**self.sentences(language), **values}).strip()

    def sentences(self, language: str) -> dict[str, str]:
        """Return the values of ``{rejection}`` and ``{error}``."""
        return {
            "rejection": _sentence(self.rejection, REJECTION_SENTENCE, language),
            "error": _sentence(self.error, ERROR_SENTENCE, language),
        }


def load_prompts(
    overrides: Mapping[str, Path] = _NO_FILES,
    rejection: Mapping[str, str] = _NONE,
    error: Mapping[str, str] = _NONE,
) -> Prompts:
    """Return the built-in prompts with a user's overrides.

    Args:
        overrides: language -> TOML file; each of its keys replaces the text of that language. Other keys of a new
            language stay English.
        rejection: language -> the sentence for ``{rejection}``.
        error: language -> the sentence for ``{error}``.

    Raises:
        SettingError: a file is unreadable or not TOML, or one of its keys or texts is invalid.
    """
    texts = {path.stem: _read(path) for path in sorted(_BUILTIN.glob("*.toml"))}
    for language, path in overrides.items():
        texts[language] = {**texts.get(language, texts["en"]), **_read(path)}
    return Prompts(texts, dict(rejection), dict(error))


def messages_for(query: Query, prompts: Prompts) -> tuple[Message, ...]:
    """Return the messages to a model: the task, the earlier turns, then instructions, passages and question.

    Passages that are None lead to the same messages as an empty tuple.
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
    """Return the messages to a model without passages: the earlier turns and the question.

    Instructions are left out because they refer to the documents.
    """
    language = query.language
    user = prompts.text("closed_book_user", language, {"question": query.question})
    return _conversation(query, prompts.text("closed_book_system", language), user)


def _conversation(query: Query, system: str, user: str) -> tuple[Message, ...]:
    """Return the messages in order, without empty ones, because some providers reject them."""
    contents = [("system", system)]
    for turn in query.history:
        contents += [("user", turn.question), ("assistant", turn.answer)]
    contents.append(("user", user))
    return tuple({"role": role, "content": content} for role, content in contents if content.strip())


def _passage(passage: Passage, number: int, language: str, prompts: Prompts) -> str:
    values = {"number": str(number), "title": passage.title, "text": passage.text}
    return prompts.text("passage", language, values)


def _sentence(custom: Mapping[str, str], protocol: Mapping[str, str], language: str) -> str:
    return custom.get(language) or protocol.get(language) or protocol["en"]


def _read(path: Path) -> dict[str, str]:
    where = f"prompts {ascii_safe(str(path))}"
    try:
        texts: dict[str, str] = tomllib.loads(regular_path(path).read_text(encoding="utf-8-sig"))
    except OSError as fault:
        raise SettingError(f"{where}: cannot be read: {fault.strerror}; name a TOML file of prompts") from None
    except UnicodeDecodeError:
        raise SettingError(f"{where}: is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise SettingError(f"{where}: is not valid TOML: {ascii_safe(str(fault))}; correct the file") from None
    for key, text in texts.items():
        _check(key, text, where)
    return texts


def _check(key: str, text: object, where: str) -> None:
    if key not in _REQUIRED:
        raise UnknownNameError("key", key, _REQUIRED, where)
    if not isinstance(text, str):
        raise SettingError(f"{where}: {key}: found {short_repr(text)}, wanted a string")
    present = placeholders(text)
    for name in _REQUIRED[key]:
        if name not in present:
            raise SettingError(
                f"{where}: {key}: the placeholder {{{name}}} is missing; put it where the {_MEANING[name]} should be"
            )
