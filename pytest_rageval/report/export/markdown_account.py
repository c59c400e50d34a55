"""Write the account of a run as Markdown: the verdict, the causes, the worst answers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from itertools import chain, zip_longest

from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.export.markdown_text import MAX_TEXT, MarkdownTable, code, plain
from pytest_rageval.report.run.account import account_of, covered_testbeds
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import counted

__all__ = ["answer_tables", "cause_lines", "finding_tables", "rerun_line", "verdict_line"]

CAUSES = 3
"""Maximum of causes that are listed at the top."""

ANSWERS = 2
"""Maximum of answers that are shown."""

TESTBEDS = 3
"""Maximum of testbeds that the command names; with more it runs all tests."""

SENTENCE = 2_000
"""Maximum of characters of a sentence."""

_SIGNS = {"passed": "✅", "failed": "❌", "open": "⚠️"}


def verdict_line(run: Run) -> str:
    """Return the verdict of a run as a heading."""
    account = account_of(run)
    return f"## {_SIGNS[account.state]} RAG tests: {plain(account.verdict, SENTENCE)}"


def cause_lines(run: Run) -> Iterator[str]:
    """Yield the first causes as list items, each with its command, and the number of the other causes."""
    causes = account_of(run).causes
    for each in causes[:CAUSES]:
        command = f" · {code(each.command)}" if each.command else ""
        yield f"- {plain(each.sentence, SENTENCE)}{command}"
    if len(causes) > CAUSES:
        yield f"- {counted(len(causes) - CAUSES, 'more cause')}"


def finding_tables(run: Run) -> Iterator[MarkdownTable]:
    """Yield a table of the account's sentences that the list at the top leaves out."""
    account = account_of(run)
    top_causes = account.causes[:CAUSES]
    sentences = [
        sentence
        for each in account.findings
        for sentence in (*(() if each in top_causes else (each.sentence,)), *each.also)
    ]
    if sentences:
        rows = [[plain(sentence, SENTENCE)] for sentence in sentences]
        yield MarkdownTable(f"More findings ({len(rows)})", [["finding"], *rows], folded=True, numbers=range(0))


def answer_tables(run: Run) -> Iterator[MarkdownTable]:
    """Yield the worst answers of the causes, of different causes first; nothing if reports contain no texts."""
    for outcome in _worst(run)[:ANSWERS] if run.texts else ():
        stored = run.instances.get(outcome.case_id) or {}
        instance = json.loads(stored) if isinstance(stored, str) else stored
        question = outcome.question or instance.get("question", "")
        texts = {
            "question": question,
            "wanted": " / ".join(" or ".join(slot) for slot in instance.get("gold", ())),
            "was": _was(run, outcome),
            "now": "" if outcome.answer is None else outcome.answer.text,
        }
        rows = [[what, plain(" ".join(text.split()))] for what, text in texts.items() if text is not None]
        title = f"{outcome.case_id}: {' '.join(question.split())}"
        yield MarkdownTable(title, [["case", code(outcome.nodeid)], *rows], folded=True, numbers=range(0))


def _worst(run: Run) -> list[Outcome]:
    """Return the scored outcomes of the causes, one for a case: the worst of each cause, then the second worst."""
    names = chain.from_iterable(zip_longest(*(each.cases for each in account_of(run).causes), fillvalue=""))
    cases: dict[str, Outcome] = {}
    for outcome in (run.outcomes.get(name) for name in names):
        if outcome is not None and outcome.status == "scored":
            cases.setdefault(outcome.case_id, outcome)
    return list(cases.values())


def _was(run: Run, outcome: Outcome) -> str | None:
    """Return the answer of the same case in the earlier run; None if it is unknown."""
    earlier = None if run.old_answers is None else run.old_answers.of(outcome)
    return None if earlier is None else earlier.text


def rerun_line(run: Run) -> str:
    """Return the command that reruns the tests of the failed gates, or else of the causes; "" unless the run failed."""
    account = account_of(run)
    if account.state != "failed":
        return ""
    failed = [gate for gate in run.gates if gate.result.status == "failed"]
    testbeds = dict.fromkeys(chain.from_iterable(covered_testbeds(run, gate) for gate in failed))
    names = run.outcomes.keys() & {name for each in account.causes for name in each.cases}
    testbeds = testbeds or dict.fromkeys(sorted({run.outcomes[name].testbed for name in names}))
    command = shlex.join(["pytest", *testbeds])
    return f"rerun: {code(command if len(testbeds) <= TESTBEDS and len(command) <= MAX_TEXT else 'pytest')}"
