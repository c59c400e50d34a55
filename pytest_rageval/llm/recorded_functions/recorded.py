"""Record and replay results of users' functions, by name and arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.llm.client.usage_meter import charge, current
from pytest_rageval.llm.recorded_functions.dependencies import Dependencies, calling_file
from pytest_rageval.llm.recorded_functions.step_recordings import collect_separately, plain_steps, replay_steps
from pytest_rageval.llm.recorded_functions.tagged_json import decode, encode
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Answer

if TYPE_CHECKING:
    from pytest_rageval.llm.recordings.cassettes import Cassettes
    from pytest_rageval.trace.collector import Collector

__all__ = ["is_recorded", "record_call", "recorded"]

P = ParamSpec("P")
R = TypeVar("R")

_MARK = "__rageval_recorded__"
"""The attribute that marks a recorded function; `functools.wraps` copies it."""


@overload
def recorded(
    function: Callable[P, R], /, *, name: str | None = None, depends: Iterable[object] = ()
) -> Callable[P, R]: ...


@overload
def recorded(
    *, name: str | None = None, depends: Iterable[object] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def recorded(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    depends: Iterable[object] = (),
) -> Callable[..., Any]:
    """Return a function whose results are recorded while a case is answered, and replayed later.

    The steps that the function adds with `pytest_rageval.tracing` are recorded and replayed, too.

    Use it as ``@recorded`` or ``@recorded(depends=["prompts.toml"])`` on a function, a coroutine function or a callable
    object. The name, the arguments and the case's repeat identify a result. A call that raises is not recorded.
    Outside of a case the function is only called. The option ``--rag-record-mode`` sets when calls are replayed.

    A recording is stale if the code changes: the function's module, the module that calls ``recorded``, or their
    imports from the rootdir. It is also stale if something in ``depends`` changes. The setting
    ``rag_stale_recordings`` sets what happens then. Other changes are not detected: a model behind an API, an index,
    installed packages, values passed at run time. List those in ``depends``.

    Args:
        function: takes and returns JSON values, tuples, `Query`, `Answer` and the values in these.
        name: the name of the recordings; by default the function's module and qualified name.
        depends: other dependencies of the results. A string or a path is a file or folder, next to the calling file or
            in the rootdir. Any other JSON value is a setting, as ``{"model": MODEL, "top_k": 5}``.

    Raises:
        SettingError: the function needs a ``name``, or ``depends`` is not a list; on a call, an argument, a result or
            a setting cannot be recorded, or a file of ``depends`` does not exist.
        ModelError: on a call, of kind "not_recorded", if there is no recording or it is stale.
    """
    caller = calling_file()
    if function is None:
        return functools.partial(_record_calls, name=name, caller=caller, depends=depends)
    return _record_calls(function, name, caller, depends)


def is_recorded(system: object) -> bool:
    """Return whether ``system`` is or wraps a recorded function, whose calls can be replayed."""
    return hasattr(system, _MARK)


def record_call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call ``function`` as `recorded` does; await the result of a coroutine function.

    For a plain function, only the function's code makes a recording stale; the caller's code does not.
    """
    if inspect.isfunction(function):
        return cast("R", _recorded_form(function)(*args, **kwargs))
    return _record_calls(function, None, calling_file(), ())(*args, **kwargs)


@functools.lru_cache(maxsize=256)
def _recorded_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plain function with recording, as `recorded` does; cached to read its code only once."""
    return _record_calls(function, None, None, ())


def _record_calls(
    function: Callable[P, R], name: str | None, caller: Path | None, depends: Iterable[object]
) -> Callable[P, R]:
    recording_name = name or _name_of(function)
    dependencies = Dependencies(recording_name, function, caller, depends)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        coroutine_function = cast("Callable[P, Awaitable[Any]]", function)

        @functools.wraps(function)
        async def record_async_call(*args: P.args, **kwargs: P.kwargs) -> Any:
            cassettes = current().cassettes
            if cassettes is None:
                return await coroutine_function(*args, **kwargs)
            request = _request(recording_name, function, args, kwargs)
            depends_on = dependencies.digests(cassettes.root)
            response = cassettes.find(request, depends_on)
            if response is None:
                with collect_separately() as steps:
                    result = await coroutine_function(*args, **kwargs)
                return _record(cassettes, request, depends_on, result, steps)
            return _replay(request, response)

        setattr(record_async_call, _MARK, True)
        return cast("Callable[P, R]", record_async_call)

    @functools.wraps(function)
    def record_sync_call(*args: P.args, **kwargs: P.kwargs) -> R:
        cassettes = current().cassettes
        if cassettes is None:
            return function(*args, **kwargs)
        request = _request(recording_name, function, args, kwargs)
        depends_on = dependencies.digests(cassettes.root)
        response = cassettes.find(request, depends_on)
        if response is None:
            with collect_separately() as steps:
                result = function(*args, **kwargs)
            return _record(cassettes, request, depends_on, result, steps)
        return cast("R", _replay(request, response))

    setattr(record_sync_call, _MARK, True)
    return record_sync_call


def _request(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Request:
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except ValueError as error:  # some functions written in C have no signature
        raise SettingError(f"{name} does not say its parameters; record a function around it") from error
    arguments = {key: encode(value, f"argument {key!r} of {name}") for key, value in bound.items()}
    return Request("system", name, {}, arguments, current().repeat)


def _record(
    cassettes: Cassettes, request: Request, depends_on: Mapping[str, str], result: R, collector: Collector
) -> R:
    try:
        encoded = encode(result, f"the result of {request.model}")
    except SettingError:
        if inspect.iscoroutine(result):
            result.close()  # it will not be awaited
        raise
    steps = plain_steps(collector)
    cassettes.record(request, {"result": encoded, "trace": steps} if steps else {"result": encoded}, depends_on)
    current().meter.use(request.key)
    return result


def _replay(request: Request, response: dict[str, Any]) -> Any:
    current().meter.use(request.key, replayed=True)
    replay_steps(response.get("trace", ()))
    result = decode(response["result"])
    if isinstance(result, Answer):
        charge(result.usage, replayed=True)
    return result


def _name_of(function: Callable[..., Any]) -> str:
    """Return the module and qualified name of a function, or of an object's class."""
    owner = function if hasattr(function, "__qualname__") else type(function)
    name = f"{owner.__module__}.{owner.__qualname__}"
    if isinstance(function, functools.partial) or name.endswith("<lambda>"):
        raise SettingError(f"{short_repr(function)} has no name to be recorded under; give it one: recorded(name=...)")
    return name
