"""Record and replay tool calls and the tool lists of servers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments.results import plain_result, text_of
from pytest_rageval.environments.tool import InvalidArgumentsError, Observation
from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.usage_meter import Meter, current
from pytest_rageval.llm.recordings.records import as_json
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.secrets import mask_json
from pytest_rageval.model.plain import plain_json, plain_text
from pytest_rageval.trace.passages import passage_detail, passage_of

if TYPE_CHECKING:
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["KIND", "RecordedCalls", "recorded_tools"]

KIND = "tool"
"""The kind of tool calls in recordings."""

LIST = {"list": "tools"}
"""Body of the request for a server's tool list."""


class RecordedCalls:
    """Records and replays the tool calls of one case; without a record mode, it only makes the calls.

    A recording is identified by the environment, the tool, its arguments and the repeat of the case; in an environment
    with state, also by the earlier calls. Outages are not recorded.

    Args:
        environment: its name.
        has_state: whether a call may change the results of later calls.
    """

    def __init__(self, environment: str, *, has_state: bool) -> None:
        self._environment = environment
        self._has_state = has_state
        self._before: list[Mapping[str, Any]] = []

    async def observe(
        self, tool: str, arguments: Mapping[str, Any], call: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        """Return the recorded observation of a call; without a recording, make the call and record it.

        Raises:
            ModelError: of kind "not_recorded": there is no recording, and the record mode forbids the call.
        """
        scope = current()
        if scope.cassettes is None:
            return await call()
        content = {"tool": tool, "arguments": plain_json(arguments)}
        before = {"after": list(self._before)} if self._before else {}
        if self._has_state:
            self._before.append(content)
        request = Request(KIND, self._environment, {}, {**content, **before}, scope.repeat)
        response = _find_response(scope.cassettes, request, scope.meter)
        if response is None:
            recordable = _as_stored(_record_of(await _observe_call(call)))
            response = scope.cassettes.find(request)  # another case has made the same call meanwhile
            if response is None:
                scope.cassettes.record(request, recordable)
                scope.meter.use(request.key)
                return _observation_of(recordable, request)
        scope.meter.use(request.key, replayed=True)
        return _observation_of(response, request)


def recorded_tools(environment: str, ask: Callable[[], list[Any]]) -> list[Any]:
    """Return the recorded tool list of a server as plain JSON; without a recording, ask the server and record it.

    Raises:
        ModelError: of kind "not_recorded": there is no recording, and the record mode forbids the request.
    """
    scope = current()
    if scope.cassettes is None:
        return ask()
    request = Request(KIND, environment, {}, LIST, 1)
    response = _find_response(scope.cassettes, request, scope.meter)
    if response is None:
        response = _as_stored({"tools": ask()})
        scope.cassettes.record(request, response)
    scope.meter.use(request.key)  # a replayed tool list leaves the case's latency valid
    tools = response.get("tools")
    if not isinstance(tools, list):
        raise _malformed(request, "tools")
    return tools


def _find_response(cassettes: Cassettes, request: Request, meter: Meter) -> dict[str, Any] | None:
    """Return the recorded response; if the call is forbidden, the case fails even if its system catches the error."""
    try:
        return cassettes.find(request)
    except ModelError as error:
        meter.refuse(error)
        raise


def _as_stored(response: dict[str, Any]) -> dict[str, Any]:
    """Return a response as a replay will return it: secrets masked, keys in file order."""
    stored: dict[str, Any] = json.loads(as_json(mask_json(response)))
    return stored


async def _observe_call(call: Callable[[], Awaitable[Observation]]) -> Observation:
    try:
        return await call()
    except InvalidArgumentsError as fault:
        return Observation(plain_text(fault), invalid=True)


def _record_of(observation: Observation) -> dict[str, Any]:
    if observation.error is not None:
        return {"error": observation.error}
    if observation.invalid:
        return {"invalid": observation.text}
    record: dict[str, Any] = {"result": observation.result}
    if observation.passages != plain_result(observation.result, "").passages:
        record["passages"] = [passage_detail(passage) for passage in observation.passages]
    if observation.found is not None:
        record["found"] = observation.found
    return record


def _observation_of(record: Mapping[str, Any], request: Request) -> Observation:
    if isinstance(error := record.get("error"), str):
        return Observation(f"Error: {error}", error=error)
    if isinstance(text := record.get("invalid"), str):
        return Observation(text, invalid=True)
    if "result" not in record:
        raise _malformed(request, "result")
    result, found = record["result"], record.get("found")
    try:
        details = record.get("passages")
        passages = plain_result(result, "").passages if details is None else tuple(map(passage_of, details))
    except (AttributeError, KeyError, TypeError):
        raise _malformed(request, "valid passages") from None
    return Observation(text_of(result), result, passages, found=found if isinstance(found, bool) else None)


def _malformed(request: Request, field: str) -> ModelError:
    problem = f"the recording {request.key} of environment {request.model!r} has no {field}"
    return ModelError("malformed_response", f"{problem}; delete it and record it again", attempts=0)
