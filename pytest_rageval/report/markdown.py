"""A run in GitHub's Markdown: the verdict first, then what a reviewer wants to know, short enough for a comment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.attribution import cause_of
from pytest_rageval.analysis.comparison import Compared, Comparison
from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.analysis.verdicts import GateResult
from pytest_rageval.report.comparison_lines import causes_text, p_text
from pytest_rageval.report.lines import counted, interval, number, place_text, signed
from pytest_rageval.report.markdown_text import Part, code, parts_within, plain
from pytest_rageval.report.matrix_lines import matrix_legend, matrix_rows, matrix_title
from pytest_rageval.report.run import Run
from pytest_rageval.report.spending import error_kinds, model_calls
from pytest_rageval.report.terminal import counts_text
from pytest_rageval.report.verdict import verdict_of
from pytest_rageval.report.views import MatrixChoice

__all__ = ["MOST", "markdown_of"]

MOST = 60_000
"""Characters: a comment on GitHub takes 65,536."""

FEW_ROWS = 12  # a table with more is folded

EXCERPT = 100  # characters of an answer

_VERDICTS = {"passed": "✅", "failed": "❌", "open": "⚠️"}
_SIGNS = {"passed": "✅", "failed": "❌", "skipped": "➖"}

Row = list[str]


def markdown_of(run: Run, choice: MatrixChoice, most: int = MOST) -> str:
    """Return a run as GitHub's Markdown: verdict, cost, gates, what broke and was mended, errors, matrices.

    Args:
        run: the run, its gates evaluated.
        choice: which matrix is wanted.
        most: characters that it has at most, 20,000 or more; what does not fit is counted.
    """
    text = "\n\n".join([f"## {_verdict(run)}", *_head(run, choice)]) + "\n"
    return text + parts_within(_parts(run, choice), most - len(text))


def _verdict(run: Run) -> str:
    gates = [gate.result for gate in run.gates]
    verdict = verdict_of(
        Counter(gate.status for gate in gates),
        inconclusive=sum(bool(gate.undecided) for gate in gates),
        tests=len(run.failed),
        errors=sum(outcome.status == "error" for outcome in run.outcomes.values()),
        cases=len(run.outcomes),
        interrupted=run.interrupted,
        shard=str(run.plan.shard or ""),
    )
    return f"{_VERDICTS[verdict.kind]} RAG tests: {plain(verdict.text)}"


def _head(run: Run, choice: MatrixChoice) -> Iterator[str]:
    yield plain(counts_text(run))
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _changes(comparison, run.plan.alpha, failed=any(gate.result.regressed for gate in run.gates))
    for line in (*error_kinds(run), *model_calls(run)):
        yield plain(line.text)


def _changes(comparison: Comparison, alpha: float, *, failed: bool) -> Iterator[str]:
    """Yield what became of the primary metrics in a sentence, and what of all that is no noise in a list.

    Where a gate on the baseline failed, it is not said that all is noise.
    """
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    broken, fixed = sum(len(each.broken) for each in primary), sum(len(each.fixed) for each in primary)
    head = f"**{broken} broke, {fixed} {'was' if fixed == 1 else 'were'} mended**"
    against = code(comparison.before.path or comparison.before.run)
    yield f"{head} of {counted(len(comparison.pairing.pairs), 'case')} against {against}."
    sure = [each for each in comparison.compared if each.is_beyond_noise(alpha)]
    if sure:
        yield "\n".join(f"- {_change(each, comparison)}" for each in sure[:FEW_ROWS])
        if len(sure) > FEW_ROWS:
            yield f"{counted(len(sure) - FEW_ROWS, 'more change')} beyond noise."
    elif (broken or fixed) and not failed:
        yield "Nothing here that is not noise."


def _change(each: Compared, comparison: Comparison) -> str:
    found, testbed = each.found, comparison.after.testbeds[each.testbed].name
    where = f" in {plain(' x '.join(each.slice.values()))}" if each.slice else ""
    system = f" ({plain(each.system)})" if len(comparison.after.systems) > 1 else ""
    causes = f"; broke: {causes_text(each.causes)}" if each.broken else ""
    delta = f"{signed(found.delta)} {interval(found.ci95)}, {p_text(each.p_holm)}"
    return f"{code(each.metric)} of {code(testbed)}{system}{where} {plain(delta)}{causes}"


def _parts(run: Run, choice: MatrixChoice) -> Iterator[Part]:
    gates = [gate.result for gate in run.gates]
    if gates:
        ordered = sorted(gates, key=lambda gate: (gate.status != "failed", not gate.undecided))
        yield Part(f"Gates ({len(gates)})", list(_gate_rows(ordered)), len(gates) > FEW_ROWS, range(3, 6))
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _cases(run, comparison)
    worst = [[code(str(g.gate)), code(name), number(value)] for g in gates for name, value in g.worst]
    if worst:
        rows = [["gate", "case", "value"], *worst]
        yield Part(f"Worst cases of gates that failed ({len(worst)})", rows, folded=True, numbers=range(2, 3))
    failed = [outcome for outcome in run.ordered() if outcome.status == "error"]
    if failed:
        told = [(o.nodeid, (run.texts and o.error) or o.error_type or "") for o in failed]
        rows = [[code(nodeid), plain(error.partition("\n")[0])] for nodeid, error in told]
        yield Part(f"Errors ({len(failed)})", [["case", "error"], *rows], folded=True, numbers=range(0))
    for at, matrix in enumerate([*run.matrices(choice), *run.differences(choice), *run.gains(choice)]):
        rows = [[plain(text) for text in row] for row in matrix_rows(matrix)]
        title = f"{matrix_title(matrix)} - {matrix_legend(matrix)}"
        yield Part(title, rows, at > 0 or len(rows) > FEW_ROWS, range(1, len(rows[0])))


def _gate_rows(gates: Sequence[GateResult]) -> Iterator[Row]:
    compares = any(gate.regression for gate in gates)
    against = ["against the baseline"] if compares else []
    yield ["", "gate", "of", "value", "n", "95 %", *against, "why"]
    for gate in gates:
        facts = [number(gate.value), str(gate.n), interval(gate.ci95), *([_against(gate)] if compares else [])]
        sign = "⚠️" if gate.undecided else _SIGNS[gate.status]
        yield [sign, code(str(gate.gate)), code(gate.scope), *map(plain, facts), plain(_why(gate))]


def _against(gate: GateResult) -> str:
    told = gate.regression
    if told is None or told.found.delta is None:
        return ""
    return f"{signed(told.found.delta)} {interval(told.found.ci95)}, {p_text(told.p_value)}"


def _why(gate: GateResult) -> str:
    if gate.status != "passed":
        return gate.reason or ""
    place = place_text(gate.slice) if gate.cells else ""
    notes = ["inconclusive: too few cases to tell a drop from noise"] if gate.undecided else []
    return "; ".join([*notes, *([f"worst at {place}"] if place else [])])


def _cases(run: Run, comparison: Comparison) -> Iterator[Part]:
    """Yield the cases that broke and those that were mended, by the primary metrics."""
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    systems = len(comparison.after.systems) > 1
    head = ["case", *(["system"] if systems else []), "metric", "was", "now"]
    numbers = range(len(head) - 2, len(head))
    more = ["cause", *(["answer"] if run.texts else [])]
    broken = [
        [*_case_row(pair, each, systems), cause_of(pair), *([_answer(run, pair)] if run.texts else [])]
        for each in primary
        for pair in each.broken
    ]
    if broken:
        yield Part(f"Broken ({len(broken)})", [[*head, *more], *broken], len(broken) > FEW_ROWS, numbers)
    fixed = [_case_row(pair, each, systems) for each in primary for pair in each.fixed]
    if fixed:
        yield Part(f"Mended ({len(fixed)})", [head, *fixed], folded=True, numbers=numbers)


def _case_row(pair: Pair, each: Compared, systems: bool) -> Row:
    before, after = (plain(number(side.scores[each.metric])) for side in (pair.before, pair.after))
    return [code(pair.after.name), *([plain(each.system)] if systems else []), code(each.metric), before, after]


def _answer(run: Run, pair: Pair) -> str:
    """Return how the answer of a case's first run begins."""
    outcome = run.outcomes.get(pair.after.name)
    text = "" if outcome is None or outcome.answer is None else " ".join(outcome.answer.text.split())
    return plain(text if len(text) <= EXCERPT else f"{text[: EXCERPT - 3]}...")
