"""RaLLe's ``eval`` templates render in the sandbox as with Python's ``eval``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes.sandboxes import BACKENDS, opened

from pytest_rageval.sandbox.protocol import Sandbox


@pytest.fixture(scope="module")
def folder(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "ralle_chains"
    if not path.is_dir():
        pytest.skip(f"RaLLe's chains are not at {path}")
    return path


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    sandbox = opened(request.param)
    yield sandbox
    sandbox.close()


def template(folder: Path, row: dict[str, Any]) -> str:
    """Return the template of a row's action."""
    chain = json.loads((folder / row["file"]).read_text(encoding="utf-8"))["chain_config"]["chain"]
    return str(chain[row["action"]]["prompt_template"])


def test_all_eval_templates_render_as_published(folder: Path, sandbox: Sandbox) -> None:
    expected = json.loads((folder / "rendered.json").read_text(encoding="utf-8"))
    rows = [row for row in expected["rendered"] if row["mode"] == "eval"]
    assert len(rows) == 19
    for row in rows:
        values = {**expected["history"], "question": row["question"]}
        ran = sandbox.run(template(folder, row), values=values)
        assert (ran.value, ran.error) == (row["rendered"], ""), (row["file"], row["action"])
