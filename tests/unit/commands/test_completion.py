"""``rageval completion``: the script for each shell, and what bash completes with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rageval.cli import main

pytest.importorskip("argcomplete", reason="argcomplete, of the extra completion, is not installed")

COMPLETE = """
eval "$(rageval completion bash)"
COMP_WORDS=({words}); COMP_CWORD={number}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9
_python_argcomplete rageval
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a project with two runs and `rageval` on the path."""
    (tmp_path / "pyproject.toml").write_text("")
    for name in ("20260101T000000", "20260102T000000"):
        (tmp_path / ".rageval" / "runs" / name).mkdir(parents=True)
    command = tmp_path / "bin" / "rageval"
    command.parent.mkdir()
    code = "import sys; from pytest_rageval.cli import main; sys.exit(main())"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    return tmp_path


def completions(line: str) -> list[str]:
    """Return the completions that bash offers at the end of a line."""
    words = line.split(" ")
    script = COMPLETE.format(words=" ".join(f"'{word}'" for word in words), number=len(words) - 1, line=line)
    process = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    assert process.stderr == ""
    return [word.strip() for word in process.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_runs_and_formats(project: Path) -> None:
    assert completions("rageval comp") == ["compare", "completion"]
    assert completions("rageval index pr") == ["prune"]
    assert completions("rageval history --me") == ["--metric"]
    assert completions("rageval show 202601") == ["20260102T000000", "20260101T000000"]
    assert completions("rageval compare la") == ["latest"]
    assert completions("rageval compare latest 20260102") == ["20260102T000000"]
    assert completions("rageval export latest --as m") == ["markdown", "mlflow"]
    assert completions("rageval cassettes --run 20260101") == ["20260101T000000"]
    assert completions("rageval show nowhere") == [""]  # bash completes paths instead


@pytest.mark.parametrize(("shell", "line"), [("bash", "complete "), ("zsh", "#compdef rageval"), ("fish", "complete ")])
def test_each_shell_has_its_script(shell: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    lines = [text.strip() for text in capsys.readouterr().out.splitlines()]
    assert any(text.startswith(line) and "rageval" in text for text in lines)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input="\n".join(lines), text=True, check=True)


def test_without_argcomplete_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'pytest-rageval[completion]'" in capsys.readouterr().err
