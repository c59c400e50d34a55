"""Find names in a text: runs of capitalised words."""

from __future__ import annotations

import re

from pytest_rageval.systems.question import FUNCTION_WORDS

__all__ = ["names_in"]

_LINKS = re.compile(r"of|the|de|la|les?|du|des|van|von|de[rn]|d[aio]|del|bin|ibn|al|el|y|[–&-]")
"""Lower-case words inside a name."""

_POSSESSIVE = re.compile(r"['’]s$")
_SENTENCE_END = re.compile(r"[.?!;。？！；]$")
_BREAK = re.compile(r",(?=\s+\d)")
"""Ends a name: a comma before a number."""

_DATE = re.compile(
    r"(?:[0-9,. ]|January|February|March|April|May|June|July|August|September|October|November|December)+"
)
_INITIALS = re.compile(r"(?:[A-Z]\.)+|(?:Mrs?|Ms|Dr|St|[JS]r|Lt|Col|Gen|Prof)\.")
"""Words with a dot that does not end a sentence, such as "J." and "Dr."."""


def names_in(text: str) -> list[str]:
    """Return the distinct runs of capitalised words of a text, in order.

    A run may contain numbers, words such as "of" between its words, and a remark in parentheses at its end. A function
    word that begins a sentence is left out. "Widow's Bridge" yields "Widow", "Widow's Bridge" and "Bridge". Dates are
    left out.
    """
    names: list[str] = []
    run: list[str] = []
    links: list[str] = []
    owner: list[str] = []
    starts_sentence = True
    for word in [*_BREAK.sub(" ;", text).split(), ""]:
        bare = word.strip("\"'“”‘’([")
        if bare[:1].isupper() or bare[:1].isdigit():
            if not (starts_sentence and not run and bare.rstrip(",?.").casefold() in FUNCTION_WORDS):
                run += [*links, word]
                links = []
        elif run and _LINKS.fullmatch(bare.casefold()):
            links.append(word)
            continue
        else:
            names += _names_of(run, owner)
            run, links, owner = [], [], []
        starts_sentence = bool(_SENTENCE_END.search(word)) and not _INITIALS.fullmatch(word)
        is_possessive = bool(_POSSESSIVE.search(word.rstrip(",.?")))
        if run and (starts_sentence or is_possessive):
            names += _names_of(run, owner)
            run, links, owner = [], [], run if is_possessive else []
    return [name for name in dict.fromkeys(names) if any(map(str.isupper, name)) and not _DATE.fullmatch(name)]


def _names_of(run: list[str], owner: list[str]) -> list[str]:
    """Return the name of a run; if it has an owner, the name with the owner comes first."""
    return [_name_text([*owner, *run]), _name_text(run)] if owner and run else [_name_text(run)]


def _name_text(run: list[str]) -> str:
    """Return the words of a run as a name, without quotes, a final 's and half a pair of parentheses."""
    name = _POSSESSIVE.sub("", " ".join(run).strip(" ,.;:?\"'“”‘’"))
    if name.count("(") != name.count(")"):
        name = name.partition("(")[0] if "(" in name.lstrip("(") else name.strip("()")
    return name.strip(" ,;")
