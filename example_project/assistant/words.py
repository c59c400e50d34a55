"""What a text speaks of: a set of terms, in English and Chinese."""

from __future__ import annotations

import re

from assistant.facts import NAMES

__all__ = ["ASKS_NUMBER", "NUMBER", "sentences", "terms"]

NUMBER = "#"  # the term of a text that gives a number
STOP = set(
    "a an and are at by can compare differ do does for from have how in is it its long may many much of often on or "
    "that the there they this to was what when where which who will with".split()
)
FILLER = re.compile(r"[的了吗呢是在有要从和]|请问|不同|多少|多久|多长|什么|哪里|哪个|哪一年|分别|[几每各]")
ASKS_NUMBER = re.compile(r"how (?:many|much|long|often|high)|\b(?:when|fee|price|number)|几|多[少久高]|哪一年", re.I)


def sentences(text: str) -> list[str]:
    """Cut a passage into sentences."""
    return [part.strip() for part in re.split(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z0-9])", text) if part.strip()]


def terms(text: str) -> set[str]:
    """Return names as ``@name``, a number as ``#``, English words by their stem, Chinese as pairs of characters."""
    found = {NUMBER} if re.search(r"\d", text) else set()
    rest = " ".join(text.lower().split())
    for english, chinese in NAMES.items():
        if english.lower() in rest or chinese in rest:
            found.add(f"@{english}")
            rest = rest.replace(english.lower(), " ").replace(chinese, " ")
    found |= {re.sub(r"(?:ing|ed|es|s|e)$", "", word) for word in re.findall(r"[a-z]+", rest) if word not in STOP}
    for run in re.findall(r"[\u4e00-\u9fff]+", FILLER.sub(" ", rest)):
        found |= {run[i : i + 2] for i in range(len(run) - 1)}
    return found
