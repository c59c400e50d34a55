from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.metric_samples import sample, slots

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import UnknownNameError
from pytest_rageval.metrics import BUILTIN, FAMILIES, OTHER_NAMES
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric
from pytest_rageval.registry import Registry

METRICS: Registry[Metric] = Registry("metric", BUILTIN, families=FAMILIES)
FAMILY_MEMBERS = (
    "AP", "AP@5", "Judged", "Judged@5", "P@5", "R@5", "RR", "RR@5", "Rprec", "Success@5", "diagnosis:TE",
    "kilt:token_f1", "nDCG", "nDCG@5", "erag:AP", "erag:P@5", "erag:Success@5", "erag:nDCG@5", "page_P@5", "page_R@5",
    "page_Success@5",
)  # fmt: skip
NAMES = sorted([*BUILTIN, *FAMILY_MEMBERS])

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(
        st.sampled_from(
            ["信息不足", "no ", "factual errors", "事实性错误", "没有", "Rome", "7", "70", ".", ",", "\n", "\ud800"]
        )
    ).map("".join),
)
GOLDS: st.SearchStrategy[Gold] = st.lists(st.lists(TEXT, max_size=3).map(tuple), max_size=3).map(tuple)

HOSTILE = {
    "spaces": " ",
    "newlines": "\n",
    "digits": "7",
    "digits and spaces": "7 ",
    "thousands": "1,111,",
    "dots": "1.",
    "negated": "no factual errors ",
    "negators": "no not ",
    "marks": "\u0301\u0323",
    "ligatures": "\ufdfa and so on",
    "chinese": "没有事实性错误",
    "quotes": "。”",
}


@pytest.mark.parametrize("name", NAMES)
def test_each_metric_has_its_name_and_a_complete_docstring(name: str) -> None:
    metric = METRICS.get(name)
    assert metric.name == name
    docstring = metric.compute.__doc__ or ""
    assert [word for word in ("Formula:", "Range:", "Empty input:", "Source:") if word not in docstring] == []
    assert ("lower is better" in docstring) is not metric.higher_is_better
    assert ("0 or 1" in docstring) is metric.binary


@given(TEXT, GOLDS, GOLDS, st.sampled_from(["en", "zh"]), st.sampled_from([True, False, None]), st.booleans())
def test_any_text_gives_a_value_in_range_or_a_reason(
    text: str, gold: Gold, fake: Gold, language: str, evidence: bool | None, abstained: bool
) -> None:
    answer_sample = sample(
        text, gold, fake=fake, language=language, evidence=evidence, abstained=True if abstained else None
    )
    for name in NAMES:
        metric = METRICS.get(name)
        score = metric.compute(answer_sample)
        if score.value is None:
            assert (score.reason or "").startswith(
                ("not_applicable: ", "no_ranking", "judge_unavailable", "model_unavailable", "embedder_unavailable")
            ), name
        elif metric.binary:
            assert score.value in (0.0, 1.0), name
        else:
            assert 0.0 <= score.value <= 1.0, name


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_does_not_take_quadratic_time(unit: str) -> None:
    text = "Rome" + unit * (200_000 // len(unit))
    hostile_sample = sample(text, slots(["Lima", "77", "11", "七"]), fake=slots("8"), evidence=True, noise_rate="1")
    start = time.process_time()
    for name in NAMES:
        METRICS.get(name).compute(hostile_sample)
    assert time.process_time() - start < 10, "2e5 characters take well under a second; a quadratic step takes minutes"


def test_importing_every_metric_needs_the_standard_library_only() -> None:
    modules = sorted({target.partition(":")[0] for target in [*BUILTIN.values(), *FAMILIES.values()]})
    script = (
        f"import sys; before = set(sys.modules); import {', '.join(modules)}\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - sys.stdlib_module_names))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["pytest_rageval"]


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("recall@5", "R@5"), ("Precision@10", "P@10"), ("recall", "R@5"), ("MRR@10", "RR@10"), ("F1@3", "token_f1")],
)
def test_the_name_of_another_tool_gives_a_suggestion(name: str, suggestion: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown metric '{name}'; did you mean '{suggestion}'"):
        Catalog().metrics.get(name)


@pytest.mark.parametrize("name", OTHER_NAMES.values())
def test_every_suggested_name_is_a_metric(name: str) -> None:
    assert Catalog().metrics.get(name).name == name
