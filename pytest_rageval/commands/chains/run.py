"""``rageval chain run``: run a chain for one question, and print each input and output."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from pytest_rageval.commands.chains.gold_marks import GoldMarks
from pytest_rageval.commands.chains.step_texts import prompt_blocks, step_lines, text_block
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.chain_command import ChainOrder, run_in_project
from pytest_rageval.hooks.chain_runs import ChainResult
from pytest_rageval.llm.secrets import redact
from pytest_rageval.model.answer import Step
from pytest_rageval.model.case import Instance
from pytest_rageval.systems.chains.chain import CallTool, Generate
from pytest_rageval.trace.passages import passages_of
from pytest_rageval.trace.steps import END, FINISHED, RETRIEVE, end_of, end_reason

__all__ = ["run_chain"]


def run_chain(order: ChainOrder) -> Generator[str, None, int]:
    """Run a chain, yield the lines to print, with gold marked, and return 1 if the run failed, else 0.

    Raises:
        RagEvalError: the chain cannot start.
    """
    result = run_in_project(order)
    instance = result.case.instance
    marks = GoldMarks(instance.gold, _gold_pages(instance), colours=bool(terminal_colours()))
    for line in _lines(result, marks):
        yield redact(line)
    return int(bool(result.error))


def _lines(result: ChainResult, marks: GoldMarks) -> Iterator[str]:
    instance = result.case.instance
    yield f"{result.chain.file_name}{f', model {ascii_safe(result.model)}' if result.model else ''}"
    yield from text_block("question", instance.question, GoldMarks())
    for slot in instance.gold:
        yield f"  gold answer: {ascii_safe(' / '.join(slot))}"
    if marks.pages:
        yield f"  gold pages: {ascii_safe(', '.join(marks.pages))}"
    for preview in result.previews:
        yield ""
        tool = f"  {ascii_safe(preview.action.tool)}" if isinstance(preview.action, CallTool) else ""
        yield f"{preview.action.name}  {preview.action.do}{tool}"
        if isinstance(preview.action, Generate):
            yield from prompt_blocks(preview.texts, marks)
        else:
            yield from (line for what, text in preview.texts for line in text_block(what, text, marks))
    for step in result.steps:
        if step.kind != END and step.detail.get("action"):
            yield ""
            yield from step_lines(step, marks)
    if result.previews:
        return
    yield ""
    yield from _end_lines(result, marks)


def _end_lines(result: ChainResult, marks: GoldMarks) -> Iterator[str]:
    """Yield the answer, the gold that was not found, and why the run ended."""
    answer, passages = result.answer, [passage for step in result.steps for passage in passages_of(step)]
    if answer is not None and answer.generated:
        yield from text_block("answer", answer.text, marks)
    if any(step.kind == RETRIEVE for step in result.steps):
        texts = [text for passage in passages for text in (passage.title, passage.text)]
        texts += [str(step.detail.get("text") or "") for step in result.steps if step.kind == RETRIEVE]
        yield from (f"not in the documents: {slot}" for slot in marks.answers_missing_in(texts))
        names = {name for passage in passages for name in (passage.doc_id, passage.page_id)}
        yield from (f"page not found: {ascii_safe(page)}" for page in marks.pages if page not in names)
    if answer is not None and answer.generated:
        yield from (f"not in the answer: {slot}" for slot in marks.answers_missing_in([answer.text]))
        yield from _reason_lines(result.steps)
    if result.error:
        yield f"error: {ascii_safe(result.error)}"


def _reason_lines(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield why a run ended early; nothing if it finished."""
    reason, end = end_reason(steps), end_of(steps)
    if end is not None and reason != FINISHED:
        detail = str(end.detail.get("detail") or "")
        yield f"ended: {ascii_safe(reason)}{f' - {ascii_safe(detail)}' if detail else ''}"


def _gold_pages(instance: Instance) -> tuple[str, ...]:
    """Return the ids of the pages and documents that support the gold answer, each once."""
    pages = [page for pages in instance.provenance for page in pages]
    pages += [name for name, grade in instance.qrels.items() if grade > 0]
    pages += [unit.page for units in instance.evidence for unit in units]
    pages += [each.page or each.id for each in instance.passages or () if each.role == "positive"]
    return tuple(dict.fromkeys(pages))
