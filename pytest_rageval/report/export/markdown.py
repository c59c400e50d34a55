"""Write a run as GitHub Markdown: the verdict first, short enough for a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.account.sentences import broken_text
from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.failure_cause import cause_text
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.export.markdown_account import (
    answer_tables,
    cause_lines,
    finding_tables,
    rerun_line,
    verdict_line,
)
from pytest_rageval.report.export.markdown_gates import gate_tables, worst_case_tables
from pytest_rageval.report.export.markdown_text import MarkdownTable, Row, code, plain, tables_within
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

__all__ = ["MARKER", "MAX_CHARACTERS", "markdown_of"]

MARKER = "<!-- pytest-rageval -->"
"""Invisible mark by which a workflow finds the comment to update."""

MAX_CHARACTERS = 60_000
"""Maximum length of a report; GitHub limits a comment to 65,536 characters."""

MAX_ROWS = 1_000
"""Maximum number of rows that are built for a table; a report has room for fewer."""

EXCERPT = 100  # characters of an answer


def markdown_of(
    run: Run,
    choice: MatrixChoice,
    max_characters: int = MAX_CHARACTERS,
    missing: Sequence[str] = (),
    links: Sequence[str] = (),
) -> str:
    """Return a run as GitHub Markdown: verdict, causes, worst answers, failed gates, and the rest folded.

    Args:
        run: the run, its gates evaluated.
        choice: the matrix to show.
        max_characters: at least 20,000, or 0 for the head alone; rows that do not fit are counted.
        missing: names of other reports that could not be written.
        links: Markdown links to the run's page, CI job and commit.
    """
    blocks = [verdict_line(run), "\n".join(cause_lines(run)), plain(counts_text(run))]
    blocks.append(" · ".join(filter(None, [*links, rerun_line(run)])))
    blocks += [f"warning: {plain(note, 1_000)}" for note in run.plan.notes if note.startswith(UNSEEN)]
    if missing:
        blocks.append(f"warning: not written, see the log for the reason: {', '.join(map(code, missing))}")
    text = "\n\n".join(filter(None, blocks)) + "\n"
    end = f"\n{MARKER}\n"
    return text + tables_within(_tables(run, choice), max_characters - len(text) - len(end)) + end


def _changes(comparison: Comparison, alpha: float) -> Iterator[MarkdownTable]:
    """Yield a table of the cases that changed by the primary metrics and of all significant changes."""
    if not comparison.overall:
        rows = [["change"], [plain(cases_text(comparison))]]
        yield MarkdownTable(NO_PAIR.capitalize(), rows, folded=True, numbers=range(0))
        return
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    broken, fixed = sum(len(each.broken) for each in primary), sum(len(each.fixed) for each in primary)
    against = code(comparison.before.path or comparison.before.run)
    counts = f"{broken} broke, {fixed} {'was' if fixed == 1 else 'were'} fixed"
    significant = [each for each in comparison.results if each.is_significant(alpha)]
    rows = [[f"{counts} of {counted(len(comparison.pairing.pairs), 'case')} against {against}"]]
    rows += [[plain(_change(each, comparison))] for each in significant]
    title = f"Compared with the baseline ({counted(len(significant), 'significant change')})"
    yield MarkdownTable(title, [["change"], *rows], folded=True, numbers=range(0))


def _change(each: MetricComparison, comparison: Comparison) -> str:
    causes = f"; broke: {causes_text(each.causes, each.by_answer)}" if each.broken else ""
    return f"{change_text(each, comparison)}, 95 % {interval(each.test.ci95)}{causes}"


def _repeats(run: Run) -> Iterator[MarkdownTable]:
    """Yield a table of cases whose repeats differ or always miss, for each testbed and system."""
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
        yield MarkdownTable(
            "Repeats", [["testbed", "metric", "flips", "", "misses", ""], *rows], folded=True, numbers=range(0)
        )


def _tables(run: Run, choice: MatrixChoice) -> Iterator[MarkdownTable]:
    yield from answer_tables(run)
    yield from gate_tables(run)
    yield from finding_tables(run)
    comparison = run.comparison(choice)
    if comparison is not None:
        yield from _changes(comparison, run.plan.alpha)
        yield from _cases(run, comparison)
    yield from worst_case_tables(run)
    failed_cases = [outcome for outcome in run.ordered() if outcome.status == "error"]
    if failed_cases:
        rows = [
            [code(each.nodeid), plain(_error_text(run, each).partition("\n")[0])] for each in failed_cases[:MAX_ROWS]
        ]
        yield _long_table(f"Errors ({len(failed_cases)})", ["case", "error"], rows, range(0), len(failed_cases))
    yield from _repeats(run)
    usage = [[plain(line.text)] for line in (*error_kinds(run), *unscored_kinds(run), *model_calls(run))]
    if usage:
        yield MarkdownTable("Model calls and kinds of errors", [["count"], *usage], folded=True, numbers=range(0))
    for matrix in (*run.matrices(choice), *run.differences(choice), *run.gains(choice)):
        rows = [[plain(text) for text in row] for row in matrix_rows(matrix)]
        title = f"{matrix_title(matrix)} - {matrix_legend(matrix)}"
        yield MarkdownTable(title, rows, folded=True, numbers=range(1, len(rows[0])))
    yield from _sections(run)


def _error_text(run: Run, outcome: Outcome) -> str:
    return (run.texts and outcome.error) or outcome.error_type or ""


def _sections(run: Run) -> Iterator[MarkdownTable]:
    """Yield the tables of the sections."""
    for section in table_sections():
        for table in section.tables_of(run) if section.in_markdown else ():
            rows = [[plain(text) for text in row] for row in table.rows]
            notes = [note.text for note in table.notes]
            yield MarkdownTable(table.heading, rows, folded=True, numbers=range(1, len(rows[0])), notes=notes)


def _cases(run: Run, comparison: Comparison) -> Iterator[MarkdownTable]:
    """Yield tables of the cases that broke and that were fixed, by the primary metrics."""
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    systems = len(comparison.after.systems) > 1
    head = ["case", *(["system"] if systems else []), "metric", "was", "now"]
    numbers = range(len(head) - 2, len(head))
    cause_columns = ["cause", *(["answer"] if run.texts else [])]
    broken = [(each, pair) for each in primary for pair in each.broken]
    title = broken_text([pair.after.name for _, pair in broken], account_of(run).dropped).capitalize()
    if broken:
        rows = [
            [*_case_row(pair, each, systems), cause_text(pair, each.of), *([_answer(run, pair)] if run.texts else [])]
            for each, pair in broken[:MAX_ROWS]
        ]
        yield _long_table(title, [*head, *cause_columns], rows, numbers, len(broken))
    fixed = [(each, pair) for each in primary for pair in each.fixed]
    if fixed:
        rows = [_case_row(pair, each, systems) for each, pair in fixed[:MAX_ROWS]]
        yield _long_table(
            f"Fixed by the primary metric: {counted(len(fixed), 'case')}", head, rows, numbers, len(fixed)
        )


def _long_table(title: str, head: Row, rows: Sequence[Row], numbers: range, n: int) -> MarkdownTable:
    return MarkdownTable(title, [head, *rows], folded=True, numbers=numbers, more=n - len(rows))


def _case_row(pair: Pair, each: MetricComparison, systems: bool) -> Row:
    before, after = (plain(number(side.scores[each.metric])) for side in (pair.before, pair.after))
    return [code(pair.after.name), *([plain(each.system)] if systems else []), code(each.metric), before, after]


def _answer(run: Run, pair: Pair) -> str:
    """Return the start of a case's answer, of the first of its repeats."""
    outcome = run.outcomes.get(pair.after.name)
    text = "" if outcome is None or outcome.answer is None else " ".join(outcome.answer.text.split())
    return plain(text if len(text) <= EXCERPT else f"{text[: EXCERPT - 3]}...")
