"""A run in GitHub's Markdown: the verdict first, then what a reviewer wants to know, short enough for a comment."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.attribution import cause_of
from pytest_rageval.analysis.comparison import Compared, Comparison
from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.analysis.verdicts import GateResult
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.comparison_lines import causes_text, p_text
from pytest_rageval.report.lines import counted, interval, number
from pytest_rageval.report.matrix_lines import matrix_rows, matrix_title
from pytest_rageval.report.run import Run
from pytest_rageval.report.spending import error_kinds, model_calls
from pytest_rageval.report.tables import INDENT
from pytest_rageval.report.terminal import counts_text
from pytest_rageval.report.views import MatrixChoice

__all__ = ["MOST", "code", "markdown_of", "plain"]

MOST = 60_000
"""Characters: a comment on GitHub takes 65,536."""

TAIL = 200  # characters that closing a part and counting what was cut take at most

FEW_ROWS = 12  # a table with more is folded

_SIGNS = {"passed": "✅", "failed": "❌", "skipped": "➖"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~>@-])")

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report: a heading, and a table under it.

    Attributes:
        title: its heading, as Markdown.
        rows: of the table, as Markdown, the head first.
        folded: whether it opens only when it is clicked.
    """

    title: str
    rows: Sequence[Row]
    folded: bool


def markdown_of(run: Run, choice: MatrixChoice, most: int = MOST) -> str:
    """Return a run as GitHub's Markdown: verdict, cost, gates, what broke and was mended, errors, matrices.

    Args:
        run: the run, its gates evaluated.
        choice: which matrix is wanted.
        most: characters that it has at most, 2,000 or more; rows that do not fit are counted.
    """
    text = "\n\n".join([f"## {_verdict(run)}", *_head(run, choice)]) + "\n"
    for part in _parts(run, choice):
        text += _rendered(part, most - len(text))
    return text


def plain(text: str) -> str:
    """Return a text that Markdown shows as it stands: nothing in it is markup, a link, a mention or a new line."""
    return _SPECIAL.sub(r"\\\1", html.escape(ascii_safe(text).replace(INDENT, "\u2003"), quote=False))


def code(text: str) -> str:
    """Return a name as code, in a table too; in it nothing is a mention."""
    shown = ascii_safe(text).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _verdict(run: Run) -> str:
    failed = sum(gate.result.status == "failed" for gate in run.gates)
    undecided = sum(_is_undecided(gate.result) for gate in run.gates)
    errors = sum(outcome.status == "error" for outcome in run.outcomes.values())
    tests = len(run.failed)
    if run.interrupted:
        return "⚠️ RAG tests: interrupted"
    if failed:
        return f"❌ RAG tests: {failed} of {counted(len(run.gates), 'gate')} failed"
    if tests or errors:
        broken = counted(tests, "test") if tests else counted(errors, "case")
        return f"❌ RAG tests: {broken} failed, and no gate"
    if undecided:
        return f"⚠️ RAG tests: all gates hold, {undecided} inconclusive"
    return f"✅ RAG tests: {'all gates hold' if run.gates else 'no gate decides them'}"


def _head(run: Run, choice: MatrixChoice) -> Iterator[str]:
    yield plain(counts_text(run))
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _changes(comparison, run.plan.alpha)
    for line in (*error_kinds(run), *model_calls(run)):
        yield plain(line.text)


def _changes(comparison: Comparison, alpha: float) -> Iterator[str]:
    """Yield what became of the primary metrics in a sentence, and what of all that is no noise in a list."""
    primary = [each for each in comparison.overall if _is_primary(each, comparison)]
    broken, fixed = (sum(len(side) for side in sides) for sides in _sides(primary))
    head = f"**{broken} broke, {fixed} were mended** of {counted(len(comparison.pairing.pairs), 'case')}"
    yield f"{head} against {code(comparison.before.path or comparison.before.run)}."
    sure = [each for each in comparison.compared if each.p_holm is not None and each.p_holm <= alpha]
    if sure:
        yield "\n".join(f"- {_change(each, comparison)}" for each in sure[:FEW_ROWS])
        if len(sure) > FEW_ROWS:
            yield f"{len(sure) - FEW_ROWS} more changes are no noise."
    else:
        yield "Nothing that is not noise."


def _sides(compared: Sequence[Compared]) -> tuple[list[tuple[Pair, ...]], list[tuple[Pair, ...]]]:
    return [each.broken for each in compared], [each.fixed for each in compared]


def _change(each: Compared, comparison: Comparison) -> str:
    found, testbed = each.found, comparison.after.testbeds[each.testbed].name
    where = f" ({plain(' x '.join(each.slice.values()))})" if each.slice else ""
    delta = "–" if found.delta is None else f"{found.delta:+.3g}"
    causes = f"; broke: {causes_text(each.causes)}" if each.broken else ""
    return (
        f"{code(each.metric)} of {code(testbed)}{where} {delta} {interval(found.ci95)}, {p_text(each.p_holm)}{causes}"
    )


def _parts(run: Run, choice: MatrixChoice) -> Iterator[Part]:
    gates = [gate.result for gate in run.gates]
    if gates:
        ordered = sorted(gates, key=lambda gate: (gate.status != "failed", not _is_undecided(gate)))
        yield Part(f"Gates ({len(gates)})", [_GATE_HEAD, *map(_gate_row, ordered)], len(gates) > FEW_ROWS)
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _cases(comparison)
    failed = [outcome for outcome in run.ordered() if outcome.status == "error"]
    if failed:
        rows = [[code(o.nodeid), plain((o.error or o.error_type or "").partition("\n")[0])] for o in failed]
        yield Part(f"Errors ({len(failed)})", [["case", "error"], *rows], folded=True)
    for matrix in [*run.matrices(choice), *run.differences(choice), *run.gains(choice)]:
        rows = [[plain(text) for text in row] for row in matrix_rows(matrix)]
        yield Part(plain(matrix_title(matrix)), rows, folded=True)


_GATE_HEAD = ["", "gate", "of", "value", "n", "95 % interval", "against the baseline"]


def _gate_row(gate: GateResult) -> Row:
    sign = "⚠️" if _is_undecided(gate) else _SIGNS[gate.status]
    against, told = "", gate.regression
    if told is not None and told.found.delta is not None:
        against = f"{told.found.delta:+.3g} {interval(told.found.ci95)}, {p_text(told.p_value)}"
    name, reason = code(str(gate.gate)), gate.reason if gate.status != "passed" else None
    shown = [sign, name, code(gate.scope), number(gate.value), str(gate.n), interval(gate.ci95), against]
    return shown if reason is None else [*shown[:-1], f"{against} {plain(reason)}".strip()]


def _is_undecided(gate: GateResult) -> bool:
    cells = gate.cells or (gate,)
    return gate.status == "passed" and any(c.regression and c.regression.verdict == "inconclusive" for c in cells)


def _cases(comparison: Comparison) -> Iterator[Part]:
    """Yield the cases that broke and those that were mended, by the primary metrics."""
    primary = [each for each in comparison.overall if _is_primary(each, comparison)]
    head = ["case", "metric", "was", "now"]
    broken = [[*_case_row(pair, each), cause_of(pair)] for each in primary for pair in each.broken]
    if broken:
        yield Part(f"Broken ({len(broken)})", [[*head, "cause"], *broken], len(broken) > FEW_ROWS)
    fixed = [_case_row(pair, each) for each in primary for pair in each.fixed]
    if fixed:
        yield Part(f"Mended ({len(fixed)})", [head, *fixed], folded=True)


def _case_row(pair: Pair, each: Compared) -> list[str]:
    before, after = (number(side.scores[each.metric]) for side in (pair.before, pair.after))
    return [code(pair.after.name), code(each.metric), before, after]


def _is_primary(each: Compared, comparison: Comparison) -> bool:
    return comparison.after.testbeds[each.testbed].metrics[0] == each.metric


def _rendered(part: Part, room: int) -> str:
    """Return a part in at most ``room`` characters, with how many of its rows do not fit; "" where nothing fits."""
    head, *rows = part.rows
    opening = f"\n<details><summary>{part.title}</summary>\n\n" if part.folded else f"\n### {part.title}\n\n"
    closing = "\n</details>\n" if part.folded else ""
    text = opening + _row(head) + _row(["---"] * len(head))
    if len(text) + TAIL > room:
        return ""
    for at, row in enumerate(rows):
        line = _row(row)
        if len(text) + len(line) + TAIL > room:
            return f"{text}\n{len(rows) - at} more are cut.\n{closing}"
        text += line
    return text + closing


def _row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |\n"
