"""Unsaved edits of the page: question, case, system, passages and gold answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.web.play.ask_requests import turns_of
from pytest_rageval.web.play.page_answer import PageAnswer

__all__ = ["Draft", "DraftPassage", "Quote", "add_turn", "change_draft", "draft_after", "draft_of_run"]

TEXTS = ("question", "case", "system", "answers", "file", "chat_system")

ROLES = ("", "positive", "negative", "counterfactual")


@dataclass(frozen=True, slots=True)
class DraftPassage:
    """A passage in the draft.

    Attributes:
        key: its number in the draft; it stays the same when passages are reordered.
        id, text, title, page, role: as in `Passage`.
        mark: as in `ShownPassage`.
        on: whether the next question includes it.
        edited: whether a person wrote or changed its text.
    """

    key: int
    id: str
    text: str
    title: str = ""
    page: str = ""
    role: str = ""
    mark: str = ""
    on: bool = True
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence: a quote from a page."""

    page: str
    quote: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The next question, and the case that people can save from it.

    Attributes:
        version: grows with each change; changes of an older version are refused.
        question: the typed question, or the question of the case.
        case: the node id of the case; "" for none.
        system: the name of the system; "" for the first.
        passages: the passages of the next question; None before the first answer.
        changed: whether a person changed the passages.
        before: the number of the answer that the passages come from; "" for none.
        chat: the turns of the conversation, with the system's own answers.
        chat_system: the system of the conversation; "" for the first.
        answers: the gold answers to save, in the format that `gold_of_text` reads; None for those of the case.
        evidence: the quotes to save.
        file: the file to save to; "" for the file of the case, or a new one.
        with_passages: whether the passages are saved, too.
        subject: the question and the case of the gold answers and the evidence; () before the first one.
    """

    version: int = 0
    question: str = ""
    case: str = ""
    system: str = ""
    passages: tuple[DraftPassage, ...] | None = None
    changed: bool = False
    before: str = ""
    chat: tuple[Turn, ...] = ()
    chat_system: str = ""
    answers: str | None = None
    evidence: tuple[Quote, ...] = ()
    file: str = ""
    with_passages: bool = False
    subject: tuple[str, ...] = ()

    @property
    def supplied(self) -> tuple[Passage, ...]:
        """The passages that the next question supplies to the system."""
        passages = (each for each in self.passages or () if each.on)
        return tuple(Passage(each.id, each.text, each.title, _role(each.role), page=each.page) for each in passages)

    @property
    def is_edited(self) -> bool:
        """Whether the draft has edits that would be lost if a person chose another case."""
        typed = bool(self.question) and self.subject != (self.question, self.case)
        return typed or self.changed or self.answers is not None or bool(self.evidence) or self.with_passages

    def follows(self, earlier: Draft, *, from_draft: bool) -> bool:
        """Return whether an answer may update this draft: it must not overwrite later edits of the passages.

        Args:
            earlier: the draft when the question was asked.
            from_draft: whether it was the question of the draft.
        """
        if not from_draft:
            return not self.changed and (self.question, self.case) == (earlier.question, earlier.case)
        return self._question_state == earlier._question_state

    @property
    def _question_state(self) -> tuple[object, ...]:
        return self.question, self.case, self.passages, self.changed

    def with_case(self, case: str, question: str) -> Draft:
        """Return the draft with another case; passages, gold answers and evidence are discarded."""
        return replace(
            self, version=self.version + 1, case=case, question=question, passages=None, changed=False, before="",
            answers=None, evidence=(), with_passages=False, subject=(question, case),
        )  # fmt: skip

    def of_subject(self, question: str, case: str) -> Draft:
        """Return the draft for a question and a case; gold answers and evidence of another one are discarded."""
        subject = (question, case)
        if self.subject in ((), subject):
            return replace(self, subject=subject)
        return replace(self, answers=None, evidence=(), with_passages=False, subject=subject)


def _role(text: str) -> Any:
    return text if text in ROLES else ""


def _draft_passages(answer: PageAnswer) -> tuple[DraftPassage, ...]:
    return tuple(
        DraftPassage(key, each.id, each.text, each.title, each.page, each.role, each.mark)
        for key, each in enumerate(answer.passages)
    )


def draft_of_run(draft: Draft, answer: PageAnswer, case: str, *, keep_passages: bool) -> Draft:
    """Return the draft with a case of a run; ``keep_passages`` also takes over its passages."""
    draft = replace(draft.with_case(case, answer.question), system=answer.system)
    return replace(draft, passages=_draft_passages(answer), changed=True) if keep_passages else draft


def add_turn(draft: Draft, answer: PageAnswer) -> Draft:
    """Return the draft with one more turn of the conversation; without an answer there is no new turn."""
    if answer.answer is None:
        return draft
    turns = (*answer.history, Turn(answer.question, answer.answer))
    return replace(draft, version=draft.version + 1, chat=turns, chat_system=answer.system)


def draft_after(draft: Draft, answer: PageAnswer) -> Draft:
    """Return the draft after an answer: with the passages of the answer, unless a person edited the passages."""
    draft = draft.of_subject(answer.question, answer.case)
    if answer.edited:
        return replace(draft, version=draft.version + 1, before=answer.id)
    return replace(
        draft, version=draft.version + 1, question=answer.question, case=answer.case, system=answer.system,
        passages=_draft_passages(answer), changed=False, before=answer.id,
    )  # fmt: skip


def change_draft(draft: Draft, body: Mapping[str, Any]) -> Draft:
    """Apply a change of the page to a draft; missing keys change nothing.

    The key ``fresh`` discards the passages, so the system retrieves new ones. The key ``passages`` lists the passages
    in their new order: ``key`` with ``on``, ``role`` and, if edited, ``text``. Passages that are not listed follow in
    their old order. An entry without ``key`` is a new passage: ``text`` and, if known, ``id``, ``title``, ``page``,
    ``role``.

    Raises:
        DataError: a value has the wrong type, or a key is unknown.
    """
    fields = Fields("the request", dict(body))
    fields.only(("version", "passages", "fresh", *TEXTS, "evidence", "with_passages", "chat"))
    question, case = fields.string("question", draft.question), fields.string("case", draft.case)
    if case != draft.case:
        draft = draft.with_case(case, question)
    elif fields.flag("fresh") or (not draft.changed and question != draft.question):
        draft = replace(draft, passages=None, changed=False, before="")
    draft = replace(
        draft,
        version=draft.version + 1,
        question=question,
        system=fields.string("system", draft.system),
        answers=fields.string("answers") if "answers" in fields else draft.answers,
        evidence=tuple(_quotes(fields)) if "evidence" in fields else draft.evidence,
        file=fields.string("file", draft.file),
        chat=turns_of(fields, "chat") if "chat" in fields else draft.chat,
        chat_system=fields.string("chat_system", draft.chat_system),
        with_passages=draft.with_passages if (ticked := fields.flag("with_passages")) is None else ticked,
    )
    if "passages" not in body:
        return draft
    expected = "a list of passages, each an object with key, or with id and text"
    return replace(draft, passages=_passages(draft, fields.objects("passages", expected)), changed=True)


def _quotes(fields: Fields) -> Iterator[Quote]:
    for each in fields.objects("evidence", "a list of quotes, each an object with page and quote"):
        each.only(("page", "quote"))
        yield Quote(each.text("page"), each.text("quote"))


def _passages(draft: Draft, listed: Iterable[Fields]) -> tuple[DraftPassage, ...]:
    by_key = {each.key: each for each in draft.passages or ()}
    new_key = max(by_key, default=-1) + 1
    passages: list[DraftPassage] = []
    for fields in listed:
        if "key" in fields:
            key = fields.values["key"]
            if type(key) is not int or key not in by_key:
                raise DataError("the request", f"passages: the page has no passage with the key {short_repr(key)}")
            passages.append(_edited(by_key.pop(key), fields.values))
            continue
        name = fields.string("id", "") or f"own-{new_key}"
        texts = (fields.string("text"), fields.string("title", ""), fields.string("page", ""))
        passages.append(DraftPassage(new_key, name, *texts, role=fields.string("role", ""), edited=True))
        new_key += 1
    return (*passages, *by_key.values())


def _edited(passage: DraftPassage, values: Mapping[str, Any]) -> DraftPassage:
    on, text, role = (values.get(name, getattr(passage, name)) for name in ("on", "text", "role"))
    if not isinstance(on, bool) or not isinstance(text, str) or role not in ROLES:
        raise DataError("the request", "passages: on is true or false, text is a text, role is one of the roles")
    return replace(passage, on=on, text=text, role=role, edited=passage.edited or text != passage.text)
