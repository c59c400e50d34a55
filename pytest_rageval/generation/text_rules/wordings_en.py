"""Which English sentences stand for themselves."""

from __future__ import annotations

import re
from collections.abc import Set

__all__ = ["is_clear"]

_SHORTEST, _LONGEST = 20, 240


def _one_of(words: str) -> str:
    """Return a pattern of words, which are separated by commas."""
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
_ALONE = (
    r"The (?:first|second|third|fourth|last|latest|next|others?|rest|pair|duo|two|three|win|loss|victory|defeat)"
    r" (?:came|was|is|were|are|has|had|will|took|went)\b"
)
"""Beginnings that count or name a thing of an earlier sentence."""

_OPENS_OPEN = re.compile(
    rf"(?:{_OPENINGS})\b|{_ALONE}|[\"“'(\[]|[A-Z]\.|\d{{1,2}}[,.:)]|(?:At )?\d{{1,2}}:\d\d|[^:\"“]{{1,40}}:\s"
    r"|By [A-Z][a-z]+ [A-Z]"
)
"""Beginnings that point to an earlier sentence, and those of lists, labels, bylines and time stamps."""

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
"""Words that only the day of writing, or another sentence, makes clear."""

_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b(?!,? (?:[A-Z][a-z]+\.? \d|\d))")
"""A day of the week without its date; "on Sundays" is each of them."""

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


def is_clear(sentence: str, context: str, common: Set[str] = frozenset()) -> bool:
    """Return whether a sentence says what it is about without the sentences before it.

    It is complete, holds a verb and no markup, points to no other sentence and to no day of its writing, and names a
    thing: by a name, by a word of the heading or title, or in general ("a single ticket").

    Args:
        sentence: the sentence.
        context: the heading and the title above it.
        common: words that the documents write with a small letter; at the start of a sentence they are no names.
    """
    if not _SHORTEST <= len(sentence) <= _LONGEST or sentence[-1] not in ".!" or not sentence[0].isalnum():
        return False
    if _OPENS_OPEN.match(sentence) or sentence[0].islower() or _MARKUP.search(sentence) or _RELATIVE.search(sentence):
        return False
    if sentence.count('"') % 2 or any(sentence.count(one) != sentence.count(other) for one, other in _PAIRS):
        return False
    verb = _VERB.search(sentence)
    if _WEEKDAY.search(sentence) or verb is None or _LOOSE.search(sentence[:-1]) or verb.start() == 0:
        return False
    return _names_a_thing(sentence, verb.start(), context, common)


def _names_a_thing(sentence: str, verb: int, context: str, common: Set[str]) -> bool:
    """Return whether the words before the verb name something, before any pronoun."""
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
    return (_may_be_name(first) and first.casefold() not in common) or _shares(subject, context)


def _may_be_name(first: str) -> bool:
    return first[:1].isupper() and first not in _CALENDAR and len(first) > 2 and not first.endswith("ly")


def _shares(subject: str, context: str) -> bool:
    """Return whether the subject has a word of the heading or title, of four letters or more."""
    ours = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", subject)}
    theirs = {word.casefold().rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", context)}
    return bool(ours & theirs)
