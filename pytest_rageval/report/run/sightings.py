"""Warn if a record mode or a budget saw no call of a user's system at all: nothing was replayed or bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.analysis.usage import outcomes_with_answer, usage_value
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.unseen_calls import UNSEEN
from pytest_rageval.report.text.lines import few_of

__all__ = ["Limits", "Sightings", "unsighted"]


@dataclass(frozen=True, slots=True)
class Sightings:
    """What processes saw of the calls of users' systems.

    Attributes:
        setting: the setting that makes requests visible; "" without one.
        requests: the number of requests to hosts that it names.
        elsewhere: host and port -> number of requests that systems sent to other hosts.
        answers: system -> number of its answers.
        seen: the systems of which a call was recorded, replayed or charged.
    """

    setting: str = ""
    requests: int = 0
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)
    seen: Sequence[str] = ()

    def __add__(self, other: Sightings) -> Sightings:
        return Sightings(
            self.setting or other.setting,
            self.requests + other.requests,
            Counter(self.elsewhere) + Counter(other.elsewhere),
            Counter(self.answers) + Counter(other.answers),
            tuple(dict.fromkeys((*self.seen, *other.seen))),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What needs to see the calls of a system.

    Attributes:
        record_mode: the record mode, if it is meant for the systems.
        budget: whether a budget bounds the session.
        partial: whether it bounds only what is seen.
    """

    record_mode: str | None = None
    budget: bool = False
    partial: bool = False


def unsighted(
    direct: Mapping[str, str], sightings: Sightings, outcomes: Sequence[Outcome], limits: Limits
) -> tuple[str, bool]:
    """Return a sentence if no call of a system was seen, or "", and whether the session must fail for it.

    It fails if requests went to hosts that no pattern names, or if a budget bounded nothing. Otherwise the systems may
    have asked no model.

    Args:
        direct: system that may ask models directly -> its name or fixture in the user's words.
        sightings: what was seen.
        outcomes: all outcomes.
        limits: what needs to see the calls.
    """
    names = [name for name in direct if sightings.answers.get(name) and name not in sightings.seen]
    if sightings.requests or not names:
        return "", False
    costs = [usage_value("cost_usd", outcome) for outcome in outcomes_with_answer(outcomes) if outcome.system in names]
    unbound = limits.budget and bool(sightings.setting) and None in costs  # without the setting it is refused, or noted
    effects = list(_effects(limits.record_mode, unbound=unbound))
    if not effects:
        return "", False
    shown = few_of(tuple(direct[name] for name in names), 3)
    unrecorded = limits.record_mode is not None and bool(sightings.elsewhere)
    fails = unrecorded or (unbound and not limits.partial)
    end = "; until then the exit status is 1" if fails else ""
    return f"{UNSEEN}: {_saw(sightings, shown)}, so {' and '.join(effects)}; {_to_see(sightings, unbound)}{end}", fails


def _effects(record_mode: str | None, *, unbound: bool) -> Iterator[str]:
    """Yield what the record mode and the budget did not do."""
    if record_mode is not None:
        yield f"the record mode {record_mode} {'replayed' if record_mode == 'none' else 'recorded'} none of them"
    if unbound:
        yield "the budget bounded none of them"


def _saw(sightings: Sightings, shown: str) -> str:
    """Return which setting saw none of a system's requests, and where they went instead."""
    if not sightings.setting:
        return f"no setting names the hosts that {shown} asks"
    saw = f"{sightings.setting} saw no request of {shown}"
    if not sightings.elsewhere:
        return saw
    most = sorted(sightings.elsewhere.items(), key=lambda each: (-each[1], each[0]))
    places = few_of(tuple(f"{number:,} to {host}" for host, number in most), 3).replace(" ", " went ", 1)
    return f"{saw}: {places}, which it does not name"


def _to_see(sightings: Sightings, unbound: bool) -> str:
    """Return what to do."""
    partial = ", or give --rag-budget-partial" if unbound else ""
    if sightings.elsewhere:
        return f"name {'this host' if len(sightings.elsewhere) == 1 else 'the hosts of its models'} there{partial}"
    if sightings.setting == "rag_proxy":
        return f"let its client read OPENAI_BASE_URL{partial}"
    if sightings.setting:
        clients = "httpx, requests or aiohttp (urllib.request is not seen)"
        return f"if it asks a model, name its host there, and ask it with {clients}{partial}"
    return "if it asks a model, name its host in rag_record_http, or decorate the function that asks with @recorded"
