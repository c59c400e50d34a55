"""Laws of counterfactual twins: only the answer changes, and rules reject the false one."""

from __future__ import annotations

import re

from hypothesis import assume, event, given
from hypothesis import strategies as st

from pytest_rageval.generation.abilities.answer_reading import read_answer
from pytest_rageval.generation.abilities.counterfactuals import Counterfactual, make_counterfactual
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.metrics.shared.quantities import numerical_verdict
from pytest_rageval.model.case import Instance, Passage

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
PEOPLE = ("Ann Lee", "Bo Ek", "Maria Stone", "Tom Reed", "Ida Brandt", "Jon Vik")
CITIES = ("奥斯陆", "卑尔根", "巴黎", "武汉", "成都", "罗马")

numbers = st.one_of(
    st.integers(2, 9999).map(str),
    st.integers(1000, 9_999_999).map(lambda n: f"{n:,}"),
    st.builds(lambda n, d: f"{n}.{d}", st.integers(0, 999), st.integers(1, 99)),
)
units = st.sampled_from(["", " seats", "%", " km", " million", " people", "万人", "%", " kg"])
amounts = st.one_of(
    st.builds(lambda c, n, s: f"{c}{n}{s}", st.sampled_from("$€£"), numbers, st.sampled_from(["", " million", "bn"])),
    st.builds(lambda n, s: f"{n}{s}", numbers, st.sampled_from([" euros", " dollars", "亿元", "万元", "元"])),
)
years = st.integers(1000, 2030)
days = st.builds(
    lambda d, m, y, form: form.format(d=d, m=m, M=MONTHS[m - 1], y=y),
    st.integers(1, 28),
    st.integers(1, 12),
    years,
    st.sampled_from(["{d} {M} {y}", "{M} {d}, {y}", "{y}年{m}月{d}日", "{y}-{m:02}-{d:02}", "{M} {y}", "{y}年", "{y}"]),
)
times = st.builds(
    lambda h, m, form: form.format(h=h, m=m, t=(h - 1) % 12 + 1),
    st.integers(0, 23),
    st.sampled_from([0, 0, 15, 30, 45, 7]),
    st.sampled_from(["{h}:{m:02}", "{h:02}:{m:02}", "{t}:{m:02} p.m.", "{t} am", "下午{t}点{m}分", "{h}点{m}分"]),
)
answers = st.one_of(
    st.builds(str.__add__, numbers, units), amounts, days, times, st.sampled_from(PEOPLE), st.sampled_from(CITIES)
)
sentences = st.sampled_from([
    "The hall has {0} in all.", "It is {0}, and not {1}.", "{0}. The other one is {1}.", "在{0}之后，是{1}。",
    "从{1}到{0}。", "{0} ({1}); again {0}.", "Of {1}, {0}", "{1}{0}", "{0}-{1}", "about {0}, or {1}\nLee said {0}",
    "（{0}）其中{1}，{0}",
])  # fmt: skip


def is_stated(answer: str, text: str) -> bool:
    """Return whether a text states the answer, maybe in another form."""
    value = read_answer((answer,))
    return contains(text, answer) or (not isinstance(value, Drop) and value.gold_is_in(text))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Instance, Passage]:
    answer, other = draw(answers), draw(answers)
    assume(answer in other or not is_stated(answer, other))
    text = " ".join(draw(st.lists(sentences, min_size=1, max_size=3))).format(answer, other)
    aliases = tuple(dict.fromkeys([answer, *draw(st.lists(st.sampled_from([answer, f"about {answer}"]), max_size=1))]))
    title = draw(st.sampled_from(["", "Hall", answer, other]))
    instance = Instance(draw(st.text("abc123", min_size=1, max_size=4)), "How much, or who?", (aliases,))
    return instance, Passage("p0", text, title=title, role="positive")


def counterfactual_of(case: tuple[Instance, Passage], seed: int) -> Counterfactual:
    return make_counterfactual(case[0], [case[1]], seed, (PEOPLE, CITIES))


@given(cases(), st.integers(0, 3))
def test_a_twin_contains_no_gold_answer_and_rules_reject_its_false_answer(
    case: tuple[Instance, Passage], seed: int
) -> None:
    instance, passage = case
    lie = counterfactual_of(case, seed)
    event("no twin" if lie.reason else "twin")
    assume(lie.reason is None)
    twin = lie.twins["p0"]
    whole = f"{twin.title}\n{twin.text}"
    assert twin.role == "counterfactual"
    assert not any(contains(whole, alias) for slot in instance.gold for alias in slot)
    assert any(contains(whole, fake) for slot in lie.fake for fake in slot)
    assert not any(contains(f"{passage.title}\n{passage.text}", fake) for slot in lie.fake for fake in slot)
    for slot, fakes in zip(instance.gold, lie.fake, strict=True):
        if slot[0] in (*PEOPLE, *CITIES):
            assert not any(one in other or other in one for one in slot for other in fakes)
            continue
        assert all(numerical_verdict(Instance("", instance.question, (slot,)), fake) == 0.0 for fake in fakes)
        assert all(numerical_verdict(Instance("", instance.question, (fakes,)), alias) == 0.0 for alias in slot)


@given(cases(), st.integers(0, 3))
def test_a_twin_differs_only_in_the_spans_of_the_answer(case: tuple[Instance, Passage], seed: int) -> None:
    instance, passage = case
    lie = counterfactual_of(case, seed)
    assume(lie.reason is None)
    gold, fake = instance.gold[0], lie.fake[0]
    for before, after in ((passage.title, lie.twins["p0"].title), (passage.text, lie.twins["p0"].text)):
        pairs = [(gold[0], fake[0]), *([("Lee", fake[0].split()[-1])] if gold[0] == "Ann Lee" else [])]
        assert re.fullmatch(either(before, pairs), after), (before, after)


def either(text: str, pairs: list[tuple[str, str]]) -> str:
    """Return a pattern that allows the old or the new part at each place of the old one."""
    pattern = re.escape(text)
    for old, new in pairs:
        pattern = pattern.replace(re.escape(old), f"(?:{re.escape(old)}|{re.escape(new)})")
    return pattern


@given(cases(), st.integers(0, 3))
def test_the_same_seed_and_id_give_the_same_false_answer(case: tuple[Instance, Passage], seed: int) -> None:
    assert counterfactual_of(case, seed) == counterfactual_of(case, seed)


@given(cases())
def test_every_passage_has_a_twin_or_a_reason(case: tuple[Instance, Passage]) -> None:
    lie = counterfactual_of(case, 0)
    assert (lie.reason is None) == bool(lie.twins) == bool(lie.fake)
    if lie.reason:
        assert lie.reason.reason in {
            "ambiguous_name", "ambiguous_value", "answer_not_in_passage", "fake_already_there", "no_other_value",
            "no_rule_for_answer", "old_value_left", "other_form",
        }  # fmt: skip
