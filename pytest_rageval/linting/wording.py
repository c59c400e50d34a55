"""Check the whole dataset: languages, yes/no bias, names of topics and tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_rageval.datasets.omnieval import TASK_OF
from pytest_rageval.datasets.topics import TOPICS
from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.linting.finding import Finding, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.yes_no import yes_or_no
from pytest_rageval.model.case import Instance
from pytest_rageval.model.facets import ABILITIES, TASKS
from pytest_rageval.text.language import main_language

__all__ = ["language", "language_mix", "stray_name", "yes_no_bias"]

FEWEST, MAX_SHARE = 10, 0.8
"""Smallest number of yes/no questions that are checked, and largest share of one answer without a bias."""

KNOWN = {
    "task": frozenset({*TASK_OF.values(), *TASKS, *ABILITIES}),
    "topic_1": frozenset(name for topic in TOPICS for name in (topic.zh_1, topic.en_1)),
    "topic": frozenset(name for topic in TOPICS for name in (topic.zh, topic.en)),
}
"""Facet -> known names: OmniEval's topics and tasks, and our tasks and abilities."""


def yes_no_bias(subject: Subject) -> Iterator[Finding]:
    """Find a dataset in which almost all yes/no questions have the same answer."""
    answers = [yes_or_no(each.gold[0][0]) for each in subject.instances if len(each.gold) == 1 and each.gold[0]]
    yes, no = answers.count(True), answers.count(False)
    total = yes + no
    if total >= FEWEST and max(yes, no) > MAX_SHARE * total:
        word, count = ("yes", yes) if yes > no else ("no", no)
        problem = (
            f"{count} of {total} yes/no questions have the gold {word}: a system that always says {word} gets these"
        )
        yield Finding("yes_no_bias", "warning", "", subject.name, problem)


def language(subject: Subject) -> Iterator[Finding]:
    """Find English questions in records with the language "zh", and Chinese questions with "en"."""
    for instance in subject.instances:
        detected = main_language(instance.question, instance.language)
        if instance.language in ("en", "zh") and detected != instance.language:
            problem = f"the language is {instance.language}, but the question reads as {detected}"
            yield record_finding(instance, "language", "warning", f"{problem}: {short_repr(instance.question)}")


def language_mix(subject: Subject) -> Iterator[Finding]:
    """Report a dataset with several languages."""
    counts = Counter(instance.language for instance in subject.instances)
    if len(counts) > 1:
        shares = ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda name: (-counts[name], name)))
        problem = f"the records are in {len(counts)} languages ({shares}); slice by the facet language"
        yield Finding("language_mix", "note", "", subject.name, problem)


def stray_name(subject: Subject) -> Iterator[Finding]:
    """Find names of topics and tasks that OmniEval does not have, if most names in the dataset are OmniEval's."""
    for facet, names in KNOWN.items():
        records: dict[str, list[Instance]] = {}
        for instance in subject.instances:
            if instance.facets.get(facet):
                records.setdefault(instance.facets[facet], []).append(instance)
        strays = records.keys() - names
        for name in strays if 2 * len(strays) < len(records) else ():
            first = min(records[name], key=lambda each: (len(each.origin), each.origin, each.id))
            what = f"the {facet} {short_repr(name)} of {len(records[name])} records (this is the first)"
            problem = f"{what} is unknown to OmniEval, unlike most others; {did_you_mean(name, names)}"
            yield record_finding(first, "stray_name", "note", problem)
