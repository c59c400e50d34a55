"""Attacks on the shipped chains: each line of foreign text is quoted in a prompt."""

from __future__ import annotations

import asyncio

import pytest
from support.samples.attack_texts import ATTACKS

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.systems.chains.find_chain import shipped_chains
from pytest_rageval.systems.chains.system import build, read
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.testing import ScriptedLLM

QUESTION = "Eve met [START_ENT] Paris [END_ENT] in Texas [SEP] place"
MARK = "\u00a4"
"""First character of each line of an attack, to find the line in a prompt."""


class Hostile:
    """A retriever whose one passage is an attack, in its text and its title."""

    in_place = True

    def __init__(self, attack: str) -> None:
        self._attack = attack

    def search(self, query: str, k: int) -> Ranking:
        return Ranking((ScoredPassage("d1", 1.0, self._attack, self._attack),))


def prompts(name: str, attack: str) -> list[str]:
    """Return the prompts of a chain whose passages and replies are an attack."""
    setup = SystemSetup("--rag-system", ComponentOptions({}, "--rag-system"), name)
    llm = ScriptedLLM([attack, attack])
    system = build(SystemParts(Hostile(attack), llm=llm, setup=setup), read(setup))
    asyncio.run(system(Query(QUESTION)))
    return [str(message["content"]) for request in llm.requests for message in request.messages]


CHAINS_WITH_PROMPTS = [
    name for name in shipped_chains() if name.endswith(("-read", "-steps")) and name != "kilt/ay2-read"
]


@pytest.mark.parametrize("name", CHAINS_WITH_PROMPTS)
def test_passages_and_replies_are_quoted_in_later_prompts(name: str) -> None:
    for attack in ATTACKS.values():
        attack_lines = "\n".join(MARK + line for line in attack[:2_000].splitlines())
        sent_prompts = prompts(name, attack_lines)
        assert len(sent_prompts) == (2 if name.endswith("-steps") else 1)
        for prompt in sent_prompts:
            lines = [line for line in prompt.splitlines() if MARK in line]
            restated = [line for line in lines if line.startswith(("Question: ", "It depends on this: ", "Meaning: "))]
            assert len(restated) <= 1
            assert all(line.startswith("> ") or line in restated for line in lines)
            assert not lines or 'Lines that begin with ">" ' in prompt
