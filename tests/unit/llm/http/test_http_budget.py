"""The budget refuses HTTP requests of a system before they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.recording.http_session import case, recording
from support.servers.provider_server import ProviderServer

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.budget import Budget
from pytest_rageval.llm.client.usage_meter import RefusedCallError

CALL_PRICE = 4 * 0.15e-6 + 4 * 0.6e-6
"""Price of a call to gpt-4o-mini with a prompt of four words and a reply of four."""
CALL_LIMIT = 52 * 0.15e-6 + 4 * 0.6e-6
"""A little more than the reservation for a call, which counts field names and JSON syntax, too."""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running_server:
        yield running_server


def ask(server: ProviderServer, number: int = 0, **fields: Any) -> str:
    requests = pytest.importorskip("requests")
    messages = [{"role": "user", "content": f"Does it open, {number}?"}]
    body = {"model": "gpt-4o-mini", "max_tokens": 4, "messages": messages, **fields}
    reply = requests.post(f"{server.base_url}/chat/completions", json=body).json()
    return str(reply["choices"][0]["message"]["content"])


def refusal(server: ProviderServer, **fields: Any) -> str:
    with pytest.raises(RefusedCallError) as error:
        ask(server, 9, **fields)
    assert isinstance(error.value.error, ModelError)
    assert error.value.error.kind == "budget"
    return str(error.value)


def stored_budget(path: Path) -> dict[str, float]:
    budget: dict[str, float] = json.loads(path.read_text())
    return budget


def test_a_call_that_would_exceed_the_budget_is_not_sent(server: ProviderServer, tmp_path: Path) -> None:
    file = tmp_path / "budget.json"
    with recording(tmp_path, None, budget=Budget(CALL_PRICE + CALL_LIMIT, file)), case() as scope:
        ask(server, 1)
        assert stored_budget(file) == {"spent": pytest.approx(CALL_PRICE), "reserved": 0}
        ask(server, 2)
        assert "would be passed by a call that may cost" in refusal(server)
    assert len(server.requests) == 2
    assert scope.meter.refused is not None
    assert stored_budget(file) == {"spent": pytest.approx(2 * CALL_PRICE), "reserved": 0}


def test_concurrent_calls_stay_below_the_budget(server: ProviderServer, tmp_path: Path) -> None:
    file, limit = tmp_path / "budget.json", 4 * CALL_LIMIT

    def is_answered(number: int) -> bool:
        try:
            ask(server, number)
        except RefusedCallError:
            return False
        return True

    with recording(tmp_path, None, budget=Budget(limit, file)), ThreadPoolExecutor(16) as threads:
        n_answered = sum(threads.map(is_answered, range(16)))
    assert 4 <= n_answered == len(server.requests) < 16
    assert stored_budget(file) == {"spent": pytest.approx(n_answered * CALL_PRICE), "reserved": 0}
    assert n_answered * CALL_PRICE <= limit


def test_a_replay_costs_nothing(server: ProviderServer, tmp_path: Path) -> None:
    with recording(tmp_path / "cassettes", "new_episodes"):
        ask(server)
    with recording(tmp_path / "cassettes", "none", budget=Budget(0.0, tmp_path / "budget.json")):
        assert ask(server) == "It opens at 9:00."


def test_a_call_whose_cost_cannot_be_bounded_is_refused(server: ProviderServer, tmp_path: Path) -> None:
    budget = Budget(1.0, tmp_path / "budget.json")
    with recording(tmp_path, None, budget=budget):
        assert "the price of my-own is unknown; name it in rag_model and give input_cost_per_token" in refusal(
            server, model="my-own"
        )
    with recording(tmp_path, None, budget=budget, partial=True):
        ask(server, model="my-own")
    assert len(server.requests) == 1


def test_without_max_tokens_the_longest_reply_counts(server: ProviderServer, tmp_path: Path) -> None:
    with recording(tmp_path, None, budget=Budget(0.001, tmp_path / "budget.json")):
        message = refusal(server, max_tokens=None)
    assert "the longest possible reply of gpt-4o-mini is assumed; send a lower max_tokens" in message


def test_a_failed_call_releases_its_reservation(server: ProviderServer, tmp_path: Path) -> None:
    server.status = 500
    with recording(tmp_path, None, budget=Budget(1.0, tmp_path / "budget.json")), pytest.raises(KeyError):
        ask(server)
    assert stored_budget(tmp_path / "budget.json") == {"spent": 0, "reserved": 0}
