"""``rageval completion``: the script that a shell reads, run by bash as after the Tab key."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rageval.cli import main

pytest.importorskip("argcomplete", reason="argcomplete, of the extra completion, is not installed")

LISTS = """
eval "$(rageval completion bash)"
COMP_WORDS=({words}); COMP_CWORD={number}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9
_python_argcomplete rageval
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with two runs, and `rageval` on the path; it is the current folder."""
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


def completed(line: str) -> list[str]:
    """Return what bash offers at the end of a line."""
    words = line.split(" ")
    script = LISTS.format(words=" ".join(f"'{word}'" for word in words), number=len(words) - 1, line=line)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stderr == ""
    return [word.strip() for word in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_runs_and_formats(project: Path) -> None:
    assert completed("rageval comp") == ["compare", "completion"]
    assert completed("rageval index pr") == ["prune"]
    assert completed("rageval history --me") == ["--metric"]
    assert completed("rageval show 202601") == ["20260102T000000", "20260101T000000"]
    assert completed("rageval compare la") == ["latest"]
    assert completed("rageval compare latest 20260102") == ["20260102T000000"]
    assert completed("rageval export latest --as m") == ["markdown", "mlflow"]
    assert completed("rageval cassettes --run 20260101") == ["20260101T000000"]
    assert completed("rageval show nowhere") == [""]  # bash then completes paths


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
