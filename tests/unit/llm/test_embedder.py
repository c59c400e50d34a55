"""The embedding client replays, retries, charges and respects a budget like the chat client."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.samples.backend_cases import Backend as ModelBackend
from support.samples.backend_cases import openai_backends, used
from support.servers.openai_server import Fault, OpenAIServer, embedding

from pytest_rageval.errors import ModelError, SystemContractError
from pytest_rageval.llm.backends.named_model import NamedModel
from pytest_rageval.llm.budget import Budget
from pytest_rageval.llm.client.clients import Embedder
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.chat import EmbeddingModel, Embeddings

USAGE = Usage(10, 0, 0.25)
QUICK = RetryPolicy(base_s=0.001, cap_s=0.001)
Vectors = Callable[[Sequence[str]], Any]


def random_vectors(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of 64 random floats with all digits for each text."""
    return [[Random(f"{text}-{at}").gauss(0, 1e-3) for at in range(64)] for text in texts]


class Backend:
    """Raises its ``errors``, one a call, and then returns vectors of the texts; stores its requests."""

    def __init__(self, vectors: Vectors = random_vectors, *errors: Exception, delay_s: float = 0.0) -> None:
        self.vectors = vectors
        self.errors = list(errors)
        self.delay_s = delay_s
        self.requests: list[tuple[list[str], dict[str, object]]] = []

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        self.requests.append((list(texts), params))
        await asyncio.sleep(self.delay_s)
        if self.errors:
            raise self.errors.pop(0)
        return Embeddings(self.vectors(texts), USAGE, "of-2024")


def embedder(backend: EmbeddingModel, **settings: Any) -> Embedder:
    return Embedder(backend, **{"name": "openai/e", "limiter": Limiter(16), "retry": QUICK, **settings})


def ask(model: Embedder, *texts: str, meter: Meter | None = None, repeat: int = 1, **params: object) -> Embeddings:
    async def call() -> Embeddings:
        SCOPE.set(Scope(meter or Meter(), repeat))
        return await model.embed(texts, **params)

    return asyncio.run(call())


def recording(folder: Path, backend: EmbeddingModel, mode: str = "new_episodes", **settings: Any) -> Embedder:
    return embedder(backend, cassettes=Cassettes(folder, mode), **settings)


# The value


def test_vectors_become_tuples_of_floats() -> None:
    vectors: Any = [[1, 2.5], (True, -0.0)]
    assert Embeddings(vectors).vectors == ((1.0, 2.5), (1.0, -0.0))
    assert {type(number) for vector in Embeddings(vectors).vectors for number in vector} == {float}
    assert Embeddings(()).vectors == ()


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        (((1.0, 2.0), (1.0,)), "vectors have one length, of 1 or more, not 1, 2"),
        (((),), "vectors have one length, of 1 or more, not 0"),
        (((1.0, math.nan),), "vectors are of finite numbers"),
        (((1.0,), (-math.inf,)), "vectors are of finite numbers"),
    ],
)
def test_invalid_vectors_are_refused(vectors: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Embeddings(vectors)


# The client


def test_the_client_returns_the_reply_of_its_backend() -> None:
    backend = Backend()
    model = embedder(backend, params={"dimensions": 64, "user": "a"})
    assert isinstance(model, EmbeddingModel)
    reply = ask(model, "b", "a", user="b")
    assert reply.vectors == tuple(map(tuple, random_vectors(["b", "a"])))
    assert replace(reply.usage, latency_s=None) == USAGE
    assert (reply.model, reply.attempts, reply.replayed) == ("of-2024", 1, False)
    assert reply.usage.latency_s is not None
    assert backend.requests == [(["b", "a"], {"dimensions": 64, "user": "b"})]


def test_failed_embeddings_are_retried_and_charged_as_one_call() -> None:
    meter = Meter()
    backend = Backend(random_vectors, ModelError("rate_limited", "later"), ModelError("server_error", "broken"))
    assert ask(embedder(backend), "a", meter=meter).attempts == 3
    assert meter.calls == Calls(1, 0, 3, 10, 0, 0.25, 0.25)


def test_a_refusal_before_any_reply_closes_the_client() -> None:
    backend, meter = Backend(random_vectors, ModelError("auth", "no key")), Meter()
    model = embedder(backend)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"^no key$"):
            ask(model, "a", meter=meter)
    assert (model.refused is not None, len(backend.requests), meter.calls.calls) == (True, 1, 1)


def test_embedding_no_texts_makes_no_call(tmp_path: Path) -> None:
    backend, meter = Backend(), Meter()
    reply = ask(recording(tmp_path, backend), meter=meter)
    assert (reply.vectors, reply.attempts, reply.usage) == ((), 0, Usage(0, 0, 0.0))
    assert (backend.requests, meter.calls, list(tmp_path.iterdir())) == ([], Calls(), [])


def test_a_single_string_is_refused() -> None:
    backend = Backend()
    with pytest.raises(TypeError, match=r"write embed\(\[text\]\)$"):
        asyncio.run(embedder(backend).embed("a text"))
    assert backend.requests == []


def test_a_backend_with_another_result_type_is_reported() -> None:
    class Bare:
        async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
            return random_vectors(texts)  # type: ignore[return-value]

    advice = r"; return Embeddings with one vector a text from `async def embed\(texts, \*\*params\)`$"
    with pytest.raises(SystemContractError, match=r"^the model openai/e returned \[\[.*" + advice):
        ask(embedder(Bare()), "a")
    with pytest.raises(SystemContractError, match=r"^the model openai/e returned Embeddings\(.*" + advice):
        ask(embedder(Backend(lambda texts: [[1.0]])), "a", "b")


def test_calls_from_several_loops_run_on_the_home_loop() -> None:
    async def home(make: Callable[[], Any]) -> Any:
        loops.append(asyncio.get_running_loop())
        return await make()

    loops: list[object] = []
    model = embedder(Backend(), run_on_loop=home)
    ask(model, "a")
    ask(model, "b")
    assert len(loops) == 2


# Recordings


def test_a_replay_returns_the_same_digits_and_price_and_spends_nothing(tmp_path: Path) -> None:
    texts = ("Where is Orsay?", "在哪里？")
    first = ask(recording(tmp_path, Backend()), *texts)
    backend, meter = Backend(), Meter()
    again = ask(recording(tmp_path, backend, "none"), *texts, meter=meter)
    assert again == replace(first, usage=USAGE, attempts=0, replayed=True)
    assert (backend.requests, meter.calls) == ([], Calls(1, 1, 0, 10, 0, 0.25, 0.0))
    assert len(meter.keys) == 1


def test_a_recording_contains_the_texts_and_vectors_of_one_call(tmp_path: Path) -> None:
    ask(recording(tmp_path, Backend(), params={"dimensions": 64, "api_key": "sk-1", "timeout": 9}), "b", "a")
    (line,) = (tmp_path / "embedding-openai--e.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    assert (record["kind"], record["model"], record["params"]) == ("embedding", "openai/e", {"dimensions": 64})
    assert record["messages"] == ["b", "a"]
    assert record["response"] == {
        "vectors": random_vectors(["b", "a"]),
        "model": "of-2024",
        "prompt_tokens": 10,
        "completion_tokens": 0,
        "cost_usd": 0.25,
    }


def test_a_recording_depends_on_the_order_of_texts_the_params_and_the_repeat(tmp_path: Path) -> None:
    backend = Backend()
    model = recording(tmp_path, backend)
    for _ in range(2):
        ask(model, "a", "b")
        ask(model, "b", "a")
        ask(model, "a", "b", dimensions=2)
        ask(model, "a", "b", repeat=2)
    assert len(backend.requests) == 4
    assert model.replays(["a", "b"])
    assert not model.replays(["a"])


def test_recording_the_same_calls_again_changes_no_byte(tmp_path: Path) -> None:
    files = []
    for texts in ("abc", "cab", "abc"):
        cassettes = Cassettes(tmp_path, "all")
        model = embedder(Backend(), cassettes=cassettes)
        for text in texts:
            ask(model, text, "and more")
        cassettes.close()
        files.append([path.read_bytes() for path in tmp_path.iterdir()])
    assert files[0] == files[1] == files[2]
    assert files[0][0].count(b"\n") == 3


def test_the_error_for_an_unrecorded_embedding_shows_the_nearest_texts(tmp_path: Path) -> None:
    model = recording(tmp_path, Backend())
    ask(model, "Where is the Louvre in all of Paris?", "unchanged")
    ask(model, "something else")
    with pytest.raises(ModelError) as error:
        ask(recording(tmp_path, Backend(), "none"), "Where is the Orsay in all of Paris?", "unchanged")
    message = str(error.value)
    assert error.value.kind == "not_recorded"
    assert message.startswith("no reply of embedding 'openai/e' to this request is recorded (2 are in ")
    assert "-  Where is the Louvre in all of Paris?\n+  Where is the Orsay in all of Paris?" in message
    assert "0." not in message


def test_the_nearest_recording_is_found_by_its_texts_and_not_by_its_vectors(tmp_path: Path) -> None:
    cassettes = Cassettes(tmp_path, "new_episodes")
    model = embedder(
        Backend(lambda texts: [[float(len(texts[0]))] * (9 if len(texts[0]) > 9 else 1)]), cassettes=cassettes
    )
    for number in range(400):
        ask(model, f"w{number}")
    ask(model, "few words of it")
    with pytest.raises(ModelError, match="-  few words of it\n"):
        ask(recording(tmp_path, Backend(), "none"), "new words of it")


def test_a_recording_without_a_field_is_reported(tmp_path: Path) -> None:
    ask(recording(tmp_path, Backend()), "a")
    (path,) = tmp_path.glob("*.jsonl")
    path.write_text(path.read_text().replace('"vectors"', '"vektors"'))
    with pytest.raises(ModelError, match=r"has no 'vectors'; delete it and record it again$"):
        ask(recording(tmp_path, Backend()), "a")


def test_replaying_imports_no_library_of_a_provider_and_opens_no_socket(tmp_path: Path) -> None:
    ask(recording(tmp_path, Backend()), "a")
    before = set(sys.modules)
    assert ask(recording(tmp_path, NamedModel("openai/e"), "none"), "a").replayed
    assert not {"litellm", "openai", "httpx"} & (set(sys.modules) - before)


# Money


def test_texts_are_priced_like_a_prompt_without_a_reply(tmp_path: Path) -> None:
    price_requests: list[Any] = []

    def most(messages: Any, params: Any) -> float:
        price_requests.append((messages, params))
        return 0.5

    model = embedder(Backend(), budget=Budget(0.6, tmp_path / "budget.json"), max_cost=most)
    ask(model, "a", "b")
    assert price_requests == [([{"role": "", "content": "a"}, {"role": "", "content": "b"}], {"max_tokens": 0})]
    with pytest.raises(
        ModelError,
        match=r"^the budget of \$0\.6 would be passed by .*raise --rag-budget-usd, and go on",
    ):
        ask(model, "a", "b")


def test_an_unknown_price_cannot_be_budgeted(tmp_path: Path) -> None:
    backend = Backend()
    with pytest.raises(ModelError) as error:
        ask(embedder(backend, budget=Budget(1.0, tmp_path / "budget.json")), "a")
    assert (error.value.kind, backend.requests) == ("budget", [])
    assert str(error.value).endswith("unknown; give input_cost_per_token in rag_embedder_params")


# The backend


def embed(
    backend: ModelBackend,
    server: OpenAIServer,
    *texts: str,
    model: str = "openai/text-embedding-3-small",
    **params: Any,
) -> Embeddings:
    params = {"api_base": server.base_url, "api_key": "sk-test", **params}
    return used(backend, model, lambda client: client.embed(texts, **params))


@openai_backends
def test_embeddings_have_vectors_tokens_price_and_seconds(openai_server: OpenAIServer, backend: ModelBackend) -> None:
    openai_server.delay_s = 0.05
    reply = embed(backend, openai_server, "a b c", "d", "a")
    assert openai_server.requests[0].body["input"] == ["a b c", "d", "a"]
    assert reply.vectors == tuple(tuple(embedding(text)) for text in ("a b c", "d", "a"))
    assert (reply.model, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("text-embedding-3-small", 5, 0)
    assert reply.usage.cost_usd == pytest.approx(5 * 0.02e-6)
    assert reply.usage.latency_s is not None
    assert reply.usage.latency_s >= 0.05


@openai_backends
def test_an_unknown_price_stays_unknown_unless_the_params_set_it(
    openai_server: OpenAIServer, backend: ModelBackend
) -> None:
    assert embed(backend, openai_server, "a b", model="openai/of-our-own").usage.cost_usd is None
    reply = embed(backend, openai_server, "a b", model="openai/of-our-own", input_cost_per_token=0.5)
    assert reply.usage.cost_usd == 1.0
    assert "input_cost_per_token" not in openai_server.requests[-1].body


@openai_backends
def test_the_backend_sends_nothing_for_no_texts(openai_server: OpenAIServer, backend: ModelBackend) -> None:
    assert embed(backend, openai_server) == Embeddings((), Usage(0, 0, 0.0), attempts=0)
    assert openai_server.requests == []


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[1.0, 2.0]], "1 vectors of 2 texts"),
        ([[1.0, 2.0], [1.0]], "no vectors (vectors have one length, of 1 or more, not 1, 2)"),
        ([[1.0, 2.0], [1.0, math.nan]], "no vectors (vectors are of finite numbers)"),
        ([[], []], "no vectors (vectors have one length, of 1 or more, not 0)"),
    ],
)
@openai_backends
def test_invalid_vectors_are_a_malformed_reply(
    openai_server: OpenAIServer, backend: ModelBackend, rows: Any, why: str
) -> None:
    openai_server.vectors = lambda texts: rows
    with pytest.raises(ModelError) as error:
        embed(backend, openai_server, "a", "b")
    assert error.value.kind == "malformed_response"
    assert f" gave a reply that cannot be used ({why}); " in str(error.value)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(Fault("status", 429, 0), "rate_limited"), (Fault("status", 401), "auth"), (Fault("reset"), "connection")],
    ids=["429", "401", "reset"],
)
@openai_backends
def test_faults_have_the_kind_of_their_cause(
    openai_server: OpenAIServer, backend: ModelBackend, fault: Fault, kind: str
) -> None:
    openai_server.plan = lambda number, body: fault
    with pytest.raises(ModelError) as error:
        embed(backend, openai_server, "a")
    assert (error.value.kind, len(openai_server.requests)) == (kind, 1)
