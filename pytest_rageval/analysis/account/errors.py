"""Group the cases that ended in an error by their cause, with the command that fixes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.analysis.clusters import has_repeats
from pytest_rageval.model.outcome import Outcome

__all__ = ["FIXES", "error_findings"]

MOST = 3
"""Groups of one kind of error; if there are more, the kind is one group."""

LONGEST = 160
"""Characters of an error's message in its sentence. What to do follows a semicolon; the command says it instead."""

_AGAIN = "pytest --rag-resume"

FIXES: dict[str, str] = {
    "not_recorded": "pytest --rag-record-mode new_episodes",
    **dict.fromkeys(
        ("rate_limited", "timeout", "connection", "server_error", "truncated", "tool_unavailable", "no_reply"), _AGAIN
    ),
}
"""Kind of error -> the command that may fix it: record what is missing, or ask only the errors again."""

_OWN = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8,}\b|\d+")


def error_findings(outcomes: Sequence[Outcome], *, texts: bool) -> Iterator[Finding]:
    """Yield a finding for each error message, the most frequent first; without ``texts`` for each kind of error.

    Messages that differ only in quoted texts and numbers are one.
    """
    asked = [outcome for outcome in outcomes if outcome.status != "skipped"]
    failed = [outcome for outcome in asked if outcome.status == "error"]
    total = f"{len(asked)} {'run' if has_repeats(asked) else 'case'}{'' if len(asked) == 1 else 's'}"
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in failed:
        kind = outcome.error_type or "error"
        groups.setdefault((kind, _OWN.sub("…", _message(outcome)) if texts else ""), []).append(outcome)
    several = {kind for kind, n in Counter(kind for kind, _ in groups).items() if n > MOST}
    merged: dict[tuple[str, str], list[Outcome]] = {}
    for (kind, message), group in groups.items():
        merged.setdefault((kind, "" if kind in several else message), []).extend(group)
    for (kind, _), group in sorted(merged.items(), key=lambda each: (-len(each[1]), each[0])):
        yield _finding(kind, group, total, texts=texts)


def _finding(kind: str, group: Sequence[Outcome], total: str, *, texts: bool) -> Finding:
    message = ""
    if texts:
        such = ", for instance" if len(set(map(_message, group))) > 1 else ""
        said = _message(group[0])
        message = f"{such}: {_short(said.partition('; ')[0] if kind in FIXES else said)}"
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
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
