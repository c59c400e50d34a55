"""Record and replay a user's own system: results by name and arguments, as long as the code is the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from pytest_rageval.errors import SettingError, found
from pytest_rageval.llm.client.usage_meter import charge, current
from pytest_rageval.llm.recorded_functions.dependencies import Dependencies, calling_file
from pytest_rageval.llm.recorded_functions.tagged_json import decode, encode
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Answer

if TYPE_CHECKING:
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["is_recorded", "record_call", "recorded"]

P = ParamSpec("P")
R = TypeVar("R")

_MARK = "__rageval_recorded__"
"""The attribute of a recorded function that says so; `functools.wraps` hands it on."""


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
    """Return a function whose results are recorded while a case is answered, and replayed from then on.

    Use it as ``@recorded`` or ``@recorded(depends=["prompts.toml"])`` on a function, a coroutine function or an object
    that is called. A result is found by the name, the arguments and the repeat of the case. A result of a call that
    raises is not recorded. Outside of a case the function is only called. The option ``--rag-record-mode`` says when
    a call is replayed.

    A recording is stale when the code changes: the module of the function, the module that calls ``recorded``, and
    what they import from the rootdir. It is also stale when something in ``depends`` changes. The setting
    ``rag_stale_recordings`` says what happens then. Nothing else is seen: a model behind an API, an index, installed
    packages, values that are passed at run time. Name those in ``depends``.

    Args:
        function: takes and returns JSON values, tuples, `Query`, `Answer` and what these hold.
        name: what the recordings are filed under: the function's module and qualified name if none is given.
        depends: what else the results depend on. A string or a path is a file or a folder, beside the calling file or
            in the rootdir. Any other JSON value is a setting, as ``{"model": MODEL, "top_k": 5}``.

    Raises:
        SettingError: the function has no name and none is given, or ``depends`` is no list; when called, an argument,
            a result or a setting cannot be recorded, or a file of ``depends`` does not exist.
        ModelError: when called, of kind "not_recorded", if there is no recording or it is stale.
    """
    caller = calling_file()
    if function is None:
        return functools.partial(_wrapped, name=name, caller=caller, depends=depends)
    return _wrapped(function, name, caller, depends)


def is_recorded(system: object) -> bool:
    """Return whether calling ``system`` calls a recorded function, so that all it does can be replayed."""
    return hasattr(system, _MARK)


def record_call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call ``function`` as `recorded` does; await the result of a coroutine function.

    The code of a plain function counts, and not that of its caller, which gives it nothing but the arguments.
    """
    if inspect.isfunction(function):
        return cast("R", _wrapped_once(function)(*args, **kwargs))
    return _wrapped(function, None, calling_file(), ())(*args, **kwargs)


@functools.lru_cache(maxsize=256)
def _wrapped_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plain function as it is recorded; its code is read once, not for each call."""
    return _wrapped(function, None, None, ())


def _wrapped(
    function: Callable[P, R], name: str | None, caller: Path | None, depends: Iterable[object]
) -> Callable[P, R]:
    known_as = name or _name_of(function)
    dependencies = Dependencies(known_as, function, caller, depends)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        coroutine_function = cast("Callable[P, Awaitable[Any]]", function)

        @functools.wraps(function)
        async def asked(*args: P.args, **kwargs: P.kwargs) -> Any:
            tape = current().cassettes
            if tape is None:
                return await coroutine_function(*args, **kwargs)
            request = _request(known_as, function, args, kwargs)
            depends_on = dependencies.digests(tape.root)
            response = tape.find(request, depends_on)
            if response is None:
                return _record(tape, request, depends_on, await coroutine_function(*args, **kwargs))
            return _replay(request, response)

        setattr(asked, _MARK, True)
        return cast("Callable[P, R]", asked)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        tape = current().cassettes
        if tape is None:
            return function(*args, **kwargs)
        request = _request(known_as, function, args, kwargs)
        depends_on = dependencies.digests(tape.root)
        response = tape.find(request, depends_on)
        if response is None:
            return _record(tape, request, depends_on, function(*args, **kwargs))
        return cast("R", _replay(request, response))

    setattr(called, _MARK, True)
    return called


def _request(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Request:
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except ValueError as error:  # some functions written in C do not tell
        raise SettingError(f"{name} does not say its parameters; record a function around it") from error
    arguments = {key: encode(value, f"argument {key!r} of {name}") for key, value in given.items()}
    return Request("system", name, {}, arguments, current().repeat)


def _record(tape: Cassettes, request: Request, depends_on: Mapping[str, str], result: R) -> R:
    try:
        encoded = encode(result, f"the result of {request.model}")
    except SettingError:
        if inspect.iscoroutine(result):
            result.close()  # nobody will await it
        raise
    tape.record(request, {"result": encoded}, depends_on)
    current().meter.use(request.key)
    return result


def _replay(request: Request, response: dict[str, Any]) -> Any:
    current().meter.use(request.key, replayed=True)
    result = decode(response["result"])
    if isinstance(result, Answer):
        charge(result.usage, replayed=True)
    return result


def _name_of(function: Callable[..., Any]) -> str:
    """Return the module and the qualified name of a function, or of the class of an object."""
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    if isinstance(function, functools.partial) or name.endswith("<lambda>"):
        raise SettingError(f"{found(function)} has no name to be recorded under; give it one: recorded(name=...)")
    return name
