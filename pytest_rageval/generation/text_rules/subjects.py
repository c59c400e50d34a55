"""Find the subject of a statement: the words at its start, before the verb."""

from __future__ import annotations

import re

from pytest_rageval.generation.text_rules.statements import Statement

__all__ = ["subject_of"]

_ENGLISH = re.compile(
    r"(?P<x>[A-Z][^,;:(\"]{1,59}?)(?= (?:is|are|was|were|has|have|had|may|can|will|costs?|opens?|closes?|runs?|seats?"
    r"|holds?|carries|keeps?|leaves?|measures?|covers?|weighs?|starts?|ends?|employs?|received|won|sold) |\( ?born )"
)
_OPENS = re.compile(r"[\u4e00-\u9fffA-Za-z《“][^，。；：、？！\d]{1,20}")
_MIN_LENGTH, _MAX_LENGTH = 2, 16


def subject_of(statement: Statement) -> str:
    """Return the subject at the start of a statement; "" if no rule finds it."""
    if statement.language != "zh":
        match = _ENGLISH.match(statement.text)
        return match["x"].rstrip() if match is not None else ""
    return _chinese(statement.text)


def _chinese(text: str) -> str:
    """Return the nouns at the start of a text, before a verb, an adverb or a number."""
    import rjieba

    match = _OPENS.match(text)
    if match is None:
        return ""
    words: list[str] = []
    is_noun = False
    for word, tag in rjieba.tag(match[0]):
        if not (tag.startswith("n") or tag in ("eng", "j", "b") or (word == "的" and words)):
            break
        words.append(word)
        is_noun = tag.startswith("n") or tag in ("eng", "j")
    subject = "".join(words)
    return subject if is_noun and _MIN_LENGTH <= len(subject) <= _MAX_LENGTH else ""
