"""Tracebacks in error messages: which frames are printed."""

from __future__ import annotations

import asyncio
import json
import linecache
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.tracebacks import FRAMES, cause_of, describe
from pytest_rageval.registry import Registry

HERE = str(Path(__file__))


def error_of(function: Callable[[], object]) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    pytest.fail("nothing was raised")


def frames(error: BaseException) -> list[str]:
    return [line.strip() for line in cause_of(error).splitlines() if line.startswith("  ")]


def deep(depth: int) -> None:
    if depth:
        deep(depth - 1)
    raise ValueError("the bottom")


def test_the_last_frames_are_shown_innermost_last() -> None:
    lines = frames(error_of(lambda: deep(9)))
    assert len(lines) == FRAMES
    assert all(f"{HERE}:" in line and " in deep: " in line for line in lines)
    assert lines[-1].endswith('raise ValueError("the bottom")')


def test_the_cause_starts_with_the_type_and_the_message() -> None:
    assert cause_of(error_of(lambda: deep(0))).splitlines()[0] == "ValueError: the bottom"


def test_frames_of_the_standard_library_are_left_out() -> None:
    lines = frames(error_of(lambda: json.loads("{")))
    assert lines
    assert all(HERE in line for line in lines)


def test_frames_of_this_package_are_left_out() -> None:
    lines = frames(error_of(lambda: Registry("part").get("x")))
    assert lines
    assert not any("registry.py" in line for line in lines)


def test_frames_of_the_event_loop_are_left_out() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    loop = LoopThread()
    try:
        lines = frames(error_of(lambda: loop.run(fail())))
    finally:
        loop.close()
    assert not [line for line in lines if "asyncio" in line or "concurrent" in line or "engine/loop.py" in line]
    assert lines[-1].endswith('in fail: raise KeyError("x")')


def test_the_innermost_frame_of_a_library_follows_the_frames_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "site-packages" / "library.py"
    source = "def outer():\n    inner()\n\ndef inner():\n    raise LookupError('theirs')\n"
    scope: dict[str, Callable[[], None]] = {}
    exec(compile(source, str(path), "exec"), scope)  # noqa: S102 - a library that need not be installed
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    lines = frames(error_of(scope["outer"]))
    assert HERE in lines[-2]
    assert lines[-1] == f"{path}:5 in inner: raise LookupError('theirs')"


@pytest.mark.parametrize(
    ("error", "description"),
    [
        (ValueError(), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError("a\x1b[31m\u202eb"), r"ValueError: a\x1b[31m\u202eb"),
        (ValueError("one\ntwo"), "ValueError: one\ntwo"),
        (ValueError("half \ud83d"), r"ValueError: half \ud83d"),
    ],
)
def test_an_exception_is_described_by_type_and_message(error: Exception, description: str) -> None:
    assert describe(error) == description


def test_a_long_message_is_truncated() -> None:
    description = describe(ValueError("x" * 1_000_000))
    assert len(description) < 1_100
    assert description.endswith("… (1,000,000 characters)")


def test_an_exception_whose_message_fails_is_named_by_its_type() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert describe(BrokenError()).startswith("BrokenError: its message cannot be shown")


def test_an_exception_that_was_never_raised_has_no_frames() -> None:
    assert cause_of(ValueError("never")) == "ValueError: never"
