"""Warn if a record mode or a budget saw none of a system's calls, and so had no effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.analysis.usage import outcomes_with_answer, usage_value
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.unseen_calls import UNSEEN
from pytest_rageval.report.text.lines import few_of

__all__ = ["CallLimits", "SeenCalls", "unseen_systems_warning"]


@dataclass(frozen=True, slots=True)
class SeenCalls:
    """The calls of users' systems that the processes of a session saw.

    Attributes:
        setting: the setting that makes requests visible, such as ``rag_record_http``; "" without one.
        requests: number of requests to the hosts that the setting names.
        elsewhere: host and port -> number of requests that systems sent to other hosts.
        answers: system -> number of its answers.
        seen: the systems with a recorded, replayed or charged call.
    """

    setting: str = ""
    requests: int = 0
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)
    seen: Sequence[str] = ()

    def __add__(self, other: SeenCalls) -> SeenCalls:
        return SeenCalls(
            self.setting or other.setting,
            self.requests + other.requests,
            Counter(self.elsewhere) + Counter(other.elsewhere),
            Counter(self.answers) + Counter(other.answers),
            tuple(dict.fromkeys((*self.seen, *other.seen))),
        )


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The settings that only work if the calls of a system are seen.

    Attributes:
        record_mode: the record mode; None if it applies only to judges.
        budget: whether a budget limits the session.
        partial: whether ``--rag-budget-partial`` accepts that unseen calls are not limited.
    """

    record_mode: str | None = None
    budget: bool = False
    partial: bool = False


def unseen_systems_warning(
    direct: Mapping[str, str], calls: SeenCalls, outcomes: Sequence[Outcome], limits: CallLimits
) -> tuple[str, bool]:
    """Return a warning if no call of a system was seen, or "", and whether the session must fail.

    The session fails if requests went to hosts that no setting names, or if a budget did not limit them. Otherwise the
    systems may have asked no model at all.

    Args:
        direct: system that may ask models directly -> its name or fixture in the user's words.
        calls: the calls that were seen.
        outcomes: all outcomes.
        limits: the settings that need to see the calls.
    """
    names = [name for name in direct if calls.answers.get(name) and name not in calls.seen]
    if calls.requests or not names:
        return "", False
    costs = [usage_value("cost_usd", outcome) for outcome in outcomes_with_answer(outcomes) if outcome.system in names]
    # without a setting, another check refuses the budget or warns
    unlimited = limits.budget and bool(calls.setting) and None in costs
    effects = list(_effects(limits.record_mode, unlimited=unlimited))
    if not effects:
        return "", False
    shown = few_of(tuple(direct[name] for name in names), 3)
    unrecorded = limits.record_mode is not None and bool(calls.elsewhere)
    fails = unrecorded or (unlimited and not limits.partial)
    end = "; until then the exit status is 1" if fails else ""
    advice = _advice(calls, unlimited=unlimited)
    return f"{UNSEEN}: {_requests_text(calls, shown)}, so {' and '.join(effects)}; {advice}{end}", fails


def _effects(record_mode: str | None, *, unlimited: bool) -> Iterator[str]:
    """Yield that the record mode and the budget had no effect."""
    if record_mode is not None:
        yield f"the record mode {record_mode} {'replayed' if record_mode == 'none' else 'recorded'} none of them"
    if unlimited:
        yield "the budget bounded none of them"


def _requests_text(calls: SeenCalls, shown: str) -> str:
    """Return which setting saw none of a system's requests, and where they went instead."""
    if not calls.setting:
        return f"no setting names the hosts that {shown} asks"
    saw = f"{calls.setting} saw no request of {shown}"
    if not calls.elsewhere:
        return saw
    by_count = sorted(calls.elsewhere.items(), key=lambda each: (-each[1], each[0]))
    places = few_of(tuple(f"{number:,} to {host}" for host, number in by_count), 3).replace(" ", " went ", 1)
    return f"{saw}: {places}, which it does not name"


def _advice(calls: SeenCalls, *, unlimited: bool) -> str:
    """Return what the user can do to make the calls visible."""
    partial = ", or give --rag-budget-partial" if unlimited else ""
    if calls.elsewhere:
        return f"name {'this host' if len(calls.elsewhere) == 1 else 'the hosts of its models'} there{partial}"
    if calls.setting == "rag_proxy":
        return f"let its client read OPENAI_BASE_URL{partial}"
    if calls.setting:
        clients = "httpx, requests or aiohttp (urllib.request is not seen)"
        return f"if it asks a model, name its host there, and ask it with {clients}{partial}"
    return "if it asks a model, name its host in rag_record_http, or decorate the function that asks with @recorded"
