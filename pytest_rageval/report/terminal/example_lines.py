"""One example of a cause as lines: question, gold answer, old and new answer, evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.examples import Example
from pytest_rageval.report.text.fit_text import cut
from pytest_rageval.report.text.lines import Line

__all__ = ["example_lines"]

NARROW = 110
"""Columns below which an example may take three lines."""

INDENT = 6

_CONTEXT = 24
"""Maximum number of characters to show before the first difference of two answers."""

_Rows = list[list[str]]


def example_lines(example: Example, width: int) -> Iterator[Line]:
    """Yield a case in the fewest lines that show it whole: one, two or three.

    If it does not fit, long texts are cut, in two lines or, in a narrow terminal, three. Cut answers begin shortly
    before their first difference.
    """
    layouts = list(_layouts(example, example.was, example.now))
    rows = next((each for each in layouts if _fits(each, width)), None)
    if rows is None and _fits(layouts[2][1:], width - 2):
        rows = layouts[2]
    if rows is None:
        was, now = _from_difference(example.was, example.now, (width - INDENT - 2) // 2 - len('was ""...'))
        rows = list(_layouts(example, was, now))[3 if width < NARROW else 1]
    for at, row in enumerate(rows):
        yield Line(_fit(row, width, INDENT + 2 * bool(at)))


def _layouts(example: Example, was: str | None, now: str) -> Iterator[_Rows]:
    """Yield four layouts: one line, two with the gold answer in the first or the second line, three."""
    case, wanted = [ascii_safe(example.case), _quoted(example.question)], [f"wanted {_quoted(example.wanted)}"]
    answers = [f"was {_quoted(was)}"] if was is not None else []
    answers.append(f"now {_quoted(now)}")
    evidence = [f"evidence {example.evidence}"] if example.evidence else []
    yield [[*case, *wanted, *answers, *evidence]]
    yield [[*case, *wanted], [*answers, *evidence]]
    yield [case, [*wanted, *answers, *evidence]]
    yield [case, [*wanted, *evidence], answers]


def _fits(rows: _Rows, width: int) -> bool:
    from wcwidth import wcswidth

    indents = (INDENT, INDENT + 2, INDENT + 2)
    return all(indent + wcswidth("  ".join(row)) <= width for indent, row in zip(indents, rows, strict=False))


def _from_difference(was: str | None, now: str, room: int) -> tuple[str | None, str]:
    """Return two answers without the words before their first difference, if it lies beyond ``room`` columns."""
    if was is None or was == now:
        return was, now
    one, other = (" ".join(text.split()) for text in (was, now))
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if same <= room:
        return one, other
    ahead = min(_CONTEXT, room // 3)
    start = one.find(" ", same - ahead, same) + 1 or same - ahead
    return f"...{one[start:]}", f"...{other[start:]}"


def _quoted(text: str) -> str:
    return ascii_safe(f'"{" ".join(text.split())}"')


def _fit(parts: Sequence[str], width: int, indent: int) -> str:
    """Return parts in one line that fits the width, with the longest parts cut."""
    from wcwidth import wcswidth

    room = width - indent - 2 * (len(parts) - 1)
    widths = [wcswidth(part) for part in parts]
    allowed = max(8, room // len(parts))
    while sum(min(columns, allowed + 1) for columns in widths) <= room and allowed < max(widths):
        allowed += 1
    shown = [
        part if columns <= allowed else _cut_part(part, allowed) for part, columns in zip(parts, widths, strict=True)
    ]
    return cut(" " * indent + "  ".join(shown), width)


def _cut_part(text: str, columns: int) -> str:
    """Return a part cut to ``columns``, with an ellipsis and the closing quotation mark."""
    return f'{cut(text, columns - 4).rstrip()}..."' if text.endswith('"') else f"{cut(text, columns - 3)}..."
