"""Write a run as GitHub's Markdown: the verdict first, short enough for a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.account.sentences import broken_text
from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.failure_cause import cause_text
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.report.export.markdown_account import (
    answer_parts,
    cause_lines,
    finding_parts,
    rerun_line,
    verdict_line,
)
from pytest_rageval.report.export.markdown_gates import gate_parts, worst_parts
from pytest_rageval.report.export.markdown_text import Part, Row, code, parts_within, plain
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.unseen_calls import UNSEEN
from pytest_rageval.report.sections.comparison import NO_PAIR, cases_text, causes_text, change_text
from pytest_rageval.report.sections.counts import counts_text
from pytest_rageval.report.sections.matrices import matrix_legend, matrix_rows, matrix_title
from pytest_rageval.report.sections.model_usage import error_kinds, model_calls, unscored_kinds
from pytest_rageval.report.sections.repeats import MAX_CASES, repeat_labels
from pytest_rageval.report.sections.section import table_sections
from pytest_rageval.report.text.lines import counted, few_of, interval, number

__all__ = ["MARKER", "MOST", "markdown_of"]

MARKER = "<!-- pytest-rageval -->"
"""Invisible; a workflow finds the comment to update by it."""

MOST = 60_000
"""Characters: GitHub limits a comment to 65,536."""

MOST_ROWS = 1_000
"""Rows of a table that are made; fewer fit into a report."""

EXCERPT = 100  # characters of an answer


def markdown_of(
    run: Run, choice: MatrixChoice, most: int = MOST, missing: Sequence[str] = (), links: Sequence[str] = ()
) -> str:
    """Return a run as GitHub's Markdown: verdict, causes, worst answers, failed gates, and all else folded.

    Args:
        run: the run, its gates evaluated.
        choice: the matrix to show.
        most: maximum number of characters, at least 20,000, or 0 for the head alone. What does not fit is counted.
        missing: other reports that could not be written.
        links: where the run stands, as Markdown: its page, its job, its commit.
    """
    blocks = [verdict_line(run), "\n".join(cause_lines(run)), plain(counts_text(run))]
    blocks.append(" · ".join(filter(None, [*links, rerun_line(run)])))
    blocks += [f"warning: {plain(note, 1_000)}" for note in run.plan.notes if note.startswith(UNSEEN)]
    if missing:
        blocks.append(f"warning: could not be written, as the log says why: {', '.join(map(code, missing))}")
    text = "\n\n".join(filter(None, blocks)) + "\n"
    end = f"\n{MARKER}\n"
    return text + parts_within(_parts(run, choice), most - len(text) - len(end)) + end


def _changes(comparison: Comparison, alpha: float) -> Iterator[Part]:
    """Yield how many cases changed by the primary metrics, and all significant changes."""
    if not comparison.overall:
        rows = [["change"], [plain(cases_text(comparison))]]
        yield Part(NO_PAIR.capitalize(), rows, folded=True, numbers=range(0))
        return
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    broken, fixed = sum(len(each.broken) for each in primary), sum(len(each.fixed) for each in primary)
    against = code(comparison.before.path or comparison.before.run)
    counts = f"{broken} broke, {fixed} {'was' if fixed == 1 else 'were'} fixed"
    significant = [each for each in comparison.results if each.is_significant(alpha)]
    rows = [[f"{counts} of {counted(len(comparison.pairing.pairs), 'case')} against {against}"]]
    rows += [[plain(_change(each, comparison))] for each in significant]
    title = f"Compared with the baseline ({counted(len(significant), 'significant change')})"
    yield Part(title, [["change"], *rows], folded=True, numbers=range(0))


def _change(each: MetricComparison, comparison: Comparison) -> str:
    causes = f"; broke: {causes_text(each.causes, each.by_answer)}" if each.broken else ""
    return f"{change_text(each, comparison)}, 95 % {interval(each.test.ci95)}{causes}"


def _repeats(run: Run) -> Iterator[Part]:
    """Yield the repeats of each testbed and system."""
    repeats = run.repeats()
    labels = repeat_labels(repeats, run.plan.testbeds)
    rows = [
        [
            plain(label),
            code(each.metric),
            f"{len(each.flips)} of {counted(each.n_cases, 'case')} flip over {each.k} repeats",
            plain(few_of(each.flips, MAX_CASES)),
            f"{len(each.always_missed)} never pass",
            plain(few_of(each.always_missed, MAX_CASES)),
        ]
        for label, each in zip(labels, repeats, strict=True)
    ]
    if rows:
        yield Part("Repeats", [["testbed", "metric", "flips", "", "misses", ""], *rows], folded=True, numbers=range(0))


def _parts(run: Run, choice: MatrixChoice) -> Iterator[Part]:
    yield from answer_parts(run)
    yield from gate_parts(run)
    yield from finding_parts(run)
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _changes(comparison, run.plan.alpha)
        yield from _cases(run, comparison)
    yield from worst_parts(run)
    failed = [outcome for outcome in run.ordered() if outcome.status == "error"]
    if failed:
        errors = [(o.nodeid, (run.texts and o.error) or o.error_type or "") for o in failed[:MOST_ROWS]]
        rows = [[code(nodeid), plain(error.partition("\n")[0])] for nodeid, error in errors]
        yield _long_part(f"Errors ({len(failed)})", ["case", "error"], rows, range(0), len(failed))
    yield from _repeats(run)
    usage = [[plain(line.text)] for line in (*error_kinds(run), *unscored_kinds(run), *model_calls(run))]
    if usage:
        yield Part("Model calls and kinds of errors", [["count"], *usage], folded=True, numbers=range(0))
    for matrix in (*run.matrices(choice), *run.differences(choice), *run.gains(choice)):
        rows = [[plain(text) for text in row] for row in matrix_rows(matrix)]
        title = f"{matrix_title(matrix)} - {matrix_legend(matrix)}"
        yield Part(title, rows, folded=True, numbers=range(1, len(rows[0])))
    yield from _sections(run)


def _sections(run: Run) -> Iterator[Part]:
    """Yield the tables of the sections."""
    for section in table_sections():
        for table in section.tables_of(run) if section.in_markdown else ():
            rows = [[plain(text) for text in row] for row in table.rows]
            notes = [note.text for note in table.notes]
            yield Part(table.heading, rows, folded=True, numbers=range(1, len(rows[0])), notes=notes)


def _cases(run: Run, comparison: Comparison) -> Iterator[Part]:
    """Yield the cases that broke and those that were fixed, by the primary metrics."""
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    systems = len(comparison.after.systems) > 1
    head = ["case", *(["system"] if systems else []), "metric", "was", "now"]
    numbers = range(len(head) - 2, len(head))
    more = ["cause", *(["answer"] if run.texts else [])]
    broken = [(each, pair) for each in primary for pair in each.broken]
    title = broken_text([pair.after.name for _, pair in broken], account_of(run).dropped).capitalize()
    if broken:
        rows = [
            [*_case_row(pair, each, systems), cause_text(pair, each.of), *([_answer(run, pair)] if run.texts else [])]
            for each, pair in broken[:MOST_ROWS]
        ]
        yield _long_part(title, [*head, *more], rows, numbers, len(broken))
    fixed = [(each, pair) for each in primary for pair in each.fixed]
    if fixed:
        rows = [_case_row(pair, each, systems) for each, pair in fixed[:MOST_ROWS]]
        yield _long_part(f"Fixed by the primary metric: {counted(len(fixed), 'case')}", head, rows, numbers, len(fixed))


def _long_part(title: str, head: Row, rows: Sequence[Row], numbers: range, n: int) -> Part:
    return Part(title, [head, *rows], folded=True, numbers=numbers, more=n - len(rows))


def _case_row(pair: Pair, each: MetricComparison, systems: bool) -> Row:
    before, after = (plain(number(side.scores[each.metric])) for side in (pair.before, pair.after))
    return [code(pair.after.name), *([plain(each.system)] if systems else []), code(each.metric), before, after]


def _answer(run: Run, pair: Pair) -> str:
    """Return the start of the answer of a case's first run."""
    outcome = run.outcomes.get(pair.after.name)
    text = "" if outcome is None or outcome.answer is None else " ".join(outcome.answer.text.split())
    return plain(text if len(text) <= EXCERPT else f"{text[: EXCERPT - 3]}...")
