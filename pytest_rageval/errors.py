"""The errors a user can meet. Each message is one sentence: what, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CaseError",
    "DataError",
    "GateSyntaxError",
    "MissingDependencyError",
    "ModelError",
    "RagEvalError",
    "RetrieverError",
    "SettingError",
    "SystemContractError",
    "UnknownNameError",
    "UnscoredError",
    "ascii_safe",
    "did_you_mean",
    "found",
]


class RagEvalError(Exception):
    """Base of every error this package raises on purpose."""


class SettingError(RagEvalError):
    """A marker argument, option, ini value or suite key that cannot be used."""


class GateSyntaxError(SettingError):
    """A gate expression that does not follow the grammar."""


class DataError(RagEvalError):
    """A record or file that cannot be read as what its format promises."""

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}")


class UnknownNameError(SettingError):
    """A name that nothing is registered under; the nearest known name is offered."""

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        prefix = f"{where}: " if where else ""
        super().__init__(f"{prefix}unknown {kind} {found(name)}; {did_you_mean(str(name), self.known)}")


class SystemContractError(RagEvalError):
    """A system under test that cannot be built or does not return ``str | Answer``.

    Attributes:
        always: whether the system can answer no case at all, because a library it needs is not installed.
    """

    def __init__(self, message: str, *, always: bool = False) -> None:
        super().__init__(message)
        self.always = always


class RetrieverError(RagEvalError):
    """A retriever of a user's that raised; told are its name and what it raised."""

    def __init__(self, name: str, error: BaseException) -> None:
        super().__init__(name, error)
        self.name = name
        self.error = error

    def __str__(self) -> str:
        return f"rag_retriever {self.name!r} raised {type(self.error).__name__}: {self.error}"


class CaseError(RagEvalError):
    """One case could not be answered or scored; ``kind`` becomes the outcome's ``error_type``."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class ModelError(CaseError):
    """A model call that gave no reply.

    Attributes:
        kind: one of ``rate_limited timeout connection server_error malformed_response truncated`` (worth another try),
            ``auth not_found bad_request context_length content_filter bad_address bad_protocol too_large`` and, of a
            reply without text, ``cut_off empty_reply filtered`` (not); ``cancelled budget not_recorded``.
        retry_after: seconds that the provider asks to be left alone; None when it does not say.
        attempts: how many requests were sent.
    """

    def __init__(self, kind: str, message: str, *, retry_after: float | None = None, attempts: int = 1) -> None:
        super().__init__(kind, message)
        self.retry_after = retry_after
        self.attempts = attempts


class UnscoredError(RagEvalError, LookupError):
    """A score was asked for its value and has none; the message gives the reason."""


class MissingDependencyError(RagEvalError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'pytest-rageval[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for a near miss, else the list of what is known."""
    import difflib

    names = sorted(known)
    folded = {each.casefold(): each for each in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    return f"known: {ascii_safe(', '.join(names))}" if names else "none is known here"


def found(value: object, limit: int = 60) -> str:
    """Return a short, escaped, one-line picture of a bad value for an error message."""
    try:
        text = ascii_safe(repr(value))
    except Exception as error:  # a bad value may have a bad repr
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def ascii_safe(text: str) -> str:
    """Return ``text`` with control, bidirectional and other unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
