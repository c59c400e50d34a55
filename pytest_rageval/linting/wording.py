"""Languages, yes and no, and names of topics and tasks, over the whole dataset."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pytest_rageval.datasets.omnieval import TASK_OF
from pytest_rageval.datasets.topics import TOPICS
from pytest_rageval.errors import did_you_mean, found
from pytest_rageval.linting.finding import Finding, about
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import CJK

__all__ = ["affirms", "language", "language_mix", "stray_name", "yes_no_bias"]

FEWEST, MOST = 10, 0.8
"""So many yes/no questions tell of a bias, where more than this share of them has one answer."""

KNOWN = {
    "task": frozenset(TASK_OF.values()),
    "topic_1": frozenset(name for topic in TOPICS for name in (topic.zh_1, topic.en_1)),
    "topic": frozenset(name for topic in TOPICS for name in (topic.zh, topic.en)),
}
"""The names that OmniEval has, by facet."""

_END = r"(?:\s*$|\s*[,;:!，。；：！、—]|\.(?:\s|$)(?!\s*\d)|\s+-)"
_YES = re.compile(rf"(?:yes|true|correct|是的?|对的?|正确|可以|能|会){_END}")
_NO = re.compile(rf"(?:no|false|incorrect|否|不是的?|不对|不正确|错误?|不可以|不能|不会|没有){_END}")
_HAN = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile("[A-Za-z]+")


def affirms(answer: str) -> bool | None:
    """Return whether an answer is a yes or begins with one, False for a no, None for any other."""
    text = fold(answer)
    if _YES.match(text):
        return True
    return False if _NO.match(text) else None


def yes_no_bias(subject: Subject) -> Iterator[Finding]:
    """Find a dataset whose yes/no questions have nearly all the same answer."""
    said = [affirms(each.gold[0][0]) for each in subject.instances if len(each.gold) == 1 and each.gold[0]]
    yes, no = said.count(True), said.count(False)
    total = yes + no
    if total >= FEWEST and max(yes, no) > MOST * total:
        word, count = ("yes", yes) if yes > no else ("no", no)
        problem = f"{count} of {total} yes/no questions have the gold {word}: who always says it is right in as many"
        yield Finding("yes_no_bias", "warning", "", subject.name, problem)


def language(subject: Subject) -> Iterator[Finding]:
    """Find questions that are written in the other of the languages "en" and "zh" than their record says."""
    for instance in subject.instances:
        han, latin = len(_HAN.findall(instance.question)), len(_LATIN_WORD.findall(instance.question))
        written = "zh" if han > latin else "en" if latin and not han else instance.language
        if instance.language in ("en", "zh") and written != instance.language:
            problem = f"the language is {instance.language}, and the question reads as {written}"
            yield about(instance, "language", "warning", f"{problem}: {found(instance.question)}")


def language_mix(subject: Subject) -> Iterator[Finding]:
    """Tell of a dataset in several languages."""
    counts = Counter(instance.language for instance in subject.instances)
    if len(counts) > 1:
        shares = ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda name: (-counts[name], name)))
        problem = f"the records are in {len(counts)} languages ({shares}); slice by the facet language"
        yield Finding("language_mix", "note", "", subject.name, problem)


def stray_name(subject: Subject) -> Iterator[Finding]:
    """Find names of topics and tasks that OmniEval does not have, where most of the dataset's names are OmniEval's."""
    for facet, known in KNOWN.items():
        bearers: dict[str, list[Instance]] = {}
        for instance in subject.instances:
            if instance.facets.get(facet):
                bearers.setdefault(instance.facets[facet], []).append(instance)
        strays = bearers.keys() - known
        for name in strays if 2 * len(strays) < len(bearers) else ():
            first = min(bearers[name], key=lambda each: (len(each.origin), each.origin, each.id))
            whose = f"the {facet} {found(name)}, of {len(bearers[name])} records from here on,"
            problem = f"{whose} is none of OmniEval's, as others are; {did_you_mean(name, known)}"
            yield about(first, "stray_name", "note", problem)
