"""Find names in a text: runs of capitalised words."""

from __future__ import annotations

import re

from pytest_rageval.systems.question import FUNCTION_WORDS

__all__ = ["names_in"]

_LINKS = re.compile(r"of|the|de|la|les?|du|des|van|von|de[rn]|d[aio]|del|bin|ibn|al|el|y|[–&-]")
"""Words in lower case within a name."""

_POSSESSIVE = re.compile(r"['’]s$")
_SENTENCE_END = re.compile(r"[.?!;。？！；]$")
_INITIALS = re.compile(r"(?:[A-Z]\.)+|(?:Mrs?|Ms|Dr|St|[JS]r|Lt|Col|Gen|Prof)\.")
"""Words whose point ends no sentence, such as "J." and "Dr."."""


def names_in(text: str) -> list[str]:
    """Return the distinct runs of capitalised words of a text, in order.

    A run may contain numbers, "of" and the like between its words, and a remark in parentheses at its end. A function
    word at its start is left out if a sentence begins with it.
    """
    names: list[str] = []
    run: list[str] = []
    links: list[str] = []
    starts = True
    for word in [*text.split(), ""]:
        bare = word.strip("\"'“”‘’([")
        if bare[:1].isupper() or bare[:1].isdigit():
            if not (starts and not run and bare.rstrip(",?.").casefold() in FUNCTION_WORDS):
                run += [*links, word]
                links = []
        elif run and _LINKS.fullmatch(bare.casefold()):
            links.append(word)
            continue
        else:
            names.append(_trimmed(run))
            run, links = [], []
        starts = bool(_SENTENCE_END.search(word)) and not _INITIALS.fullmatch(word)
        if run and (starts or _POSSESSIVE.search(word.rstrip(",.?"))):
            names.append(_trimmed(run))
            run, links = [], []
    return [name for name in dict.fromkeys(names) if any(letter.isupper() for letter in name)]


def _trimmed(run: list[str]) -> str:
    """Return the words of a run as a name, without quotes, a final 's and half a pair of parentheses."""
    name = _POSSESSIVE.sub("", " ".join(run).strip(" ,.;:?\"'“”‘’"))
    if name.count("(") != name.count(")"):
        name = name.partition("(")[0] if "(" in name.lstrip("(") else name.strip("()")
    return name.strip(" ,;")
