"""The errors of the package. Each message is one sentence: what is wrong, where, what to do."""

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
    "code_of",
    "did_you_mean",
    "message_with_code",
    "short_repr",
]


class RagEvalError(Exception):
    """Base class of all errors of this package.

    Attributes:
        code: the entry in docs/troubleshooting.md that explains the error; a class has one, an error may have another.
    """

    code = "RAG100"

    def __init__(self, *args: object, code: str = "") -> None:
        super().__init__(*args)
        if code:
            self.code = code


class SettingError(RagEvalError):
    """A marker argument, option, ini value or suite key is invalid."""

    code = "RAG101"


class GateSyntaxError(SettingError):
    """A gate expression does not follow the grammar."""

    code = "RAG110"


class DataError(RagEvalError):
    """A record or file does not follow its format."""

    code = "RAG201"

    def __init__(self, where: str, problem: str, *, code: str = "") -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}", code=code)


class UnknownNameError(SettingError):
    """A name is not registered; the message suggests the name ``meant``, else the nearest known name."""

    code = "RAG102"

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "", meant: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        self.meant = meant
        prefix = f"{where}: " if where else ""
        hint = f"did you mean {meant!r}?" if meant else did_you_mean(str(name), self.known)
        super().__init__(f"{prefix}unknown {kind} {short_repr(name)}; {hint}")


class SystemContractError(RagEvalError):
    """A system under test cannot be built, or does not return ``str | Answer``.

    Attributes:
        always: whether the system fails for every case because a library is not installed.
    """

    code = "RAG301"

    def __init__(self, message: str, *, always: bool = False) -> None:
        super().__init__(message)
        self.always = always


class RetrieverError(RagEvalError):
    """A user's retriever raised an error; the message names both."""

    code = "RAG306"

    def __init__(self, name: str, error: BaseException) -> None:
        super().__init__(name, error)
        self.name = name
        self.error = error

    def __str__(self) -> str:
        return f"rag_retriever {self.name!r} raised {type(self.error).__name__}: {self.error}"


class CaseError(RagEvalError):
    """A case could not be answered or scored; ``kind`` becomes the outcome's ``error_type``."""

    def __init__(self, kind: str, message: str) -> None:
        from pytest_rageval.error_codes import KINDS, OTHER_KIND

        self.kind = kind
        super().__init__(message)
        self.code = KINDS.get(kind, OTHER_KIND)


class ModelError(CaseError):
    """A model call returned no reply.

    Attributes:
        kind: retried kinds are ``rate_limited timeout connection server_error malformed_response truncated``; kinds
            without a retry are ``auth not_found bad_request no_tools context_length content_filter bad_address
            bad_protocol too_large``, for a reply without text ``cut_off empty_reply filtered``, and ``cancelled budget
            not_recorded no_reply``.
        retry_after: seconds to wait, from the provider; None if unknown.
        attempts: the number of requests sent.
    """

    def __init__(self, kind: str, message: str, *, retry_after: float | None = None, attempts: int = 1) -> None:
        super().__init__(kind, message)
        self.retry_after = retry_after
        self.attempts = attempts


class UnscoredError(RagEvalError, LookupError):
    """A test read the value of a score that has none; the message gives the reason."""

    code = "RAG311"

    def __str__(self) -> str:
        from pytest_rageval.error_codes import with_code

        return with_code(super().__str__(), self.code)  # the user's test shows it


class MissingDependencyError(RagEvalError):
    """An optional dependency is not installed; the message names its extra."""

    code = "RAG106"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'pytest-rageval[{extra}]'")


def message_with_code(error: BaseException) -> str:
    """Return an error's message with its code, which docs/troubleshooting.md explains."""
    from pytest_rageval.error_codes import with_code

    return with_code(str(error), code_of(error)) if isinstance(error, RagEvalError) else str(error)


def code_of(error: RagEvalError) -> str:
    """Return an error's code. If it has only the code of its class and quotes its cause, return the cause's code."""
    cause = error.__cause__ or error.__context__
    is_specific = error.code != type(error).code and not isinstance(error, CaseError)
    if not is_specific and isinstance(cause, RagEvalError) and str(cause) in str(error):
        return code_of(cause)
    return error.code


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for a near miss, else the list of known names."""
    import difflib

    names = sorted(known)
    folded = {each.casefold(): each for each in names}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, folded, n=3, cutoff=0.6)
    near = [each for each in near if each[:1] == wanted[:1] or wanted in each or _is_close(wanted, each)]
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    if not names:
        return "none is known here"
    more = f" and {len(names) - 10:,} more" if len(names) > 100 else ""  # only the cases of a run are so many
    return f"known: {ascii_safe(', '.join(names[:10] if more else names))}{more}"


def _is_close(name: str, other: str) -> bool:
    """Return whether two names are so close that one may be a misspelling of the other."""
    import difflib

    return difflib.SequenceMatcher(None, other, name).ratio() >= 0.7


def short_repr(value: object, limit: int = 60) -> str:
    """Return a short, escaped, one-line text of an invalid value for an error message."""
    try:
        text = ascii_safe(repr(value))
    except Exception as error:  # an invalid value may have a broken repr
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def ascii_safe(text: str) -> str:
    """Return ``text`` with control, bidirectional and other unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
