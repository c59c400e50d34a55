"""The assistant: find the sentences that answer, mistrust them, or say that they are not there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_rageval import Answer, Query

from assistant.facts import Fact, trusted_facts
from assistant.words import ASKS_NUMBER, NUMBER, sentences, terms

__all__ = ["help_desk"]

NO_ANSWER = {
    "en": "I can not answer the question because of the insufficient information in documents.",
    "zh": "文档信息不足，因此我无法基于提供的文档回答该问题。",
}
FACTUAL_ERROR = {"en": "There are factual errors in the provided documents.", "zh": "提供文档的文档存在事实性错误。"}
MOST_SENTENCES = 3
ENOUGH = 0.5  # the share of the question's words that the sentences must cover


def help_desk(query: Query) -> Answer:
    """Answer from the passages; correct them where the desk knows better; decline where they do not say."""
    asked = weigh(query)
    found = " ".join(evidence(asked, [p.text for p in query.passages or ()]))
    if not found:
        return Answer(NO_ANSWER[query.language], abstained=True)
    for fact in trusted_facts:
        if f"@{fact.name}" in asked and re.search(fact.cue, query.question) and contradicts(found, fact):
            right = fact.zh if query.language == "zh" else fact.en
            return Answer(f"{FACTUAL_ERROR[query.language]} {right}", abstained=False)
    return Answer(found, abstained=False)


def weigh(query: Query) -> dict[str, int]:
    """Weigh the terms of the question; a follow-up inherits, at half weight, what it leaves unsaid."""
    before = query.history[-1].question if query.history else ""
    asked, inherited = terms(query.question), terms(before)
    if names(asked):
        inherited -= names(inherited)
    number = {NUMBER: 2} if ASKS_NUMBER.search(before + query.question) else {}
    return dict.fromkeys(inherited, 1) | dict.fromkeys(asked, 2) | number


def evidence(asked: dict[str, int], passages: list[str]) -> list[str]:
    """Pick sentences, best first, until the question is covered; pick none when they can not cover it.

    Each must share a word with the question, and name a thing that it asks about or that another sentence led to.
    """
    words = set(asked) - names(asked) - {NUMBER}
    pool = {s: terms(s) | (set() if names(terms(s)) else names(terms(p))) for p in passages for s in sentences(p)}
    pool = {s: said for s, said in pool.items() if said & words}
    missing, linked, chosen = dict(asked), names(asked), list[str]()
    while len(chosen) < MOST_SENTENCES:
        near = [s for s, said in pool.items() if not linked or said & linked]
        best = max(near, key=lambda s: total(missing, pool[s]) + total(asked, pool[s]) / 2, default="")
        if not best or total(missing, pool[best]) < 2:
            break
        said = pool.pop(best)
        chosen.append(best)
        linked |= names(said)
        missing = {term: weight for term, weight in missing.items() if term not in said}
    covered = total(asked, words - set(missing)) >= ENOUGH * total(asked, words)
    return chosen if covered and not names(missing) and NUMBER not in missing else []


def contradicts(text: str, fact: Fact) -> bool:
    """Return whether ``text`` speaks of the fact and gives another value for it."""
    named = re.findall(fact.kind, text) if re.search(fact.cue, text) else []
    return bool(named) and fact.en not in named and fact.zh not in named


def names(said: Iterable[str]) -> set[str]:
    return {term for term in said if term.startswith("@")}


def total(asked: dict[str, int], said: set[str]) -> int:
    return sum(weight for term, weight in asked.items() if term in said)
