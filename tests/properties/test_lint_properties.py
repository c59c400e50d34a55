"""The linter on any instances: it never raises, and the order of records does not matter."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.linting import BUILTIN
from pytest_rageval.linting.linter import lint
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.facets import ABILITIES

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.sampled_from(
        ["Paris", "in Paris", "170", "70", "Yes", "是的", "巴黎,罗马", "When was it built?", "when was it build?"]
    ),
)
SLOTS = st.lists(st.lists(TEXTS, max_size=3).map(tuple), max_size=3).map(tuple)
NAMES = st.sampled_from(["p0", "p1", "doc#1", "基金", ""])
PASSAGES = st.builds(
    Passage,
    NAMES,
    TEXTS,
    role=st.sampled_from(["", "positive", "negative", "counterfactual"]),
    group=st.sampled_from([None, 0, 1]),
    page=NAMES,
)
INSTANCES = st.builds(
    Instance,
    TEXTS,
    TEXTS,
    gold=SLOTS,
    passages=st.none() | st.lists(PASSAGES, max_size=6).map(tuple),
    fake=SLOTS,
    qrels=st.dictionaries(NAMES, st.integers(-1, 3), max_size=3),
    history=st.lists(st.builds(Turn, TEXTS, TEXTS), max_size=1).map(tuple),
    answerable=st.sampled_from([None, False, True]),
    language=st.sampled_from(["en", "zh", "fr"]),
    facets=st.dictionaries(st.sampled_from(["topic", "topic_1", "task"]), NAMES, max_size=2),
    provenance=st.lists(st.lists(NAMES, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
)
LINT_SETTINGS = st.fixed_dictionaries(
    {"passages": st.integers(0, 6)},
    optional={
        "noise_rate": st.sampled_from([0.0, 0.4]),
        "ability": st.sampled_from(sorted(set(ABILITIES) - {"negative_rejection"})),
        "assembly": st.sampled_from(["balanced", "rgb-compat"]),
    },
)


@settings(max_examples=80, deadline=None)
@given(st.lists(INSTANCES, max_size=8), LINT_SETTINGS, st.randoms(use_true_random=False))
def test_any_instances_can_be_linted_in_any_order(
    instances: list[Instance], settings: dict[str, object], chance: random.Random
) -> None:
    findings = lint(instances, **settings)  # type: ignore[arg-type]
    assert {finding.check for finding in findings} <= set(BUILTIN)
    assert all(str(finding).isprintable() for finding in findings)
    shuffled = list(instances)
    chance.shuffle(shuffled)
    assert Counter(lint(shuffled, **settings)) == Counter(findings)  # type: ignore[arg-type]
