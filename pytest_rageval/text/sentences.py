"""Split English and Chinese text into sentences."""

from __future__ import annotations

import re

from pytest_rageval.text.language import has_chinese

__all__ = ["sentences"]

_STOP = re.compile(r"""[.!?;…。！？；]+[”’」』）】》"')\]]*""")
"""Possible ends of a sentence: stops, with their closing quotation marks and brackets."""

_NEXT = re.compile(r"""(\s*)["'“‘「『（【《(\[]*(\w*)""")
_LAST = re.compile(r"[^\s(\[“‘\"']*\Z")

_TITLES = re.compile(
    "adm|brig|capt|cmdr|col|dr|figs?|fr|gen|gov|hon|lt|maj|messrs|mrs?|ms|mt|prof|rep|rev|sen|sgt|ste?|supt"
)
"""Titles before a name; a dot after them never ends a sentence."""

_BEFORE_NUMBER = re.compile("apr|art|aug|ch|dec|eq|feb|jan|jul|jun|mar|nos?|nov|oct|p|para|pp|sec|sept?|vols?")
"""Abbreviations before a number; a dot after them does not end a sentence if a digit follows."""

_ABBREVIATIONS = re.compile(
    "al|approx|ave|bros|ca|cf|co|corp|dept|dist|eds?|est|etc|ext|gmbh|inc|jr|ltd|ph\\.d|plc|sq|sr|tel|univ|viz|vs"
    r"|(?:[a-z]\.)*[a-z]"
)
"""Abbreviations at the end or inside of a sentence; the last pattern matches initials ("j", "u.s")."""

_STARTERS = re.compile(
    "A|After|All|Although|An|And|As|At|Because|Before|Both|But|By|During|Each|For|From|He|Her|His|How|However|I|If|In"
    "|It|Its|Later|Many|Most|My|No|On|One|Our|Several|She|Since|So|Some|That|The|Their|Then|There|These|They|This|Those"
    "|Today|Two|Under|Until|We|What|When|Where|While|Who|Why|With|You|Your"
)
"""Capitalised words that usually begin a sentence and do not continue a name."""


def sentences(text: str) -> list[str]:
    """Split ``text`` into its sentences, in order and without a change; leave out empty sentences.

    These end a sentence:

    - a line break;
    - 。！？； and …… with the closing quotation marks after them, unless more punctuation follows;
    - ASCII stops next to Chinese;
    - ``.``, ``!``, ``?`` and ``...`` before white space, unless the next word begins with a small letter or the stop
      belongs to a title ("Dr."), an abbreviation ("No. 5"), an initial ("J. Smith") or a list number ("1. First").

    Abbreviations such as "Inc." and "U.S." end a sentence only before a word that often begins one. Time is linear in
    the length of the text.
    """
    pieces: list[str] = []
    for line in text.splitlines():
        begin = 0
        for stop in _STOP.finditer(line):
            if _ends(line, begin, stop):
                pieces.append(line[begin : stop.end()])
                begin = stop.end()
        pieces.append(line[begin:])
    return [sentence for piece in pieces if (sentence := piece.strip())]


def _ends(line: str, begin: int, stop: re.Match[str]) -> bool:
    """Return whether the sentence that starts at ``begin`` ends with ``stop``."""
    marks = stop[0]
    following = line[stop.end() : stop.end() + 1]
    if any(mark in marks for mark in ("。", "！", "？", "；", "……")):
        return following not in tuple("，、：,:—")
    if has_chinese(following) or (has_chinese(line[stop.start() - 1 : stop.start()]) and not following.isalnum()):
        return True
    if marks[0] == ";" or not following.isspace():
        return False
    after = _NEXT.match(line, stop.end())
    word = after[2] if after else ""
    if word[:1].islower():
        return False
    return marks[0] != "." or marks[:2] == ".." or _full_stop(line, begin, stop.start(), word)


def _full_stop(line: str, begin: int, dot: int, word: str) -> bool:
    """Return whether the single ``.`` at ``dot``, before ``word``, is a full stop, not part of an abbreviation."""
    tail = _LAST.search(line, max(begin, dot - 20), dot)
    last = tail[0].lower() if tail else ""
    if _TITLES.fullmatch(last) or (_BEFORE_NUMBER.fullmatch(last) and word[:1].isdecimal()):
        return False
    if last.isdecimal() and not line[begin : dot - len(last)].strip():
        return False
    if _ABBREVIATIONS.fullmatch(last):
        return _STARTERS.fullmatch(word) is not None
    return True
