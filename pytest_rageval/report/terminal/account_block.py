"""The last block of the output: verdict, causes with examples, gates, where to look."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE, Account, Finding
from pytest_rageval.analysis.clusters import has_repeats
from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.facets import place_text
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.examples import Example, examples_of
from pytest_rageval.report.run.gate_values import values_of_result
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.terminal.example_lines import example_lines
from pytest_rageval.report.text.fit_text import cut
from pytest_rageval.report.text.lines import Line, Mark, Style, counted, dollars, interval, wrap
from pytest_rageval.report.text.tables import ABSENT, plain_table

__all__ = ["SessionFacts", "account_lines"]

_STYLES: dict[str, Style] = {"passed": "green", "failed": "red", "open": "yellow"}

MAX_FURTHER_DROPS = 2
"""Further drops of a cause to show; -v shows all."""

MAX_GATES = 10
"""Failed gates to show; -v shows all."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Facts about a session that its `Run` does not have.

    Attributes:
        seconds: duration of the session; None if unknown.
        page: path of the written HTML page, relative to the current folder; "" if there is none.
        above: path from the current folder up to the rootdir, such as ``../``; "" if it is the rootdir.
    """

    seconds: float | None = None
    page: str = ""
    above: str = ""


def account_lines(run: Run, facts: SessionFacts, width: int, verbosity: int) -> Iterator[Line]:
    """Yield the lines of the block.

    Args:
        run: the run, with evaluated gates.
        facts: facts about the session.
        width: columns of the terminal.
        verbosity: pytest's verbosity. With -1 the block has only the verdict, the first cause, the failed gates and
            where to look; with -2 only the verdict, and nothing if the run passed.
    """
    account = account_of(run)
    if verbosity < -1 and account.state == "passed":
        return
    yield from _head(run, account, facts, width)
    if verbosity < -1:
        return
    examples = examples_of(run, account)
    if verbosity >= 0:
        for line in _findings(account, examples, width, verbosity):
            yield from wrap(line, width, indent=6)
    elif account.causes:
        yield from wrap(Line(ascii_safe(f"  1 {account.causes[0].sentence}")), width, indent=6)
    yield from _gates([gate.result for gate in run.gates], width, verbosity)
    if account.causes:
        yield from _where_to_look(run, account, examples, facts, width)


def _head(run: Run, account: Account, facts: SessionFacts, width: int) -> Iterator[Line]:
    text = f"rag: {account.verdict}"
    state = text.partition(" - ")[0]
    marks = (Mark(len("rag: "), len(state), _STYLES[account.state]),)
    figures = _figures(run, facts)
    room = width - len(text) - len(figures)
    if room >= 2:
        yield Line(f"{text}{' ' * room}{figures}", "", marks)
        return
    for line in wrap(Line(text), width):
        yield line._replace(marks=marks) if line.text.startswith(state) else line
    yield from wrap(Line(f"     {figures}"), width, indent=5)


def _figures(run: Run, facts: SessionFacts) -> str:
    """Return ``417 cases, 0 errors, 5.9 s, $0``; also the cases that were skipped or did not run, if any."""
    outcomes = list(run.outcomes.values())
    errors = sum(outcome.status == "error" for outcome in outcomes)
    skipped = sum(outcome.status == "skipped" for outcome in outcomes)
    parts = [counted(len(outcomes), "run" if has_repeats(outcomes) else "case"), counted(errors, "error")]
    parts += [f"{skipped} skipped"] if skipped else []
    if unfinished := run.unfinished().total():
        parts.append(f"{unfinished} not run")
    if facts.seconds is not None:
        parts.append(f"{facts.seconds / 60:.0f} min" if facts.seconds >= 120 else f"{facts.seconds:.1f} s")
    calls = run.calls()
    cost = calls.cost_usd
    at_least = "at least " if calls.on_their_way else ""
    now = f" (spent now {dollars(calls.spent_usd)})" if calls.spent_usd is not None and calls.spent_usd != cost else ""
    parts.append("cost unknown" if cost is None else f"{at_least}{dollars(cost)}{now}")
    return ", ".join(parts)


def _findings(account: Account, examples: dict[str, list[Example]], width: int, verbosity: int) -> Iterator[Line]:
    """Yield the numbered causes with their examples, then improvements; with ``-v`` also noise."""
    number = 0
    for finding in account.findings:
        if finding.kind in CAUSES_OF_FAILURE:
            number += 1
            yield Line(ascii_safe(f"{number:>3} {finding.sentence}"))
            yield from _details(finding, examples.get(finding.sentence, ()), width, verbosity)
        elif finding.kind == "improvement" or verbosity > 0:
            yield Line(ascii_safe(f"    {finding.sentence}"))


def _details(finding: Finding, examples: Sequence[Example], width: int, verbosity: int) -> Iterator[Line]:
    for text in finding.also[: None if verbosity > 0 else MAX_FURTHER_DROPS]:
        yield Line(ascii_safe(f"      also: {text}"))
    for example in examples:
        yield from example_lines(example, width)
    if finding.command:
        yield Line(f"      to fix it: {finding.command}")


def _gates(results: Sequence[GateResult], width: int, verbosity: int) -> Iterator[Line]:
    """Yield the gates that failed or may hide a drop, and the number of other gates."""
    failed = [result for result in results if result.status == "failed"]
    inconclusive = [result for result in results if result.undecided]
    shown = failed[: None if verbosity > 0 else MAX_GATES] + (inconclusive if verbosity >= 0 else [])
    if shown:
        yield from _gate_table(shown, width)
    rest = [f"{len(failed) - MAX_GATES} more failed"] if verbosity <= 0 and len(failed) > MAX_GATES else []
    passed = sum(result.status == "passed" and not result.undecided for result in results)
    parts = sum(is_not_decided(result.status, result.reason) for result in results)
    skipped = sum(result.status == "skipped" for result in results) - parts
    rest += [f"{n} {what}" for n, what in ((passed, "passed"), (parts, "not decided"), (skipped, "skipped")) if n]
    if shown and rest and verbosity >= 0:
        yield Line(f"  {', '.join(rest)} (-v lists them)")


def _gate_table(results: Sequence[GateResult], width: int) -> Iterator[Line]:
    """Yield a table of gates without empty columns, and without the least important columns that do not fit.

    If the table is still too wide, the middle of each gate is cut, so that its metric, bound and values stay.
    """
    from wcwidth import wcswidth

    several = len({result.scope for result in results}) > 1
    widest = max(len(_state(result)) for result in results)
    labels = [
        f"  {_state(result):{widest}}  {f'{result.scope}: ' if several else ''}{result.gate}" for result in results
    ]
    values = [values_of_result(result) for result in results]
    columns = {
        "was": [each.was for each, _ in values],
        "now": [each.now for each, _ in values],
        "n": [str(n) for _, n in values],
        "95 %": [interval(result.ci95) for result in results],
        "at": [place_text(result.own_slice) for result in results],
    }
    filled = {name: column for name, column in columns.items() if set(column) - {ABSENT, ""}}
    for least_important in ("95 %", "at", "was", ""):
        lines = plain_table(
            [["gates", *labels], *([name, *column] for name, column in filled.items())], last_left="at" in filled
        )
        excess = max(map(wcswidth, lines)) - width
        if excess <= 0 or not least_important:
            break
        filled.pop(least_important, None)
    if excess > 0:
        room = max(map(wcswidth, labels)) - excess
        short_labels = [_cut_middle(label, room) for label in labels]
        lines = plain_table([["gates", *short_labels], *([name, *column] for name, column in filled.items())])
    for line, result in zip(lines, [None, *results], strict=True):
        state = "" if result is None else _state(result)
        start = line.find(state) if state else 0
        style: Style = "red" if state == "FAILED" else "yellow"
        yield Line(cut(line, width), "", (Mark(start, start + len(state), style),) if state else ())


def _state(result: GateResult) -> str:
    return "FAILED" if result.status == "failed" else "INCONCLUSIVE"


def _cut_middle(text: str, columns: int) -> str:
    """Return a text with an ellipsis instead of its middle, to fit into ``columns``."""
    from wcwidth import wcswidth

    if wcswidth(text) <= columns:
        return text
    end = cut(text[::-1], columns // 2)[::-1]
    return f"{cut(text, columns - wcswidth(end) - 3)}...{end}"


def _where_to_look(
    run: Run, account: Account, examples: dict[str, list[Example]], facts: SessionFacts, width: int
) -> Iterator[Line]:
    """Yield the path of the page, and the commands that show a case and run it again."""
    from wcwidth import wcswidth

    shown = [example.nodeid for rows in examples.values() for example in rows]
    nodeid = next(iter([*shown, *(case for cause in account.causes for case in cause.cases)]), "")
    outcome = run.outcomes.get(nodeid)
    parts = [facts.page] if facts.page else []
    if outcome is not None:
        parts.append(f"rageval show --case {shlex.quote(ascii_safe(outcome.case_id))}")
        parts.append(f"pytest {shlex.quote(facts.above + ascii_safe(nodeid))}")
    if not parts:
        return
    line = f"see it: {' · '.join(parts)}"
    if wcswidth(line) <= width:
        yield Line(line)
        return
    yield Line("see it:")
    yield from (Line(f"  {part}") for part in parts)
