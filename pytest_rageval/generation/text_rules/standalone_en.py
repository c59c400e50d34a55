"""Recognize English sentences that are clear without the sentences before them."""

from __future__ import annotations

import re
from collections.abc import Set

__all__ = ["is_standalone"]

_SHORTEST, _LONGEST = 20, 240


def _one_of(words: str) -> str:
    """Return a pattern that matches one of some words, which are separated by commas."""
    return "|".join(word.strip() for word in words.split(","))


_OPENINGS = _one_of(
    "It, Its, They, Their, Them, He, His, Him, She, Her, Hers,"
    " We, Our, You, Your, I, My, This, That, These, Those, Such,"
    "Here, There, Then, Thus, Therefore, However, Also, Additionally, Moreover, Furthermore, But, And, Or, So, Yet,"
    "Meanwhile, Afterwards?, Later, Both, Another, Others?,"
    " Some, One, Two, Three, Most, Many, Several, Each of, All of,"
    "None of, If, When, While, Since, Although, After (?:that|this|which), At (?:that|this), As (?:such|well|a result),"
    "(?:During|In|For|On) (?:that|this|his|her|their|addition), From (?:this|that|there), By (?:then|that|this),"
    "What, Who, Which, Where, How, Why, See, Note, Born, Based, Having, Being, Updated?, Advertisement"
)
_ANAPHORIC = (
    r"The (?:first|second|third|fourth|last|latest|next|others?|rest|pair|duo|two|three|win|loss|victory|defeat)"
    r" (?:came|was|is|were|are|has|had|will|took|went)\b"
)
"""Beginnings that refer to something in an earlier sentence: "The second was ..."."""

_UNCLEAR_START = re.compile(
    rf"(?:{_OPENINGS})\b|{_ANAPHORIC}|[\"“'(\[]|[A-Z]\.|\d{{1,2}}[,.:)]|(?:At )?\d{{1,2}}:\d\d|[^:\"“]{{1,40}}:\s"
    r"|By [A-Z][a-z]+ [A-Z]"
)
"""Beginnings that refer to an earlier sentence, and beginnings of lists, labels, bylines and time stamps."""

_NEAR_TIMES = _one_of(
    "today, yesterday, tomorrow, tonight, currently, recently, nowadays, now, just, soon, still, earlier, upcoming,"
    "so far, to date, ago, that day, that year,"
    "this (?:year|month|week|season|film|album|book|period|time|day|list|page|article),"
    "(?:last|next|past|previous|following|same|prior|current|preceding)"
    " (?:year|month|week|season|day|quarter|summer|winter|spring|autumn|decade|period|time)s?"
)
_POINTERS = _one_of(
    r"(?:last|past|next|first)"
    r" (?:two|three|four|five|few|several|\d+), the (?:former|latter), respectively, above, below,"
    "in the same (?!time|way|name), as follows, the following, aforementioned, thereafter, thereof, herein, here"
)
_RELATIVE = re.compile(rf"\b(?:{_NEAR_TIMES}|{_POINTERS})\b", re.IGNORECASE)
"""Words that depend on the date of writing or on another sentence."""

_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b(?!,? (?:[A-Z][a-z]+\.? \d|\d))")
"""A day of the week without a date. "On Sundays" is clear: it means every Sunday."""

_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|these|those|we|our|us|you|your|I|my)\b"
)
_MARKUP = re.compile(
    r"[`|<>{}\\\[\]=@#…\ufffd]|\*\*|__|https?:|\.\.\.|\w\.\w+\(|\( ?[;,]|\d{6} [A-Z]| : |[A-Z]{4,}\s[A-Z]{4,}"
    r"|©|[Cc]opyright \d|All rights reserved|\bPhoto by\b|Getty Images|[Ll]ast updated"
)
_NAME = re.compile(r"(?<![.!?\w])(?:[A-Z][\w’'-]*[a-z][\w’'-]*|[A-Z]{2,})")
_CALENDAR = frozenset(
    re.findall(
        r"\w+",
        "January February March April May June July August September October November December Jan Feb Mar Apr Jun Jul"
        " Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays"
        " Thursdays Fridays Saturdays Sundays I AM PM",
    )
)
_VAGUE = (
    "similar|first|second|third|fourth|final|last|new|further|recent|different|later|separate|few|total|number|teaser"
)
_GENERIC = re.compile(rf"(?:An? (?!{_VAGUE})|Any |Every |Whoever |Anyone |No |All )")
"""Beginnings about things in general: "a single ticket"."""

_THE = re.compile(r"(?:(?:In|On|At|For|From|Under|By) the|The)\b")
_VERBS = _one_of(
    r"is, are, was, were, be, been, has, have, had, will,"
    r" would, can, could, may, must, does, do, did, \w\w\w+ed, costs?,"
    "opens?, closes?, runs?, leaves?, starts?, ends?, carry, carries, holds?, keeps?, seats?, sells?, pays?, takes?,"
    "begins?, began, rose, fell, grew, won, lost, made,"
    " became, contains?, includes?, covers?, measures?, weighs?, lies,"
    "lives, stands?, serves?, needs?, gives?, shows?, says?,"
    " said, waits?, crosses, calls, goes, sits, reaches, employs?,"
    "operates?, provides?, requires?, consists?, comprises?, spent, sold, built, led, held,"
    "came, comes, went, saw, got, ran, met, wrote, beat, brought, bought, drew, broke, gave, spoke, stood, took, sent"
)
_VERB = re.compile(rf"\b(?:{_VERBS})\b")
_LOOSE = re.compile(r"\b(?:and|or|but|which|who|that|of|in|at|to|for|by|with|from|the|a|an)\W*\Z", re.IGNORECASE)
_PAIRS = (("(", ")"), ("“", "”"))


def is_standalone(sentence: str, context: str, common: Set[str] = frozenset()) -> bool:
    """Return whether a sentence is clear without the sentences before it.

    It must be complete, contain a verb and no markup, and refer neither to another sentence nor to the date of writing.
    Its subject must be a name, a word of the heading or title, or something in general ("a single ticket").

    Args:
        sentence: the sentence.
        context: the heading and the title above it.
        common: words that the documents also write in lower case; at the start of a sentence they are not names.
    """
    if not _SHORTEST <= len(sentence) <= _LONGEST or sentence[-1] not in ".!" or not sentence[0].isalnum():
        return False
    if (
        _UNCLEAR_START.match(sentence)
        or sentence[0].islower()
        or _MARKUP.search(sentence)
        or _RELATIVE.search(sentence)
    ):
        return False
    if sentence.count('"') % 2 or any(sentence.count(one) != sentence.count(other) for one, other in _PAIRS):
        return False
    verb = _VERB.search(sentence)
    if _WEEKDAY.search(sentence) or verb is None or _LOOSE.search(sentence[:-1]) or verb.start() == 0:
        return False
    return _has_clear_subject(sentence, verb.start(), context, common)


def _has_clear_subject(sentence: str, verb: int, context: str, common: Set[str]) -> bool:
    """Return whether the words before the verb name something and contain no pronoun."""
    subject = sentence[:verb]
    if _PRONOUN.search(subject):
        return False
    if _GENERIC.match(sentence):
        return True
    if any(each.start() > 0 and each[0] not in _CALENDAR for each in _NAME.finditer(subject)):
        return True
    if _THE.match(sentence):
        return False
    first = next(iter(subject.split()), "")
    return (_may_be_name(first) and first.casefold() not in common) or _shares_word(subject, context)


def _may_be_name(first: str) -> bool:
    return first[:1].isupper() and first not in _CALENDAR and len(first) > 2 and not first.endswith("ly")


def _shares_word(subject: str, context: str) -> bool:
    """Return whether the subject shares a word of four letters or more with the heading or title."""
    subject_words = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", subject)}
    context_words = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", context)}
    return bool(subject_words & context_words)
