"""Prompts for drafts, inspections and corrections, by language: built-in ones or a plan's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.model.chat import Message
from pytest_rageval.text.placeholders import fill, placeholders
from pytest_rageval.text.quoting import quote_lines
from pytest_rageval.toml_files import line_of, read_toml

__all__ = ["Prompts", "load_prompts"]

_BUILTIN = Path(__file__).parent.parent / "prompts"
_TASK = "task"

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "draft_system": (),
    "draft_user": ("task", "documents"),
    "document": ("text",),
    "again": ("problem",),
    "closed_book_system": (),
    "closed_book_user": ("question",),
    "reword_system": (),
    "reword_user": ("question",),
    "inspect_system": (),
    "inspect_user": ("task", "documents", "item"),
    "correct_system": (),
    "correct_user": ("task", "documents", "item", "problem"),
}
"""The texts of a language, and the required placeholders of each."""

Texts = Mapping[str, str]
"""Key -> text; the texts of ``[task]`` have the keys ``task.NAME``."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of every language; a language without prompts uses the English ones.

    Attributes:
        texts: language -> its texts.
    """

    texts: Mapping[str, Texts]

    def draft(self, language: str, kind: str, topic: str, sources: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the request for drafts of a kind, such as ``multi_hop_qa_chain``, from some passages."""
        return self._messages(language, "draft", self._values(language, kind, topic, sources))

    def inspection(
        self, language: str, kind: str, topic: str, sources: Sequence[Passage], item: Mapping[str, Any]
    ) -> tuple[Message, ...]:
        """Return the request to inspect an item."""
        values = self._values(language, kind, topic, sources)
        return self._messages(language, "inspect", {**values, "item": quote_lines(_json(item))})

    def correction(
        self,
        language: str,
        kind: str,
        topic: str,
        sources: Sequence[Passage],
        item: Mapping[str, Any],
        problem: str,
    ) -> tuple[Message, ...]:
        """Return the request to correct an item."""
        values = {
            **self._values(language, kind, topic, sources),
            "item": quote_lines(_json(item)),
            "problem": quote_lines(problem),
        }
        return self._messages(language, "correct", values)

    def closed_book(self, language: str, question: str, history: Sequence[Turn]) -> tuple[Message, ...]:
        """Return the request to answer a question without documents, with the earlier turns."""
        turns = [
            message
            for turn in history
            for message in (
                {"role": "user", "content": turn.question},
                {"role": "assistant", "content": turn.answer},
            )
        ]
        first, *rest = self._messages(language, "closed_book", {"question": question})
        return (first, *turns, *rest)

    def rewording(self, language: str, question: str, values: Sequence[str]) -> tuple[Message, ...]:
        """Return the request for another wording of a question that keeps some values."""
        return self._messages(
            language, "reword", {"question": quote_lines(question), "values": quote_lines("\n".join(values))}
        )

    def again(self, language: str, messages: Sequence[Message], reply: str, problem: str) -> tuple[Message, ...]:
        """Return the request again, followed by the reply that cannot be read and its problem."""
        text = fill(self._texts(language)["again"], {"problem": quote_lines(problem)}).strip()
        reply_messages: tuple[Message, ...] = ({"role": "assistant", "content": reply},) if reply.strip() else ()
        return (*messages, *reply_messages, {"role": "user", "content": text})

    @property
    def digests(self) -> dict[str, str]:
        """Language -> sha256 of its texts."""
        return {
            language: hashlib.sha256(_json(dict(sorted(texts.items()))).encode()).hexdigest()
            for language, texts in sorted(self.texts.items())
        }

    def _texts(self, language: str) -> Texts:
        return self.texts.get(language, self.texts["en"])

    def _values(self, language: str, kind: str, topic: str, sources: Sequence[Passage]) -> dict[str, str]:
        texts = self._texts(language)
        documents = "\n\n".join(_document(texts["document"], number, each) for number, each in enumerate(sources, 1))
        return {"topic": _line(topic), "task": texts[f"{_TASK}.{kind}"].strip(), "documents": documents}

    def _messages(self, language: str, what: str, values: Mapping[str, str]) -> tuple[Message, ...]:
        texts = self._texts(language)
        contents = (("system", texts[f"{what}_system"].strip()), ("user", fill(texts[f"{what}_user"], values).strip()))
        return tuple({"role": role, "content": content} for role, content in contents if content)


def load_prompts(overrides: Mapping[str, Path]) -> Prompts:
    """Return the built-in prompts; each text of a file in ``overrides`` (language -> file) replaces the built-in one.

    Raises:
        DataError: a file is unreadable or not TOML, or a text is invalid.
        UnknownNameError: a key is unknown.
    """
    texts: dict[str, Texts] = {path.stem: _read(path, ()) for path in sorted(_BUILTIN.glob("*.toml"))}
    for language, path in overrides.items():
        texts[language] = {**texts[language], **_read(path, [*texts[language]])}
    return Prompts(texts)


def _read(path: Path, valid_keys: Sequence[str]) -> Texts:
    """Return the texts of a file; ``valid_keys`` is empty for a built-in file, which is not checked."""
    file_name = shown_path(path)
    lines, values = read_toml(path, file_name)
    tasks = values.pop(_TASK, {})
    texts = {**values, **{f"{_TASK}.{name}": text for name, text in (tasks.items() if isinstance(tasks, dict) else ())}}
    for key, text in texts.items() if valid_keys else ():
        name = key.removeprefix(f"{_TASK}.")
        where = f"{file_name}:{line_of(lines, name, 0, _TASK)}"
        if key not in valid_keys:
            raise UnknownNameError("key", key, valid_keys, where)
        if not isinstance(text, str):
            raise DataError(where, f"{name}: found {short_repr(text)}, wanted a string")
        missing = [each for each in _REQUIRED.get(key, ()) if each not in placeholders(text)]
        if missing:
            raise DataError(where, f"{name}: the placeholder {{{missing[0]}}} is missing; put it into the text")
    return texts


def _document(template: str, number: int, source: Passage) -> str:
    title = _line(source.title or source.page or source.id)
    return fill(template, {"number": str(number), "title": title, "text": quote_lines(source.text)}).strip()


def _line(text: str) -> str:
    """Return a text of the data on one line, because several lines could look like a part of the prompt."""
    return " ".join(text.split())


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1)
