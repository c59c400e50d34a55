"""State of the page: the draft, the answers, and the questions in progress."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_rageval.engine.live_answer import LiveAnswer
from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import RagEvalError, SettingError, UnknownNameError, message_with_code
from pytest_rageval.hooks.playing.orders import AskOrder
from pytest_rageval.hooks.playing.project import PlayProject
from pytest_rageval.llm.secrets import redact
from pytest_rageval.model.answer import Step
from pytest_rageval.model.codec import encode_answer, encode_calls
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.plain import plain_json
from pytest_rageval.trace.collector import Event
from pytest_rageval.trace.shortening import TRACE_CHARS, shortened
from pytest_rageval.web.files import FileChangedError
from pytest_rageval.web.play.chain_draft import ChainDraft
from pytest_rageval.web.play.draft import Draft, add_turn, change_draft, draft_after
from pytest_rageval.web.play.event_log import EventLog
from pytest_rageval.web.play.page_answer import PageAnswer, compare_answers, mask_answer, page_answer
from pytest_rageval.web.play.state_file import StateFile

__all__ = ["Board", "Question"]

MAX_ANSWERS = 20
"""Maximum number of answers on the page; older ones are removed."""


class Question:
    """A question in progress.

    Attributes:
        id: its number on the page.
        order: what is asked.
        edited: whether a person had edited its passages.
        before: the number of the earlier answer that its answer is compared with; "" for none.
        chats: whether its answer is the next turn of the conversation.
        draft: the draft when it was asked.
        from_draft: whether it is the question of the draft.
        stop: set this event to stop it.
        log: its events.
    """

    def __init__(
        self, number: str, order: AskOrder, draft: Draft, *, edited: bool, before: str, chats: bool, from_draft: bool
    ) -> None:
        self.id = number
        self.order = order
        self.edited = edited
        self.before = before
        self.chats = chats
        self.draft = draft
        self.from_draft = from_draft
        self.stop = threading.Event()
        self.log = EventLog()
        self._pending: Event | None = None

    def watch(self, event: Event) -> None:
        """Log a finished step after its code had time to write its result.

        In a coroutine, the event loop logs the step at its next turn. In a thread, the step is logged when the next
        step ends or the answer arrives.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.release()
            self._pending = event
        else:
            loop.call_soon(self._add, event)

    def release(self) -> None:
        """Log the pending step of a thread."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._add(pending)

    def _add(self, event: Event) -> None:
        detail = plain_json(event.detail)
        step = Step(event.kind, detail if isinstance(detail, dict) else {})
        (short,) = shortened((step,), TRACE_CHARS, redact)
        self.log.add("step", {"ask": self.id, "kind": short.kind, "detail": short.detail})


class Board:
    """The state of the page; thread-safe.

    Args:
        project: answers the questions.
        file: stores the draft and the answers.

    Attributes:
        draft: the unsaved edits of the page.
        answers: the last answers, oldest first.
        chains: chain -> its unsaved edits.
    """

    def __init__(self, project: PlayProject, file: StateFile) -> None:
        self.project = project
        self.draft, self.answers, self.chains = file.read()
        self._file = file
        self._lock = threading.RLock()
        self._questions: dict[str, Question] = {}
        self._next = 1 + max((int(each.id) for each in self.answers if each.id.isdigit()), default=0)

    @property
    def asking(self) -> list[Question]:
        """The questions in progress, oldest first."""
        with self._lock:
            return list(self._questions.values())

    def answer(self, number: str) -> PageAnswer:
        """Return an answer by its number.

        Raises:
            UnknownNameError: the page has no such answer.
        """
        with self._lock:
            answers = {each.id: each for each in self.answers}
        if number not in answers:
            raise UnknownNameError("answer", number, answers)
        return answers[number]

    def change(self, body: Mapping[str, Any]) -> Draft:
        """Change the draft.

        Raises:
            FileChangedError: another tab changed it since the page was read.
            DataError: the body is malformed.
        """
        return self.put(lambda draft: change_draft(draft, body), body.get("version"))

    def put(self, change: Callable[[Draft], Draft], version: object = None) -> Draft:
        """Apply a function to the draft if it still has this version; None accepts any version."""
        with self._lock:
            if version is not None and version != self.draft.version:
                raise FileChangedError("the page", "it was changed in another tab; reload it")
            draft = change(self.draft)
            # Written before the assignment, so that an error leaves the old draft on the page.
            self._file.write(draft, self.answers, self.chains)
            self.draft = draft
            return draft

    def put_chain(self, name: str, change: Callable[[ChainDraft], ChainDraft]) -> ChainDraft:
        """Apply a function to the unsaved edits of a chain."""
        with self._lock:
            draft = change(self.chains.get(name, ChainDraft()))
            chains = {**self.chains, name: draft}
            self._file.write(self.draft, self.answers, chains)
            self.chains = chains
            return draft

    def ask(
        self, order: AskOrder, *, edited: bool = False, before: str = "", chats: bool = False, from_draft: bool = False
    ) -> Question:
        """Start a question; with ``chats`` it continues the conversation, and its answer becomes the next turn.

        Raises:
            RagEvalError: the case or the system is unknown, or the previous turn has no answer yet.
        """
        self.project.asked_case(order)  # outside of the lock, because it may import a user's module
        with self._lock:
            if chats:
                if any(each.chats for each in self._questions.values()):
                    raise SettingError("the last question of the conversation has no answer yet; wait for it")
                order = replace(order, history=self.draft.chat)
            question = Question(
                str(self._next), order, self.draft, edited=edited, before=before, chats=chats, from_draft=from_draft
            )
            future = self.project.ask(order, question.stop, question.watch)
            self._next += 1
            self._questions[question.id] = question
        question.log.add("asked", {"ask": question.id, "system": order.system})
        future.add_done_callback(partial(self._finish, question))
        return question

    def cancel(self, number: str) -> None:
        """Stop a question.

        Raises:
            UnknownNameError: it is not in progress.
        """
        with self._lock:
            question = self._questions.get(number)
        if question is None:
            raise UnknownNameError("question in progress", number, [each.id for each in self.asking])
        question.stop.set()

    def _finish(self, question: Question, future: Future[LiveAnswer]) -> None:
        """Put the answer of a question on the page, and end its event log."""
        question.release()
        try:
            live = future.result()
        except BaseException as error:  # of a user's fixture, or because pytest has ended
            sentence = message_with_code(error) if isinstance(error, RagEvalError) else cause_of(error)
            question.log.add("error", {"ask": question.id, "error": sentence, "kind": type(error).__name__})
            with self._lock:
                self._questions.pop(question.id, None)
            question.log.end()
            return
        case = "" if question.order.case is None else self.project.case(question.order.case)[0]
        answer = page_answer(question.id, live, case=case, edited=question.edited, before=question.before)
        answer = mask_answer(answer)
        with self._lock:
            self._questions.pop(question.id, None)
            earlier = [each for each in self.answers if each.id == question.before]
            answer = compare_answers(earlier[0], answer) if earlier else answer
            self.answers = [*self.answers, answer][-MAX_ANSWERS:]
            if question.chats:
                self.draft = add_turn(self.draft, answer)
            elif self.draft.follows(question.draft, from_draft=question.from_draft):
                self.draft = draft_after(self.draft, answer)
            try:
                self._file.write(self.draft, self.answers, self.chains)
            except RagEvalError as error:
                question.log.add("note", {"ask": question.id, "note": message_with_code(error)})
        for name, data in _events(question, live):
            question.log.add(name, data)
        question.log.end()


def _events(question: Question, live: LiveAnswer) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of an answer, in the format of results.json."""
    outcome = live.outcome
    events: list[tuple[str, dict[str, Any]]] = []
    if live.responses.answer is not None and outcome.answer is not None:
        whole = replace(outcome.answer, ranking=live.responses.answer.ranking)
        calls = {"calls": encode_calls(live.calls)} if live.calls.calls else {}
        events.append(("answer", {"ask": question.id, **encode_answer(whole), "replayed": live.replayed, **calls}))
    if outcome.scores:
        scores = {name: encoder(Score)(score) for name, score in outcome.scores.items()}
        events.append(("scores", {"ask": question.id, "scores": scores}))
    if outcome.error is not None:
        events.append(("error", {"ask": question.id, "error": outcome.error, "kind": outcome.error_type}))
    return events
