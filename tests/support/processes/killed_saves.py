"""Save a case in forked processes that are killed at moments of saving; run as a program, in a project.

    python -m support.processes.killed_saves MOMENTS RECORDING ...

It prints a line of JSON for each kill: the files that remain, with their contents.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_rageval.hooks.playing.orders import PlayOrder
from pytest_rageval.hooks.playing.project import PlayProject
from pytest_rageval.hooks.playing.saved_files import SavedFiles
from pytest_rageval.web.play.saving import PlannedCase, plan_case, write_case

FILES = ("cases/play.jsonl", "tests/play.rag.toml", "cassettes/model-openai--m.jsonl")
RECORD: dict[str, Any] = {"question": "At what time does the museum open?", "answers": ["9:00"]}


def main() -> None:
    n, keys, root = int(sys.argv[1]), tuple(sys.argv[2:]), Path.cwd()
    project = PlayProject(PlayOrder())
    project.start()
    while not (project.ready or project.problem):
        time.sleep(0.02)
    files = project.files
    assert files is not None, project.problem
    case_plan = plan_case(root, files, FILES[0], RECORD, "", None)
    before = _contents(FILES)
    steps = _save(case_plan, files, keys, None) or 0
    whole = _contents(FILES)
    print(json.dumps({"steps": steps, "before": before, "whole": whole}))
    draw = random.Random(4)
    for part in range(n):
        moment = draw.randint(steps * part // n + 1, steps * (part + 1) // n)
        for name, text in before.items():
            Path(name).unlink(missing_ok=True) if text is None else Path(name).write_text(text)
        assert _save(case_plan, files, keys, moment) is None
        print(json.dumps({"moment": moment, "left": _contents(FILES)}))
    project.close()


def _save(case_plan: PlannedCase, files: SavedFiles, keys: tuple[str, ...], moment: int | None) -> int | None:
    """Save in a forked process, which kills itself at a moment; return the number of moments if it ended.

    A moment is before or after a call of a C function, because only these reach the operating system.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        count = 0

        def watch(_: object, event: str, __: object) -> None:
            nonlocal count
            if event in ("c_call", "c_return"):
                count += 1
                if count == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        write_case(case_plan, files, case_plan.preview_digest, keys)
        sys.setprofile(None)
        os.write(writer, str(count).encode())
        os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with open(reader) as stream:
        text = stream.read()
    assert os.WIFSIGNALED(status) == (moment is not None), status
    return int(text) if text else None


def _contents(names: Iterable[str]) -> dict[str, str | None]:
    return {name: Path(name).read_text() if Path(name).exists() else None for name in names}


if __name__ == "__main__":
    main()
