"""Which English sentences stand for themselves, and how questions about them are worded."""

from __future__ import annotations

import re

__all__ = ["is_clear"]

_OPENS_OPEN = re.compile(
    r"(?:[\"“'(\[]|(?:It|Its|They|Their|Them|He|His|Him|She|Her|Hers|We|Our|You|Your|I|My|This|That|These|Those|Such"
    r"|Here|There|Then|Thus|Therefore|However|Also|Additionally|Moreover|Furthermore|But|And|Or|So|Yet|Meanwhile"
    r"|Afterwards?|Later|Later on|Both|Another|Others?|Some|One|Two|Three|Most|Many|Several|Each of|All of|None of|If|When|While|Since"
    r"|Although|After (?:that|this|which)|At (?:that|this)|During (?:that|this|his|her|their)|In (?:that|this|his|her"
    r"|their|addition)|For (?:that|this|his|her)|On (?:that|this)|From (?:this|that|there)|By (?:then|that|this)"
    r"|As (?:such|well|a result)|What|Who|Which|Where|How|Why|See|Note|Born|Based|Having|Being)\b|[A-Z]\.)"
)
_RELATIVE = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|currently|recently|nowadays|now|so far|to date|ago|this (?:year|month|week|season|film|album"
    r"|book|period|time|day|list|page|article)|(?:last|next|past|previous|following|same|prior|current|preceding) "
    r"(?:year|month|week|season|day|quarter|summer|winter|spring|autumn|decade|period|time)s?|the (?:former|latter)|respectively"
    r"|above|below|as follows|the following|aforementioned|thereafter|thereof|herein|here)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|these|those|we|our|us|you|your|I|my)\b"
)
_MARKUP = re.compile(r"[`|<>{}\\]|\]\(|\*\*|__|https?:|\[\d|\.\.\.|…|[\ufffd]|\w\.\w+\(|\( ?[;,]|[=@#]|\d{5}\d* [A-Z]")
_NAME = re.compile(r"(?<![.!?\w])(?:[A-Z][\w’'-]*[a-z][\w’'-]*|[A-Z]{2,})")
_CALENDAR = frozenset(
    "January February March April May June July August September October November December Monday Tuesday Wednesday"
    " Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays Jan Feb Mar Apr Jun"
    " Jul Aug Sep Sept Oct Nov Dec I AM PM".split()
)
_GENERIC = re.compile(r"(?:An?|Any|Every|Whoever|Anyone|No|All)\b")
_THE = re.compile(r"(?:The|In the|On the|At the|For the|From the|Under the|By the)\b")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|can|could|may|must|does|do|did|\w{3,}ed|costs?|opens?|closes?|runs?"
    r"|leaves?|starts?|ends?|carry|carries|holds?|keeps?|seats?|sells?|pays?|takes?|begins?|began|rose|fell|grew|won|lost|made"
    r"|became|contains?|includes?|covers?|measures?|weighs?|lies|lives|stands?|serves?|needs?|gives?|shows?|says?|said|waits?"
    r"|crosses|calls|goes|sits|reaches|employs?|operates?|provides?|requires?|consists?|comprises?|spent|sold|built|led|held)\b"
)
_LOOSE = re.compile(r"\b(?:and|or|but|which|who|that|of|in|at|to|for|by|with|from|the|a|an)\W*\Z", re.IGNORECASE)


def is_clear(sentence: str, context: str) -> bool:
    """Return whether a sentence says what it is about without the sentences before it.

    It is complete, holds a verb and no markup, points to no other sentence and to no day of its writing, and names a
    thing: by a name, by a word of the heading or title, or in general ("a single ticket").

    Args:
        sentence: the sentence.
        context: the heading and the title above it.
    """
    if not 20 <= len(sentence) <= 240 or sentence[-1] not in ".!" or not sentence[0].isalnum():
        return False
    if _OPENS_OPEN.match(sentence) or sentence[0].islower() or _MARKUP.search(sentence) or _RELATIVE.search(sentence):
        return False
    if sentence.count('"') % 2 or sentence.count("(") != sentence.count(")") or sentence.count("“") != sentence.count("”"):
        return False
    verb = _VERB.search(sentence)
    if verb is None or _LOOSE.search(sentence[:-1]) or verb.start() == 0:
        return False
    return _names_a_thing(sentence, verb.start(), context)


def _names_a_thing(sentence: str, verb: int, context: str) -> bool:
    """Return whether the words before the verb name something, before any pronoun."""
    subject = sentence[:verb]
    if _PRONOUN.search(subject):
        return False
    if _GENERIC.match(sentence):
        return True
    names = [each[0] for each in _NAME.finditer(subject) if each.start() > 0 and each[0] not in _CALENDAR]
    first = subject.split()[0] if subject.split() else ""
    if not _THE.match(sentence) and not names:
        return _starts_with_name(first) or _shares(subject, context)
    return bool(names)


def _starts_with_name(first: str) -> bool:
    return first[:1].isupper() and first not in _CALENDAR and len(first) > 2 and not first.endswith("ly")


def _shares(subject: str, context: str) -> bool:
    """Return whether the subject has a word of the heading or title, of four letters or more."""
    ours = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", subject)}
    theirs = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", context)}
    return bool(ours & theirs)
