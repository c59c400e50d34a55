"""Check that the sources of a draft support its answer, and that it needs all of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.generation.quotes import located_quotes
from pytest_rageval.metrics.shared.matching import contains, slot_hits
from pytest_rageval.metrics.shared.quantities import alias_verdict
from pytest_rageval.model.case import Passage
from pytest_rageval.text.quantities import quantities

__all__ = ["CALCULATION", "answer_unsupported", "evidence_not_verbatim", "one_hop"]

CALCULATION = "calculation"
"""The verdict of a draft with a computed answer: its calculation in numbers, such as ``120 - 70.5``."""

SEVERAL = frozenset({"multi_hop_qa", "contrast_qa", INTEGRATION})
"""Tasks whose answer needs several passages, or several values of one."""

_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Div: operator.truediv,
    ast.Mult: operator.mul,
    ast.Sub: operator.sub,
}
_MAX_CALCULATION_LENGTH = 200


def evidence_not_verbatim(draft: Draft) -> str:
    """Report a quote that no source contains, compared in NFKC, case folded and without white space."""
    missing = next((quote for quote, source, _ in located_quotes(draft) if source is None), None)
    return f"{short_repr(missing)} is in no source" if missing is not None else ""


def answer_unsupported(draft: Draft) -> str:
    """Report an answer that the evidence does not contain, or a calculation with another result.

    The evidence of an extractive draft (its sources, if it has no quotes) must contain every slot. Numbers, dates and
    times are compared by value.
    """
    if CALCULATION in draft.verdicts:
        return _wrong_result(str(draft.verdicts[CALCULATION]), [alias for slot in draft.gold for alias in slot])
    if draft.task != "extractive_qa":
        return ""
    texts = draft.evidence or tuple(source.text for source in draft.sources)
    hits = zip(draft.gold, slot_hits(draft.gold, *texts), strict=True)
    missing = [slot[0] for slot, hit in hits if hit is None and not _is_stated(draft.question, slot, texts)]
    return f"{short_repr(missing[0])} is not in the evidence" if missing else ""


def one_hop(draft: Draft) -> str:
    """Report a draft of several passages whose answer is in one of them.

    A multi-hop draft may be a chain: the last source has the answer, and the others lead to it without any part of it.
    """
    if draft.task not in SEVERAL or len(draft.sources) < 2:
        return ""
    hits_of_sources = [_slots_in(source, draft) for source in draft.sources]
    alone = next((source for source, slots in zip(draft.sources, hits_of_sources, strict=True) if all(slots)), None)
    is_chain = draft.task == "multi_hop_qa" and not any(any(slots) for slots in hits_of_sources[:-1])
    return f"{alone.id} holds the whole answer" if alone is not None and not is_chain else ""


def _slots_in(source: Passage, draft: Draft) -> list[bool]:
    """Return for each slot whether a source contains it."""
    text = f"{source.title}\n{source.text}"
    return [any(contains(text, alias) for alias in slot) for slot in draft.gold]


def _is_stated(question: str, slot: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a text states the number, date or time of an alias: 9 am is 9:00."""
    return any(alias_verdict(question, alias, text) == 1.0 for alias in slot for text in texts)


def _wrong_result(calculation: str, aliases: Sequence[str]) -> str:
    """Return why a calculation does not give the answer; "" if it does."""
    try:
        if len(calculation) > _MAX_CALCULATION_LENGTH:
            raise ValueError(calculation)
        result = _calculate(ast.parse(calculation.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError, TypeError):
        return f"{short_repr(calculation)} is not a calculation with numbers"
    numbers = [each for alias in aliases for each in quantities(alias)]
    if any(result in (each.low, each.low / each.factor, each.low / each.scale / each.factor) for each in numbers):
        return ""
    return f"{short_repr(calculation)} is {_decimal(result)}, not {short_repr(aliases[0])}"


def _calculate(node: ast.expr) -> Fraction:
    """Evaluate a calculation; raise `ValueError` for anything except numbers, + - * / and parentheses."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_calculate(node.left), _calculate(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_calculate(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(str(node.value))
    raise ValueError(ast.dump(node))


def _decimal(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"
