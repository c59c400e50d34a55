"""Turn failures of systems and fixtures into errors of the case, and fail its test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.task import Task
from pytest_rageval.engine.tracebacks import cause_of, describe, user_traceback
from pytest_rageval.error_codes import OTHER_KIND, with_code
from pytest_rageval.errors import CaseError, RagEvalError, SystemContractError, code_of
from pytest_rageval.hooks.run.system_setup import CaseExecutors, Origin
from pytest_rageval.llm.client.usage_meter import RefusedCallError

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["BUDGET", "BUILD", "CONTRACT", "executor_or_error", "fail_test", "responses_or_error"]

BUILD, CONTRACT, BUDGET = "system_build", "system_contract", "budget"
"""Error types: the first two can break a system; "budget" marks a case that was not asked."""


def executor_or_error(
    executors: CaseExecutors, request: pytest.FixtureRequest, entry: Entry, origin: Origin
) -> CaseExecutor | CaseError:
    """Return the desk of a system; an error of kind `BUILD` if the system cannot be built."""
    problem = f"system {entry.responder.name!r} could not be built"
    try:
        return executors.get(request, entry, origin)
    except RagEvalError as error:
        return _error(BUILD, f"{problem}: {error}", quoted=error)
    except pytest.FixtureLookupError as error:
        return _error(BUILD, f"{problem}: {error.msg or f'fixture {error.argname!r} not found'}", error)
    except (Exception, pytest.fail.Exception, RefusedCallError) as error:
        return _error(BUILD, f"{problem}: {cause_of(error)}", error)


def responses_or_error(ask: Callable[[], CaseResponses], task: Task) -> CaseResponses:
    """Return the result of ``ask``; an error if the answer has the wrong type, or if pytest fails the test."""
    try:
        return ask()
    except SystemContractError as error:
        return CaseResponses(error=_error(BUILD if error.always else CONTRACT, str(error), quoted=error))
    except pytest.fail.Exception as error:  # for example from pytest-timeout
        message = f"system {task.system!r} failed on case {task.case.id!r}: {describe(error)}"
        return CaseResponses(error=_error("system_error", message))


def fail_test(message: str | None, error: CaseError | None, *, debugs: bool) -> NoReturn:
    """Fail the running test with the error of its case; show a missing fixture as pytest does.

    Args:
        message: the message of the error.
        error: the error; None if it has only a message.
        debugs: whether to show the traceback of the user's code (``--pdb``).
    """
    cause = None if error is None else error.__cause__
    if isinstance(cause, pytest.FixtureLookupError):
        raise cause
    code = OTHER_KIND if error is None else code_of(error)
    failed = pytest.fail.Exception(with_code(message or "", code), pytrace=False)
    if cause is not None and debugs:
        raise failed.with_traceback(user_traceback(cause))
    raise failed


def _error(
    kind: str, message: str, cause: BaseException | None = None, *, quoted: RagEvalError | None = None
) -> CaseError:
    error = CaseError(kind, message)
    error.__context__ = quoted  # its error code is more specific than the code of the kind
    error.__cause__ = cause
    return error
