"""Sandbox processes that a program has taken over: they break the protocol after their start."""

from __future__ import annotations

import json
import os
import sys
import time

__all__ = [
    "accepts_nothing",
    "calls_what_is_no_tool",
    "calls_with_no_arguments",
    "ends",
    "ends_when_idle",
    "gives_too_much",
    "prints_too_much",
    "says_nothing",
    "writes_no_json",
    "writes_no_object",
    "writes_without_end",
]


def _start() -> None:
    _write(json.dumps({"ready": True}))
    _accept()


def _accept() -> None:
    sys.stdin.readline()
    _write(json.dumps({"accepted": True}))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def ends() -> None:
    _start()


def accepts_nothing() -> None:
    _write(json.dumps({"ready": True}))
    sys.stdin.readline()


def ends_when_idle() -> None:
    _start()
    _write(json.dumps({"value": os.getpid(), "printed": "", "error": ""}))
    sys.stdin.readline()


def writes_no_json() -> None:
    _start()
    _write("}{")


def writes_no_object() -> None:
    _start()
    _write("[" * 100_000 + "]" * 100_000)


def writes_without_end() -> None:
    _start()
    while True:
        sys.stdout.write("a" * (1 << 20))


def says_nothing() -> None:
    _start()
    time.sleep(60)


def calls_with_no_arguments() -> None:
    _start()
    _write(json.dumps({"call": ["look"], "args": 3, "kwargs": None}))


def gives_too_much() -> None:
    _start()
    _write(json.dumps({"value": "a" * 70_000, "printed": "", "error": ""}))


def prints_too_much() -> None:
    _start()
    _write(json.dumps({"value": 1, "printed": "a" * 70_000, "error": "b" * 70_000}))


def calls_what_is_no_tool() -> None:
    _start()
    while True:
        _write(json.dumps({"call": "secret", "args": [], "kwargs": {}}))
        reply = sys.stdin.readline()
        if "stop" in reply or "raised" not in reply:
            _write(json.dumps({"value": None, "printed": "", "error": reply}))
