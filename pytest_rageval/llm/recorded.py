"""Record and replay of a user's own system: its results by its name and its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from pytest_rageval.errors import SettingError, found
from pytest_rageval.llm.meter import charge, current
from pytest_rageval.llm.request import Request
from pytest_rageval.llm.tagged import decode, encode
from pytest_rageval.model.answer import Answer

if TYPE_CHECKING:
    from pytest_rageval.llm.cassettes import Cassettes

__all__ = ["record_call", "recorded"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def recorded(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def recorded(*, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def recorded(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Callable[..., Any]:
    """Return a function whose results are recorded while a case is answered, and replayed from then on.

    Use it as ``@recorded`` or ``@recorded(name="my-rag")`` on a function, a coroutine function or an object that is
    called. A result is found by the name, the arguments that were given and the repeat of the case; what else it
    depends on (an object's settings, a model, the code) belongs into the name. What raises is not recorded. Outside
    of a case the function is only called. The option ``--rag-record-mode`` says when a call is replayed.

    Args:
        function: takes and returns JSON values, tuples, `Query`, `Answer` and what these hold.
        name: what the recordings are filed under: the function's module and qualified name if none is given.

    Raises:
        SettingError: a function without a name of its own was given none; when called, an argument or a result
            cannot be recorded.
        ModelError: when called, of kind "not_recorded".
    """
    if function is None:
        return functools.partial(_wrapped, name=name)
    return _wrapped(function, name=name)


def record_call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call ``function`` as `recorded` does; what a coroutine function returns is to be awaited."""
    return recorded(function)(*args, **kwargs)


def _wrapped(function: Callable[P, R], name: str | None) -> Callable[P, R]:
    known_as = name or _name_of(function)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        coroutine_function = cast("Callable[P, Awaitable[Any]]", function)

        @functools.wraps(function)
        async def asked(*args: P.args, **kwargs: P.kwargs) -> Any:
            tape = current().cassettes
            if tape is None:
                return await coroutine_function(*args, **kwargs)
            request = _request(known_as, function, args, kwargs)
            response = tape.find(request)
            if response is None:
                return _record(tape, request, await coroutine_function(*args, **kwargs))
            return _replay(request, response)

        return cast("Callable[P, R]", asked)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        tape = current().cassettes
        if tape is None:
            return function(*args, **kwargs)
        request = _request(known_as, function, args, kwargs)
        response = tape.find(request)
        if response is None:
            return _record(tape, request, function(*args, **kwargs))
        return cast("R", _replay(request, response))

    return called


def _request(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Request:
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except ValueError as error:  # some functions written in C do not tell
        raise SettingError(f"{name} does not say its parameters; record a function around it") from error
    arguments = {key: encode(value, f"argument {key!r} of {name}") for key, value in given.items()}
    return Request("system", name, {}, arguments, current().repeat)


def _record(tape: Cassettes, request: Request, result: R) -> R:
    try:
        encoded = encode(result, f"the result of {request.model}")
    except SettingError:
        if inspect.iscoroutine(result):
            result.close()  # nobody will await it
        raise
    tape.record(request, {"result": encoded})
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
