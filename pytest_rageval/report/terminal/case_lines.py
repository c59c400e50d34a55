"""One case of a run as lines: question, gold, answers, scores, passages, cause, steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.baseline.comparison import broken_of
from pytest_rageval.analysis.baseline.failure_cause import cause_text
from pytest_rageval.analysis.baseline.pairing import Pair, Pairing
from pytest_rageval.metrics.diagnosis.diagnose import WORDS
from pytest_rageval.model.answer import OldAnswer
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.examples import evidence_ids, rank_text
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.report.run.old_answers import HOW_TO_STORE, texts_digest
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line, counted, number
from pytest_rageval.report.text.steps import step_lines
from pytest_rageval.report.text.word_difference import difference_line, word_difference

__all__ = ["RERUN", "case_lines"]

RERUN = "rerun: "
"""The beginning of the line with the command that runs the case again."""

MAX_PASSAGES = 10
"""Passages with evidence to list."""

_NOT_COMPARED = (
    "the run was compared with no other; name a baseline with --rag-baseline, or an earlier results.json with "
    "--rag-against"
)


def case_lines(run: Run, outcome: Outcome) -> Iterator[Line]:
    """Yield the lines of an outcome, and of the same case in the baseline if the run was compared with one."""
    pairing = _pairing(run)
    pair = _pair_of((*pairing.pairs, *pairing.failed), outcome)
    instance: Mapping[str, Any] = from_json(run.instances.get(outcome.case_id, {}))
    has_texts = "question" in instance
    yield Line(f"{outcome.nodeid} - {outcome.status}, system {outcome.system}", "bold")
    if has_texts:
        yield Line(f"question: {_one_line(outcome.question or instance['question'])}")
    for slot in instance.get("gold", ()):
        yield Line(f"wanted: {_one_line(' / '.join(slot))}")
    if outcome.error_type is not None:
        yield Line(
            f"error: {_one_line(outcome.error_type)}{'' if outcome.error is None else f' - {_one_line(outcome.error)}'}"
        )
    old = None if run.old_answers is None else run.old_answers.of(outcome)
    if has_texts:
        yield from _answers(outcome, old, _why_unknown(run, pairing, outcome))
    yield from _scores(outcome, pair)
    yield from _passages(outcome, old, pair, instance)
    if pair is not None:
        yield from _cause(run, pair)
    if outcome.diagnosis is not None:
        kind, why = outcome.diagnosis.type, outcome.diagnosis.why
        yield Line(f"diagnosis: {kind} {WORDS[kind]} ({why})")
    yield Line(f"{RERUN}{shlex.join(['pytest', outcome.nodeid])}")
    if outcome.answer is None or not outcome.answer.trace:
        yield Line("steps: none recorded")
        return
    yield Line("steps:")
    yield from map(Line, step_lines(outcome.answer.trace))


def _pairing(run: Run) -> Pairing:
    """Return the pairs of the same case in the run and the baseline, computed once."""
    earlier = run.narrowed_baseline()
    return Pairing() if earlier is None else run.once("pairing", lambda run: run.pairing(earlier))


def _pair_of(pairs: Sequence[Pair], outcome: Outcome) -> Pair | None:
    return next((pair for pair in pairs if outcome.nodeid in pair.after.nodes), None)


def _why_unknown(run: Run, pairing: Pairing, outcome: Outcome) -> str:
    """Return why the old answer of an outcome is unknown; only used if it is."""
    if run.baseline is None:
        return _NOT_COMPARED
    if _pair_of(pairing.changed, outcome) is not None:
        return "the question, the gold answer or the passages of the case changed since the baseline"
    if any(outcome.nodeid in case.nodes for case in pairing.new):
        return "the baseline does not have this case"
    pair = _pair_of((*pairing.pairs, *pairing.failed), outcome)
    return "the baseline has no answer to this case" if pair is None or not pair.before.said else HOW_TO_STORE


def _answers(outcome: Outcome, old: OldAnswer | None, why_unknown: str) -> Iterator[Line]:
    """Yield the old and the new answer, and their difference."""
    now = None if outcome.answer is None else _one_line(outcome.answer.text)
    was = None if old is None else _one_line(old.text)
    if was is None:
        if now is not None:
            yield Line(f"answer: {now}")
        yield Line(f"was: unknown, {why_unknown}")
        return
    if now == was:
        yield Line(f"answer: {now}")
        yield Line("was: the same answer")
        return
    yield Line(f"was: {was}")
    if now is not None:
        yield Line(f"now: {now}")
        yield difference_line(word_difference(was, now), "difference: ")


def _scores(outcome: Outcome, pair: Pair | None) -> Iterator[Line]:
    """Yield each score, after its value in the baseline: ``accuracy: 1 -> 0``."""
    before: Mapping[str, float] = {} if pair is None else pair.before.scores
    for name in dict.fromkeys((*outcome.scores, *before)):
        score = outcome.scores.get(name)
        now = "no score" if score is None else number(score.value) if score.reason is None else _one_line(score.reason)
        yield Line(f"{name}: {f'{number(before[name])} -> ' if name in before else ''}{now}")


def _passages(
    outcome: Outcome, old: OldAnswer | None, pair: Pair | None, instance: Mapping[str, Any]
) -> Iterator[Line]:
    """Yield the gained and lost passages, and the ranks of the passages with evidence."""
    now, was = outcome.seen, None if old is None else old.passages
    if now is not None and was is not None:
        gained = [name for name in now if name not in was]
        lost = [name for name in was if name not in now]
        if gained or lost:
            yield Line(f"passages: gained {', '.join(gained) or 'none'}; lost {', '.join(lost) or 'none'}")
        else:
            yield Line(f"passages: {_same_ids(outcome, old, instance)}")
    evidence = [] if now is None else evidence_ids(outcome, instance)
    for name in evidence[:MAX_PASSAGES]:
        then = "" if was is None else f"{rank_text(name, was)} -> "
        yield Line(f"evidence {name}: {then}{rank_text(name, now or ())}")
    if len(evidence) > MAX_PASSAGES:
        yield Line(f"evidence in {counted(len(evidence) - MAX_PASSAGES, 'more passage')}")
    if pair is not None and pair.before.evidence is not None and pair.after.evidence is not None:
        yield Line(f"share of the evidence: {number(pair.before.evidence)} -> {number(pair.after.evidence)}")


def _same_ids(outcome: Outcome, old: OldAnswer | None, instance: Mapping[str, Any]) -> str:
    """Return whether passages with the same ids differ in order or text.

    The texts of the case's own passages are the same in both runs, or the case would count as changed.
    """
    order = "" if old is None or outcome.seen == old.passages else " in another order"
    if all(name in instance.get("passages", ()) for name in outcome.seen or ()):
        return f"the same{order}"
    texts = "" if outcome.answer is None else texts_digest(outcome.answer)
    if old is None or not texts or not old.texts:
        return f"the same ids{order}, texts unknown"
    return f"the same{order}" if texts == old.texts else f"the same ids{order}, other texts"


def _cause(run: Run, pair: Pair) -> Iterator[Line]:
    """Yield the cause if the case broke by the primary metric of its testbed."""
    metric = run.primary.get(pair.after.testbed, "")
    info = run.plan.metrics.get(metric)
    if info is None or metric not in pair.before.scores or metric not in pair.after.scores:
        return
    if broken_of([pair], metric, higher_is_better=info.higher_is_better):
        yield Line(f"cause: {cause_text(pair, info.of)}")


def _one_line(text: str) -> str:
    """Return a text in one line; line breaks become spaces."""
    return " ".join(text.split())
