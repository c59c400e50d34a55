"""A draft: a case that a generator proposes, with its state and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal

from pytest_rageval.model.case import Gold, Passage, Turn

__all__ = ["Draft", "DraftState", "case_id", "slug"]

DraftState = Literal["kept", "dropped", "waiting"]
"""``waiting``: it passed all checks so far, and a model or a person still has to decide."""

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed case.

    Attributes:
        question: the question; for a conversation the question of the last turn.
        gold: slots (all) of aliases (any).
        task: the task, such as ``extractive_qa``.
        topic: the path of its topic, such as ``Transit/Ferries``; "" for none.
        generator: ``template``, ``text-rule`` or ``llm``.
        origin: what made it: ``PLAN.toml:LINE`` of a template, the name of a rule or of a model.
        sources: the passages with the answer; with several slots, ``group`` is the slot that a passage answers.
        language: ``en`` or ``zh``.
        level: the level, such as ``knowledge_seeking``; "" for none.
        history: earlier turns.
        evidence: verbatim quotes of the sources.
        passages: supplied passages with roles; None if the system must retrieve.
        fake: the false answer of counterfactual passages, as slots of aliases.
        facets: other facets of the case; the turns of a conversation share ``dialogue`` and count ``round`` from 1.
        state: whether it is kept.
        reason: why it was dropped or waits; "" if it is kept.
        checks: the names of the checks that it passed, in order.
        verdicts: results of checks, inspection and people, by name; JSON values.
    """

    question: str
    gold: Gold
    task: str
    topic: str
    generator: str
    origin: str
    sources: tuple[Passage, ...]
    language: str = "en"
    level: str = ""
    history: tuple[Turn, ...] = ()
    evidence: tuple[str, ...] = ()
    passages: tuple[Passage, ...] | None = None
    fake: Gold = ()
    facets: Mapping[str, str] = field(default_factory=lambda: _NONE)
    state: DraftState = "waiting"
    reason: str = ""
    checks: tuple[str, ...] = ()
    verdicts: Mapping[str, Any] = field(default_factory=lambda: _NONE)

    @property
    def id(self) -> str:
        """The id of the draft and of its case; it depends only on the draft.

        Two conversations may ask the same last question, so the id also depends on the earlier questions.
        """
        questions = [*(turn.question for turn in self.history), self.question]
        return case_id(self.topic, self.task, "\n".join(questions), [source.id for source in self.sources])

    def dropped(self, reason: str, detail: str = "") -> Draft:
        """Return the draft as dropped; ``reason`` is the name of a check, and ``detail`` becomes its verdict."""
        verdicts = {**self.verdicts, reason: detail} if detail else self.verdicts
        return replace(self, state="dropped", reason=reason, verdicts=verdicts)

    def kept(self) -> Draft:
        """Return the draft as kept."""
        return replace(self, state="kept", reason="")


def case_id(topic: str, task: str, question: str, sources: Sequence[str]) -> str:
    """Return ``<topic slug>-<task>-<12 hex digits>``; the digits hash the question and its sorted source ids."""
    digest = sha256("\n".join([question, *sorted(sources)]).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return "-".join(filter(None, [slug(topic), task, digest]))


def slug(text: str) -> str:
    """Return a text in lower case, with ``-`` instead of everything except letters and digits."""
    words = "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()
    return "-".join(words)
