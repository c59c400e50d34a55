"""Shares of error types of agents, their averages and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.outcome_samples import failed, outcome

from pytest_rageval.analysis.error_types import Average, analyze, without_type
from pytest_rageval.analysis.type_shares import DiagnosedOutcome, level_macro, micro, percents, task_macro
from pytest_rageval.errors import SettingError
from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG
from pytest_rageval.metrics.shared.proportion import wilson_interval
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.outcome import DiagnosisType, Score

TYPES: tuple[DiagnosisType, ...] = (*RIGHT, *WRONG)
PUBLISHED = {  # ACC WA EM AM GE TE RE; ME is 0
    "gpt-4 react": (57.0, 43.0, 50.4, 6.5, 10.1, 3.1, 29.9),
    "gpt-4 pal": (43.6, 56.4, 16.5, 27.1, 0.8, 49.4, 6.2),
    "gpt-4 dfsdt": (49.3, 50.7, 42.2, 7.1, 5.1, 0, 45.5),
    "gpt-4 function_calling": (52.8, 47.2, 44.2, 8.6, 11.8, 0, 35.4),
    "gpt-3.5 react": (33.3, 66.7, 29.3, 4.0, 22.5, 18.7, 25.5),
    "gpt-3.5 pal": (51.9, 48.1, 22.0, 29.9, 0.7, 45.1, 2.3),
    "gpt-3.5 dfsdt": (31.8, 68.2, 24.8, 7.0, 9.3, 0, 58.9),
    "gpt-3.5 function_calling": (40.4, 59.6, 28.8, 11.6, 10.6, 0, 49.0),
}


def diagnosed_outcome(
    name: str, kind: DiagnosisType, why: str = "why", trace: Sequence[Step] = (), **facets: Any
) -> DiagnosedOutcome:
    base = outcome(name, 1.0, **facets)
    return DiagnosedOutcome(replace(base, answer=Answer("text", trace=tuple(trace))), kind, why)


def types(em: float, am: float, ge: float, te: float, re: float) -> list[DiagnosisType]:
    """Return answers, ten for each percent."""
    counts: dict[DiagnosisType, float] = {"EM": em, "AM": am, "GE": ge, "TE": te, "RE": re}
    return [kind for kind, percent in counts.items() for _ in range(round(10 * percent))]


@pytest.mark.parametrize(("acc", "wa", "em", "am", "ge", "te", "re"), PUBLISHED.values(), ids=PUBLISHED)
def test_level_macro_averages_equal_the_published_ones(
    acc: float, wa: float, em: float, am: float, ge: float, te: float, re: float
) -> None:
    """Each cell's tasks differ in EM and RE; their mean is the published one."""
    cells = []
    for shift in (-2.0, 0.0, 2.0):
        tasks = [micro(types(em + shift + tilt, am, ge, te, re - shift - tilt)) for tilt in (-0.2, 0.2)]
        cells += [tasks, tasks]
    shares = level_macro(cells)
    assert shares is not None
    assert 100 * shares["ACC"] == pytest.approx(acc, abs=0.15)  # 0.1, and the rounding of ten answers a percent
    assert 100 * shares["WA"] == pytest.approx(wa, abs=0.15)
    assert 100 * shares["EM"] == pytest.approx(em, abs=0.1)
    assert 100 * shares["TE"] == pytest.approx(te, abs=0.1)
    assert shares["ACC"] + shares["WA"] == pytest.approx(1)
    assert shares["EM"] + shares["AM"] + shares["A?"] == pytest.approx(shares["ACC"])


def test_the_averages_weigh_answers_tasks_or_levels_equally() -> None:
    few = micro(["EM"])
    many = micro(["EM", "RE", "RE", "RE"])
    assert few is not None
    assert many is not None
    whole = micro(["EM", "EM", "RE", "RE", "RE"])
    assert whole is not None
    assert whole["EM"] == pytest.approx(0.4)
    tasks = task_macro([few, many])
    assert tasks is not None
    assert tasks["EM"] == pytest.approx(0.625)
    levels = level_macro([[few, many], [many]])
    assert levels is not None
    assert levels["EM"] == pytest.approx((0.625 + 0.25) / 2)
    assert levels["WA"] == pytest.approx(1 - levels["ACC"])


def test_a_missing_cell_withholds_an_average() -> None:
    one = micro(["EM"])
    assert micro([]) is None
    assert task_macro([one, None]) is None
    assert task_macro([]) is None
    assert level_macro([[one], [one, None]]) is None
    cases = [
        diagnosed_outcome("a", "EM", domain="wiki", level="1", task="x"),
        diagnosed_outcome("b", "RE", domain="wiki", level="2", task="y"),
    ]
    other = [DiagnosedOutcome(replace(cases[0].outcome, system="other"), "EM", "")]
    for average in ("task_macro", "level_macro"):
        groups = analyze([*cases, *other], [], None, average).groups
        assert [group.shares is None for group in groups] == [False, True]
        assert groups[0].shares is not None
        assert groups[0].shares["EM"] == 0.5
        assert groups[0].ci95 == {}


@given(st.dictionaries(st.sampled_from(TYPES), st.integers(0, 10_000), min_size=1))
def test_percents_sum_to_100(counts: dict[DiagnosisType, int]) -> None:
    whole = percents(counts)
    total = sum(counts.values())
    assert sum(whole.values()) == (100 if total else 0)
    for name, count in counts.items():
        assert not total or abs(whole[name] - 100 * count / total) < 1
        assert count or not whole[name]


def test_percents_are_rounded_by_the_largest_remainder() -> None:
    assert percents({"EM": 1, "AM": 1, "GE": 1}) == {"EM": 34, "AM": 33, "GE": 33}
    assert percents({"EM": 2, "AM": 1, "GE": 0}) == {"EM": 67, "AM": 33, "GE": 0}
    assert percents({"EM": 0}) == {"EM": 0}


def test_groups_have_wilson_intervals() -> None:
    cases = [diagnosed_outcome(f"q{n}", "EM" if n < 3 else "TE", topic="a" if n % 2 else "b") for n in range(10)]
    analysis = analyze(cases, [], None, "micro")
    (group,) = analysis.groups
    assert (group.n, group.counts["EM"], group.counts["TE"]) == (10, 3, 7)
    assert group.ci95["EM"] == pytest.approx(wilson_interval(3, 10))
    assert group.ci95["WA"] == pytest.approx(wilson_interval(7, 10))
    by_topic = analyze(cases, [], "topic", "micro").groups
    assert [(group.value, group.n) for group in by_topic] == [("a", 5), ("b", 5)]


def test_the_five_most_common_reasons_are_listed_with_a_case_each() -> None:
    cases = [diagnosed_outcome(f"q{n}{i}", "RE", f"reason {n}") for n in range(7) for i in range(n + 1)]
    cases.append(diagnosed_outcome("right", "EM", "not listed"))
    reasons = analyze(cases, [], None, "micro").reasons
    assert [(each.why, each.n) for each in reasons] == [(f"reason {n}", n + 1) for n in (6, 5, 4, 3, 2)]
    assert reasons[0].nodeid == "test_a.py::test_a[q60]"


def test_tools_are_counted_over_all_answers_and_over_tool_errors() -> None:
    search = Step("tool", {"name": "Search", "result": "x"})
    broken = Step("tool", {"name": "Search", "error": "TimeoutError"})
    lookup = Step("tool", {"name": "Lookup", "found": False})
    nested = Step("retrieve", {"parent": 0})
    cases = [
        diagnosed_outcome("a", "EM", trace=[search, nested]),
        diagnosed_outcome("b", "TE", trace=[broken, broken, search]),
        diagnosed_outcome("c", "TE", trace=[broken, lookup]),
        diagnosed_outcome("d", "RE"),
    ]
    analysis = analyze(cases, [], None, "micro")
    assert [tuple(each)[1:] for each in analysis.tools] == [("Search", 5, 3, 3, 0.75), ("Lookup", 1, 1, 1, 0.25)]
    assert [tuple(each)[1:] for each in analysis.te_tools] == [("Search", 2, 2), ("Lookup", 1, 2)]


def test_outcomes_without_a_type_are_counted_by_reason() -> None:
    unanswerable = replace(outcome("a", 1.0), scores={"diagnosis:TE": Score.not_applicable("unanswerable")})
    ability = outcome("b", 1.0, ability="noise_robustness")
    supplied = replace(outcome("c", 1.0), supplied=("p0",))
    assert without_type([unanswerable, ability, supplied, outcome("d", 1.0), failed("e")]) == {
        "ability_testbed": 1,
        "error": 1,
        "no_trace": 1,
        "not_applicable": 1,
        "unanswerable": 1,
    }


@pytest.mark.parametrize(
    ("by", "average", "problem"),
    [
        ("topci", "micro", "--by: unknown facet 'topci'; did you mean 'topic'?"),
        (None, "task_macro", "--average task_macro needs the facet task, and 1 of 1 answers lack it"),
        (None, "level_macro", "--average level_macro needs the facet domain, and 1 of 1 answers lack it"),
    ],
)
def test_a_facet_that_answers_lack_is_refused(by: str | None, average: Average, problem: str) -> None:
    with pytest.raises(SettingError, match=r"unknown facet|needs the facet") as error:
        analyze([diagnosed_outcome("a", "EM", topic="x")], [], by, average)
    assert str(error.value) == problem
