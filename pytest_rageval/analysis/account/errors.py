"""Group the cases that ended in an error by cause, and name the command that fixes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.analysis.clusters import has_repeats
from pytest_rageval.model.outcome import Outcome

__all__ = ["FIXES", "error_findings"]

MAX_GROUPS = 3
"""Highest number of groups of one kind of error; with more messages, the kind is one group."""

MAX_MESSAGE = 160
"""Longest error message that a sentence quotes, in characters."""

_RESUME = "pytest --rag-resume"

FIXES: dict[str, str] = {
    "not_recorded": "pytest --rag-record-mode new_episodes",
    **dict.fromkeys(
        ("rate_limited", "timeout", "connection", "server_error", "truncated", "tool_unavailable", "no_reply"), _RESUME
    ),
}
"""Kind of error -> the command that may fix it: record missing replies, or run only the failed cases again."""

_VARIABLE_PART = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8,}\b|\d+")
"""What differs between messages with the same cause: quoted texts, hex ids and numbers."""


def error_findings(outcomes: Sequence[Outcome], *, texts: bool) -> Iterator[Finding]:
    """Yield one finding for each error message, the most frequent first.

    Messages that differ only in quoted texts and numbers count as the same. Without ``texts``, there is one finding for
    each kind of error, and no message is quoted.
    """
    completed = [outcome for outcome in outcomes if outcome.status != "skipped"]
    failed = [outcome for outcome in completed if outcome.status == "error"]
    total = f"{len(completed)} {'run' if has_repeats(completed) else 'case'}{'' if len(completed) == 1 else 's'}"
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in failed:
        kind = outcome.error_type or "error"
        groups.setdefault((kind, _VARIABLE_PART.sub("…", _message(outcome)) if texts else ""), []).append(outcome)
    merged_kinds = {kind for kind, n in Counter(kind for kind, _ in groups).items() if n > MAX_GROUPS}
    merged: dict[tuple[str, str], list[Outcome]] = {}
    for (kind, message), group in groups.items():
        merged.setdefault((kind, "" if kind in merged_kinds else message), []).extend(group)
    for (kind, _), group in sorted(merged.items(), key=lambda each: (-len(each[1]), each[0])):
        yield _finding(kind, group, total, texts=texts)


def _finding(kind: str, group: Sequence[Outcome], total: str, *, texts: bool) -> Finding:
    message = ""
    if texts:
        for_instance = ", for instance" if len(set(map(_message, group))) > 1 else ""
        quote = _message(group[0])
        if kind in FIXES:  # the advice after the semicolon is replaced by the command
            quote = quote.partition("; ")[0]
        message = f"{for_instance}: {_short(quote)}"
    testbeds = {outcome.testbed for outcome in group}
    return Finding(
        "errors",
        kind,
        f"error {kind}: {len(group)} of {total}{message}",
        testbed=group[0].testbed if len(testbeds) == 1 else "",
        n=len(group),
        cases=tuple(outcome.nodeid for outcome in group),
        command=FIXES.get(kind, ""),
    )


def _message(outcome: Outcome) -> str:
    return (outcome.error or "").strip().partition("\n")[0]


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 1]}…"
