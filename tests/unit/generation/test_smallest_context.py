"""Search for the smallest context, with systems that are plain functions of the passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.ddmin import NoMoreTestsError
from pytest_rageval.generation.shrinking.reply import Reply, misses_alike
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.generation.shrinking.smallest_context import Context, smallest_context
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.report.terminal.shrunk_contexts import shrunk_lines

P0 = Passage("p0", "The museum opens at 9:00.", role="positive")
N0 = Passage("n0", "The ferry leaves at 8:15.", role="negative")
W0 = Passage("w0", "The museum is old. The museum opens at 10:00. It is large.", role="negative")
N1 = Passage("n1", "Soup costs 12 euros.", role="negative")
N2 = Passage("n2", "Bo Ek is the mayor.", role="negative")
PASSAGES = (P0, N0, W0, N1, N2)
MUSEUM = Instance("q17", "When does the museum open?", gold=(("9:00",),), passages=PASSAGES)
UNKNOWN = "I do not know."

System = Callable[[Context], str]


def last_time(context: Context) -> str:
    """Answer with the last opening time of any passage."""
    times = [time for each in context for time in re.findall(r"opens at ([0-9:]+)", each.text)]
    return times[-1] if times else UNKNOWN


def asking(system: System, log: list[tuple[Context, int]] | None = None) -> Callable[[Context, int], Reply]:
    """Return a function that asks a system and scores it by containment."""

    def ask(context: Context, repeat: int) -> Reply:
        if log is not None:
            log.append((context, repeat))
        text = system(context)
        return Reply("9:00" not in text, text, rejected=text == UNKNOWN)

    return ask


def shrink(system: System, passages: Sequence[Passage] = PASSAGES, most: int = 60, confirm: int = 3) -> ShrinkResult:
    return smallest_context(MUSEUM, passages, asking(system), retrieves=False, limit=most, confirm=confirm)


def lines(result: ShrinkResult | str, *, texts: bool = True) -> list[str]:
    return [line.strip() for line in shrunk_lines({"museum[q17]": result}, texts=texts)][1:]


def test_a_wrong_passage_is_found_and_reduced_to_its_sentence() -> None:
    log: list[tuple[Context, int]] = []
    result = smallest_context(MUSEUM, PASSAGES, asking(last_time, log), retrieves=False, limit=60, confirm=3)
    (reduced,) = result.context
    assert (reduced.passage, reduced.sentence_numbers, reduced.n_sentences) == (
        replace(W0, text="The museum opens at 10:00."),
        (2,),
        3,
    )
    assert (result.n_seen, result.is_minimal, result.repeats) == (5, True, (3, 3))
    assert (result.gold, result.added) == (("p0",), ())
    assert result.calls == len(log) == len(set(log))
    assert lines(result) == [
        f'museum[q17]   5 passages -> 1, 2nd of 3 sentences: w0 "The museum opens at 10:00."   {len(log)} calls',
        "without w0 right in all 2 contexts; with p0 + w0 wrong: the context, not its absence, breaks it",
    ]
    assert lines(result, texts=False)[0] == f"museum[q17]   5 passages -> 1, 2nd of 3 sentences: w0   {len(log)} calls"


def test_misread_evidence_is_not_blamed_on_the_context() -> None:
    def misread(context: Context) -> str:
        return "eight" if "p0" in {each.id for each in context} else UNKNOWN

    result = smallest_context(MUSEUM, (P0, N1), asking(misread), retrieves=False, limit=60, confirm=3)
    assert [each.passage for each in result.context] == [P0]
    assert lines(result)[1].endswith("it misses with all its evidence: the context does not break it")


def test_two_passages_that_break_only_together_stay() -> None:
    def both(context: Context) -> str:
        return "10:00" if {"n0", "n2"} <= {each.id for each in context} else "9:00"

    result = shrink(both)
    assert [each.passage for each in result.context] == [N0, N2]
    assert "5 passages -> 2: n0 " in lines(result)[0]
    assert lines(result)[1].startswith("without n0 or n2 right in all ")


@given(st.lists(st.integers(1, 3), min_size=2, max_size=3), st.integers(0, 2**32))
def test_no_sentence_and_no_passage_can_be_left_out(sizes: list[int], seed: int) -> None:
    """Holds even for a system that more passages help and fewer passages break."""
    whole = tuple(
        Passage(f"n{at}", " ".join(f"Line {at} {number}." for number in range(size)), role="negative")
        for at, size in enumerate(sizes)
    )

    def breaks(context: Context) -> bool:
        lines = re.findall(r"Line \d \d", " ".join(each.text for each in context))
        return bool(lines) and (context == whole or Random(f"{seed} {lines}").random() < 0.5)

    result = shrink(lambda context: "10:00" if breaks(context) else "9:00", whole, most=500)
    context = tuple(each.passage for each in result.context)
    assert result.is_minimal
    assert breaks(context)
    for at, passage in enumerate(context):
        others = passage.text.split(". ")
        fewer = [". ".join(others[:n] + others[n + 1 :]) for n in range(len(others))] if len(others) > 1 else []
        for rest in ((), *((replace(passage, text=text),) for text in fewer)):
            assert not breaks((*context[:at], *rest, *context[at + 1 :]))


def test_a_passage_is_left_out_if_fewer_sentences_made_it_unnecessary() -> None:
    """From lines 1, 3 | 4, 6, no single sentence can be left out, only the whole second passage."""
    whole = (Passage("n0", "Line 1. Line 2. Line 3."), Passage("n1", "Line 4. Line 5. Line 6."))
    broken = ("123456", "13456", "1346", "13")

    def system(context: Context) -> str:
        return "10:00" if "".join(re.findall(r"\d", " ".join(each.text for each in context))) in broken else "9:00"

    (reduced,) = shrink(system, whole).context
    assert reduced.passage.text == "Line 1. Line 3."


def test_missing_evidence_is_not_the_fault_of_the_context() -> None:
    result = shrink(last_time, (N0, N1, N2))
    assert (result.context, result.gold, result.added) == ((), ("p0",), ("p0",))
    assert lines(result) == [
        "museum[q17]   3 passages -> 0: it misses without any passage   5 calls",
        "right with p0: evidence is missing",
    ]


def test_a_system_that_is_always_wrong_is_not_broken_by_its_context() -> None:
    result = shrink(lambda context: "10:00")
    assert (result.context, result.added) == ((), ())
    assert lines(result)[1] == "with p0 wrong: the context does not break it"


def test_several_gold_passages_may_be_needed() -> None:
    second = Passage("p1", "Except in May.", role="positive")
    instance = replace(MUSEUM, passages=(*PASSAGES, second))

    def needs_both(context: Context) -> str:
        return "9:00" if {"p0", "p1"} <= {each.id for each in context} else "10:00"

    result = smallest_context(instance, (N0, N1), asking(needs_both), retrieves=False, limit=60, confirm=1)
    assert result.added == ("p0", "p1")


def test_evidence_that_was_in_the_context_is_not_missing() -> None:
    def trust_majority(context: Context) -> str:
        """Believe the evidence against one passage, and not against two."""
        ids = [each.id for each in context]
        return "9:00" if "p0" in ids and len(ids) < 3 else "10:00" if set(ids) - {"p0"} else UNKNOWN

    result = shrink(trust_majority, (P0, N0, W0))
    assert (len(result.context), result.added, result.had_evidence) == (1, ("p0",), True)
    assert lines(result)[1].endswith(": the system saw that, and more passages together break it")


def test_a_result_that_does_not_repeat_is_flaky() -> None:
    def ask(context: Context, repeat: int) -> Reply:
        text = "9:00" if repeat == 2 else last_time(context)
        return Reply("9:00" not in text, text, rejected=text == UNKNOWN)

    result = smallest_context(MUSEUM, PASSAGES, ask, retrieves=False, limit=60, confirm=3)
    assert (result.is_flaky, result.repeats) == (True, (3, 2))
    assert lines(result)[1].startswith("flaky: 2 of 3; ")


def test_the_search_makes_at_most_the_allowed_calls() -> None:
    for most in (4, 6, 8, 12):
        log: list[tuple[Context, int]] = []
        result = smallest_context(MUSEUM, PASSAGES, asking(last_time, log), retrieves=False, limit=most, confirm=3)
        assert len(log) <= most
        assert result.calls == len(log)
        assert any(each.passage.id == "w0" for each in result.context)
    assert not shrink(last_time, most=6).is_minimal
    assert lines(shrink(last_time, most=6))[1].endswith("stopped: 4 calls; a smaller one may exist")


def test_a_spent_budget_ends_the_search_with_its_reason() -> None:
    budget = [5]

    def ask(context: Context, repeat: int) -> Reply:
        budget[0] -= 1
        if budget[0] < 0:
            raise NoMoreTestsError("the budget of $1 is spent")
        return asking(last_time)(context, repeat)

    result = smallest_context(MUSEUM, PASSAGES, ask, retrieves=False, limit=60, confirm=3)
    assert result.stopped == "the budget of $1 is spent"
    assert lines(result)[1].endswith("stopped: the budget of $1 is spent; a smaller one may exist")
    budget[0] = 0
    with pytest.raises(SettingError, match=r"it was not asked: the budget of \$1 is spent"):
        smallest_context(MUSEUM, PASSAGES, ask, retrieves=False, limit=60, confirm=3)


def test_an_error_does_not_count_as_missed() -> None:
    def ask(context: Context, repeat: int) -> Reply:
        if {each.id for each in context} == {"w0"}:
            return Reply(None, problem="it raised")
        return asking(last_time)(context, repeat)

    result = smallest_context(MUSEUM, PASSAGES, ask, retrieves=False, limit=60, confirm=1)
    ids = [each.passage.id for each in result.context]
    assert len(ids) == 2
    assert "w0" in ids


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(False, "9:00"), "it is right now, so there is nothing to shrink"),
        (Reply(None, problem="ValueError: no such model"), "it cannot be asked again: ValueError: no such model"),
        (Reply(True, "8:00", ranking=("d7",)), "its system ignores the passages it is given"),
    ],
)
def test_a_case_that_cannot_be_shrunk_is_refused(reply: Reply, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        smallest_context(MUSEUM, PASSAGES, lambda context, repeat: reply, retrieves=False, limit=60, confirm=3)


def test_a_system_that_retrieves_and_answers_the_same_without_passages_is_refused() -> None:
    with pytest.raises(SettingError, match="ignores the passages"):
        smallest_context(MUSEUM, PASSAGES, asking(lambda context: "10:00"), retrieves=True, limit=60, confirm=3)
    result = smallest_context(MUSEUM, PASSAGES, asking(last_time), retrieves=True, limit=60, confirm=3)
    assert [each.passage.id for each in result.context] == ["w0"]


def test_a_system_that_rejects_with_and_without_passages_is_not_refused() -> None:
    result = smallest_context(MUSEUM, (N0, N1), asking(last_time), retrieves=True, limit=60, confirm=3)
    assert lines(result)[1] == "right with p0: evidence is missing"


def test_a_case_that_is_not_shrunk_prints_the_reason() -> None:
    assert lines("its fixtures failed") == ["museum[q17]   not shrunk: its fixtures failed"]


def test_hostile_texts_are_escaped() -> None:
    hostile = replace(W0, id="w\x1b[2J", text="It opens at 10:00.\u202e <b>")
    output = "\n".join(lines(shrink(last_time, (P0, hostile))))
    assert output.isprintable() or "\n" in output
    assert "\x1b" not in output
    assert "\u202e" not in output


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (Reply(True, "The museum opens at 10:00."), Reply(True, "10:00"), True),
        (Reply(True, "The museum opens at 10:00."), Reply(True, "8:15"), False),
        (Reply(True, "10:00"), Reply(True, UNKNOWN, rejected=True), False),
        (Reply(True, UNKNOWN, rejected=True), Reply(True, "Nobody says.", rejected=True), True),
        (Reply(True, "10:00"), Reply(False, "10:00 or 9:00"), False),
        (Reply(True, "10:00"), Reply(None, "10:00"), False),
        (Reply(True, "The museum."), Reply(True, "It is open."), True),
    ],
)
def test_replies_miss_alike_if_they_give_the_same_wrong_answer(one: Reply, other: Reply, alike: bool) -> None:
    assert misses_alike(MUSEUM, one, other) is alike
