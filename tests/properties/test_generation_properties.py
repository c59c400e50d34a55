"""Laws of generated sets, over random plans: no document in two sets, and ids that depend on the draft alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.projects.model_plans import model_plan, model_stages

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.loading import load_material
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.jobs import MODEL_TASKS
from pytest_rageval.generation.plan import Plan, read_plan
from pytest_rageval.generation.split import Sets, SplitSettings, split
from pytest_rageval.model.case import Passage
from pytest_rageval.model.chat import Message
from pytest_rageval.testing import ScriptedLLM

Document = tuple[str, int]
"""The topic of a document, and its number of chunks."""


def passages(documents: Sequence[Document]) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            f"d{number}#{chunk}",
            f"The house {number * 10 + chunk} of the old town was built in the year {1000 + number * 10 + chunk}.",
            page=f"d{number}",
            metadata={"topic": topic},
        )
        for number, (topic, chunks) in enumerate(documents)
        for chunk in range(chunks)
    )


def reply(messages: Sequence[Message]) -> str:
    """Write one valid item for any request, and accept each item to inspect."""
    text = str(messages[-1]["content"])
    if "Item to inspect" in text:
        return '{"verdict": "keep"}'
    facts = [(int(house), year) for house, year in re.findall(r"house (\d+) .* year (\d+)", text)]
    houses = " and ".join(f"{house * 7919 % 9973}" for house, _ in facts)
    evidence = [f"was built in the year {year}" for _, year in facts]
    if "conversation" in text:
        first = {"question": f"When was house {houses} built?", "answers": [facts[0][1]], "evidence": evidence[:1]}
        turns = [first, {**first, "question": "And in which year was that?"}]
        return json.dumps([{"entity": f"house {houses}", "turns": turns}])
    values = {"question": f"Of {houses} houses and {text.split()[3]}, when was each built?", "evidence": evidence}
    if "calculation" in text:
        total = sum(int(year) for _, year in facts) * 3
        return json.dumps([{**values, "answers": [str(total)], "calculation": f"{total} + 0"}])
    return json.dumps([values | {"slots": [[year] for _, year in facts]}])


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A plan that asks a model; its documents are replaced."""
    folder = tmp_path_factory.mktemp("plan")
    path = model_plan(folder, *MODEL_TASKS)
    loaded_plan = read_plan(path)
    load_material(loaded_plan, None)
    return loaded_plan


def generate(plan: Plan, corpus: tuple[Passage, ...]) -> list[Draft]:
    material = Material(plan, {}, Path(), corpus=corpus, models=ModelAccess(lambda name: ScriptedLLM(reply)))
    return model_stages(material)


def assert_separate(sets: Sets) -> None:
    """Assert that no document and no conversation is in two sets, and that people review a subset of the tests."""
    members = (sets.auto_test, sets.auto_train)
    pages = [{source.page for draft in drafts for source in draft.sources} for drafts in members]
    assert not pages[0] & pages[1]
    assert {draft.id for draft in sets.human_test} <= {draft.id for draft in sets.auto_test}
    turns = Counter(draft.facets.get("dialogue") for draft in sets.auto_test)
    for name, count in Counter(draft.facets.get("dialogue") for draft in sets.human_test).items():
        assert name is None or turns[name] == count


DOCUMENTS = st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 3)), min_size=1, max_size=5)
SHARES = st.floats(0, 1).map(lambda share: {"auto_test": share, "auto_train": 1 - share})


@given(
    documents=DOCUMENTS,
    tasks=st.lists(st.sampled_from(MODEL_TASKS), min_size=1, max_size=2, unique=True),
    per_cell=st.integers(1, 4) | st.none(),
    shares=SHARES,
    people=st.integers(0, 3),
    seed=st.integers(0, 3),
)
def test_no_document_is_in_two_sets_of_any_plan(
    plan: Plan,
    documents: list[Document],
    tasks: list[str],
    per_cell: int | None,
    shares: dict[str, float],
    people: int,
    seed: int,
) -> None:
    plan = replace(plan, seed=seed, tasks=tuple(tasks), per_cell=per_cell)
    drafts = generate(plan, passages(documents))
    sets = split(drafts, SplitSettings(shares, people), seed, [])
    assert_separate(sets)
    assert {each.id for each in (*sets.auto_test, *sets.auto_train)} == {
        each.id for each in drafts if each.state == "kept"
    }


@given(documents=DOCUMENTS, added=st.tuples(st.sampled_from("ABC"), st.integers(1, 3)), seed=st.integers(0, 3))
def test_a_new_document_changes_no_id_of_other_documents(
    plan: Plan, documents: list[Document], added: Document, seed: int
) -> None:
    plan = replace(plan, seed=seed, tasks=("extractive_qa", "multi_hop_qa", "long_form_qa", "conversational_qa"))
    before = {each.id: each for each in generate(plan, passages(documents)) if each.state == "kept"}
    after = {each.id: each for each in generate(plan, passages([*documents, added])) if each.state == "kept"}
    assert before.keys() <= after.keys()
    new = f"d{len(documents)}"
    assert all(source.page == new for name in after.keys() - before.keys() for source in after[name].sources)


@given(
    links=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3), max_size=40),
    shares=SHARES,
    people=st.integers(0, 3),
    seed=st.integers(0, 100),
)
def test_no_document_is_in_two_sets_for_any_links_between_cases(
    links: list[list[int]], shares: dict[str, float], people: int, seed: int
) -> None:
    drafts = [
        Draft(
            f"q{number}", (("a",),), f"task{number % 3}", "T", "llm", "m",
            tuple(Passage(f"d{page}#{number}", "text", page=f"d{page}") for page in pages), state="kept",
        )
        for number, pages in enumerate(links)
    ]  # fmt: skip
    sets = split(drafts, SplitSettings(shares, people), seed, [])
    assert_separate(sets)
    assert len(sets.auto_test) + len(sets.auto_train) == len(drafts)
    assert split(drafts[::-1], SplitSettings(shares, people), seed, []) == sets
