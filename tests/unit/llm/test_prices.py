"""Prices come from litellm's local map, unknown prices are None, and tokens are counted without a network."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_rageval.hooks.config.model_costs import max_cost
from pytest_rageval.llm.backends import prices
from pytest_rageval.llm.backends.encodings import encoding, encoding_of
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.prices import UNSET, Prices, count_tokens, entry_in_file
from pytest_rageval.model.chat import Completion, ToolCall


def test_the_price_of_a_known_model_comes_from_the_map() -> None:
    prices = Prices("openai/gpt-4o-mini")

    assert prices.cost(1_000_000, 0) == pytest.approx(0.15)
    assert prices.cost(0, 1_000_000) == pytest.approx(0.60)
    assert prices.max_cost(1_000_000, 1_000_000) == pytest.approx(0.75)
    assert prices.max_cost(0, UNSET) == pytest.approx(16_384 * 0.6e-6)


@pytest.mark.parametrize("model", ["openai/of-our-own", "hosted_vllm/gpt-4o-mini", "no-such-provider/x", "no-such"])
def test_an_unknown_price_is_none(model: str) -> None:
    assert Prices(model).cost(10, 10) is None
    assert Prices(model).max_cost(10, 10) is None


def test_without_max_tokens_only_a_free_model_has_a_highest_price() -> None:
    rates = {"input_cost_per_token": 1, "output_cost_per_token": 2}
    free = {"input_cost_per_token": 0, "output_cost_per_token": 0}

    assert Prices("openai/of-our-own", rates).max_cost(3, UNSET) is None
    assert Prices("openai/of-our-own", free).max_cost(3, UNSET) == 0.0
    assert Prices("openai/of-our-own", {**rates, "max_tokens": 4}).max_cost(3, UNSET) == 11.0
    assert Prices("openai/of-our-own", {**rates, "max_tokens": 4}).max_cost(3, 0) == 3.0


def test_a_model_that_is_free_costs_nothing() -> None:
    assert Prices("ollama/llama2").cost(10, 10) == 0.0


def test_a_price_in_the_params_overrides_the_map() -> None:
    prices = Prices("openai/gpt-4o-mini", {"input_cost_per_token": 1, "output_cost_per_token": 2.0})

    assert prices.cost(3, 4) == 11.0


def test_an_unknown_model_needs_the_prices_of_prompt_and_reply() -> None:
    prices = Prices("openai/of-our-own", {"input_cost_per_token": 1, "output_cost_per_token": None})

    assert prices.cost(3, 4) is None
    assert prices.cost(3, 0) == 3.0


def test_long_prompts_have_the_price_of_their_tier() -> None:
    prices = Prices("gemini/gemini-2.5-pro")

    assert prices.cost(100_000, 0) == pytest.approx(0.125)
    assert prices.cost(300_000, 0) == pytest.approx(0.75)


def test_a_price_that_the_user_registered_with_litellm_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0, "litellm_provider": "openai"}
    monkeypatch.setitem(litellm().model_cost, "of-our-own-registered", rates)
    assert Prices("openai/of-our-own-registered").cost(3, 4) == 11.0
    assert Prices("hosted_vllm/of-our-own-registered").cost(3, 4) is None


def test_an_alias_of_the_file_has_the_price_of_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"litellm_provider": "maker", "input_cost_per_token": 1e-6}
    rows = {
        "maker/new": {"alias_of": "maker/new-2026"},
        "maker/new-2026": rates,
        "maker/newest": {"alias_of": "maker/new"},
        "maker/round": {"alias_of": "maker/round"},
        "maker/lost": {"alias_of": "maker/none"},
    }
    path = tmp_path / "map.json"
    path.write_text(json.dumps(rows))
    monkeypatch.setattr(prices, "litellm_file", lambda name: path)
    monkeypatch.setattr(prices, "entry_in_file", entry_in_file.__wrapped__)

    assert {name: prices.entry_in_file(name) for name in rows} == {
        **dict.fromkeys(rows),
        "maker/new": rates,
        "maker/new-2026": rates,
    }


def test_cached_tokens_have_the_cached_price() -> None:
    assert Prices("openai/gpt-4o-mini").cost(1_000_000, 0, 1_000_000) == pytest.approx(0.075)
    assert Prices("openai/gpt-4-turbo").cost(1_000_000, 0, 1_000_000) == pytest.approx(
        10.0
    )  # the map has no cached price
    custom = Prices("openai/gpt-4o-mini", {"input_cost_per_token": 1, "output_cost_per_token": 1})
    assert custom.cost(3, 0, 3) == 3.0


def test_tokens_of_an_openai_model_are_counted() -> None:
    before = dict(os.environ)
    messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": "Hi there!"}]
    words = encoding("o200k_base")

    tokens, exact = count_tokens("openai/gpt-4o-mini", messages)

    assert exact
    assert tokens == 3 + sum(3 + 1 + len(words.encode(message["content"])) for message in messages)
    assert dict(os.environ) == before


def test_bundled_encodings_are_tiktokens_own() -> None:
    assert encoding("cl100k_base").encode("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert encoding("o200k_base").decode(encoding("o200k_base").encode("检索增强生成")) == "检索增强生成"


def test_an_encoding_that_is_not_bundled_is_never_downloaded() -> None:
    assert encoding_of("gpt2") is None
    assert encoding_of("no-such-model") is None
    with pytest.raises(OSError, match="brings no file"):
        encoding("o200k_harmony")


def test_tokens_of_another_model_are_an_estimate() -> None:
    english, exact = count_tokens("anthropic/claude-x", [{"role": "user", "content": "a" * 400}])
    chinese, _ = count_tokens("hosted_vllm/qwen", [{"role": "user", "content": "字" * 400}])

    assert not exact
    assert 100 <= english <= 110
    assert 400 <= chinese <= 410


def test_parts_of_a_message_are_counted() -> None:
    parts = [{"type": "text", "text": "Hi there!"}]

    assert count_tokens("gpt-4o", [{"role": "user", "content": parts}]) == count_tokens(
        "gpt-4o", [{"role": "user", "content": "Hi there!"}]
    )


@pytest.mark.parametrize("model", ["gpt-4o", "hosted_vllm/qwen"])
def test_the_tokens_of_tool_calls_are_an_estimate(model: str) -> None:
    few, many = (
        count_tokens(model, [Completion("", tool_calls=(ToolCall("c1", "search", "x " * times),)).message])
        for times in (1, 1000)
    )
    assert many[0] - few[0] >= 400
    assert (few[1], many[1]) == (False, False)


def test_the_highest_price_of_a_call_includes_its_tools() -> None:
    most = max_cost("openai/gpt-4o-mini", {"input_cost_per_token": 1, "output_cost_per_token": 0})
    messages = [{"role": "user", "content": "Where?"}]
    tools = [{"type": "function", "function": {"name": "search", "description": "word " * 1000}}]
    without_tools, with_tools = (most(messages, {"max_tokens": 10, "tools": each}) for each in (None, tools))
    assert without_tools is not None
    assert with_tools is not None
    assert with_tools - without_tools > 1000


def test_the_budget_problem_names_a_missing_price_or_longest_reply() -> None:
    rates: dict[str, object] = {"input_cost_per_token": 1, "output_cost_per_token": 2}

    assert "the price of openai/x is unknown; give a and b in s" in Prices("openai/x").budget_problem("s", "a and b")
    assert "how long a reply of openai/x may be; give max_tokens in s" in Prices("openai/x", rates).budget_problem(
        "s", "a"
    )
    assert Prices("openai/x", {**rates, "max_tokens": 4}).budget_problem("s", "a") == ""
    assert Prices("openai/x", {**rates, "max_completion_tokens": 4}).budget_problem("s", "a") == ""
    assert Prices("openai/gpt-4o-mini").budget_problem("s", "a") == ""


def test_a_short_prompt_of_a_tiered_model_needs_no_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = Prices("gemini-2.5-pro")
    by_litellm = prices._tiers(1000, 10)
    monkeypatch.setattr(prices, "_tiers", lambda *_: pytest.fail("litellm takes seconds to import"))
    assert prices.cost(1000, 10) == pytest.approx(by_litellm)
