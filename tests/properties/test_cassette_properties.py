"""Laws of recordings: they are found again, whatever their content and order."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.llm.client.completions import completion_from_record, completion_record
from pytest_rageval.llm.recorded_functions.tagged_json import decode, encode
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, ToolCall

TEXTS = st.text(st.characters(exclude_categories=())).map(lambda text: json.loads(json.dumps(text)))
"""Any text, also with halves of surrogate pairs; two adjacent halves are the character, as in JSON."""

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
messages = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": TEXTS}), max_size=3)
requests = st.builds(
    Request,
    kind=st.sampled_from(["model", "judge", "system"]),
    model=st.sampled_from(["a/b", "a--b", "基金", "m"]),
    params=st.dictionaries(st.sampled_from(["temperature", "stop", "seed"]), values, max_size=2),
    messages=messages | values,
    repeat=st.integers(1, 3),
)
responses = st.dictionaries(TEXTS, values, max_size=3)
calls = st.lists(st.tuples(requests, responses), max_size=6, unique_by=lambda call: call[0].key)


def record(folder: Path, episodes: list[tuple[Request, dict[str, Any]]]) -> dict[str, bytes]:
    cassettes = Cassettes(folder, "new_episodes")
    for request, response in episodes:
        cassettes.record(request, response)
        assert cassettes.find(request) == response
    cassettes.close()
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(deadline=None, max_examples=60)
@given(calls, st.randoms(use_true_random=False))
def test_recordings_are_found_and_their_order_does_not_matter(
    episodes: list[tuple[Request, dict[str, Any]]], random: Any
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        one.mkdir()
        other.mkdir()
        recordings = record(one, episodes)
        again = Cassettes(one, "none")
        for request, response in episodes:
            assert again.find(request) == response
        shuffled = list(episodes)
        random.shuffle(shuffled)
        assert record(other, shuffled) == recordings == record(one, shuffled)


@given(requests)
def test_a_request_survives_a_round_trip(request: Request) -> None:
    params, messages = json.loads(json.dumps([request.params, request.messages]))
    again = Request(request.kind, request.model, params, messages, request.repeat)
    assert (again, again.key) == (request, request.key)


@given(requests, requests)
def test_two_requests_have_the_same_key_only_if_they_are_equal(one: Request, other: Request) -> None:
    def content_of(request: Request) -> str:
        parts = [request.kind, request.model, request.params, request.messages, request.repeat]
        return json.dumps(parts, sort_keys=True)

    assert (one.key == other.key) == (content_of(one) == content_of(other))


@given(values)
def test_any_json_value_survives_encoding_and_decoding(value: object) -> None:
    assert decode(json.loads(json.dumps(encode(value, "it")))) == value


tool_calls = st.lists(st.builds(ToolCall, TEXTS, TEXTS, TEXTS), max_size=3)


@settings(deadline=None, max_examples=60)
@given(TEXTS, tool_calls, TEXTS)
def test_any_reply_of_a_model_is_replayed_unchanged(text: str, calls: list[ToolCall], result: str) -> None:
    reply = Completion(text, Usage(), "tool_calls", "m", tool_calls=tuple(calls))
    results = [{"role": "tool", "tool_call_id": call.id, "content": result} for call in calls]
    request = Request("model", "m", {}, [reply.message, *results], 1)
    with tempfile.TemporaryDirectory() as folder:
        cassettes = Cassettes(Path(folder), "new_episodes")
        cassettes.record(request, completion_record(reply))
        cassettes.close()
        response = Cassettes(Path(folder), "none").find(request)
    assert response is not None
    again = completion_from_record(response, Usage())
    assert (again.text, again.tool_calls, again.finish_reason) == (text, tuple(calls), "tool_calls")


@settings(deadline=None, max_examples=60)
@given(tool_calls.filter(lambda calls: len({call.id for call in calls}) == len(calls)), st.randoms())
def test_the_key_of_a_conversation_does_not_depend_on_the_ids_of_its_calls(calls: list[ToolCall], random: Any) -> None:
    def key(names: list[str]) -> str:
        renamed_calls = [ToolCall(name, call.name, call.arguments) for name, call in zip(names, calls, strict=True)]
        results = [{"role": "tool", "tool_call_id": call.id, "content": call.arguments} for call in renamed_calls]
        return Request("model", "m", {}, [Completion("", tool_calls=tuple(renamed_calls)).message, *results], 1).key

    other_ids = [f"call_{random.random()}_{number}" for number in range(len(calls))]
    assert key([call.id for call in calls]) == key(other_ids)
