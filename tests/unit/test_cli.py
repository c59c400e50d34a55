"""The command `rageval`: recordings, usage errors, help and exit statuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_rageval.cli import NAMES, main, parser
from pytest_rageval.commands.command_table import COMMANDS
from pytest_rageval.llm.recordings.cassette import read
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Command = Callable[..., tuple[int, list[str]]]


def ask(number: int, kind: str = "model") -> Request:
    return Request(kind, "m", {}, [{"role": "user", "content": f"Context.\nQuestion {number}?"}], 1)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with four recordings of a model and one of a judge; it is the current folder."""
    (tmp_path / "pyproject.toml").write_text("")
    cassettes = Cassettes(tmp_path / "cassettes", "all")
    for request in [*(ask(number) for number in range(4)), ask(0, "judge")]:
        cassettes.record(request, {"text": "x"})
    cassettes.close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rageval(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command and returns its status and the lines of its output."""

    def call(*arguments: str) -> tuple[int, list[str]]:
        status = main(arguments)
        out, err = capsys.readouterr()
        assert not (out if status else err)
        return status, (err if status else out).splitlines()

    return call


def write_run(root: Path, requests: Iterable[Request], name: str = "20260102T030405", head: str = "# complete") -> None:
    folder = root / ".rageval" / "runs" / name
    folder.mkdir(parents=True)
    lines = [head, *sorted(request.key for request in requests), ""]
    (folder / "used-recordings.txt").write_text("\n".join(lines))


def recordings(project: Path) -> list[str]:
    folder = project / "cassettes"
    return [f"{path.name} {key}" for path in sorted(folder.glob("*.jsonl")) for key in read(path)]


def test_recordings_are_listed_before_any_run(project: Path, rageval: Command) -> None:
    assert rageval("cassettes") == (
        0,
        [
            "file           records",
            "judge-m.jsonl        1",
            "model-m.jsonl        4",
            "No run has listed its recordings yet.",
        ],
    )


def test_recordings_are_listed_with_the_use_by_the_newest_run(project: Path, rageval: Command) -> None:
    write_run(project, [ask(0)], "20260102T030405-9")
    write_run(project, [ask(0), ask(1), ask(3), ask(99)], "20260102T030405-10", "# partial")
    write_run(project, [], "20260101T235959")
    assert rageval("cassettes") == (
        0,
        [
            "file           records     used   unused",
            "judge-m.jsonl        1        0        1",
            "model-m.jsonl        4        3        1",
            "Used by run 20260102T030405-10, which was partial.",
        ],
    )
    assert rageval("cassettes", "--run", "20260102T030405-9")[1][2:] == [
        "model-m.jsonl        4        1        3",
        "Used by run 20260102T030405-9.",
    ]


def test_unused_recordings_are_listed(project: Path, rageval: Command) -> None:
    write_run(project, [ask(0), ask(0, "judge"), *map(ask, (1, 3))])
    before = recordings(project)
    assert rageval("cassettes", "--unused")[1][-1] == f"model-m.jsonl {ask(2).key} repeat 1: Context. Question 2?"
    assert recordings(project) == before


def test_unused_recordings_are_removed(project: Path, rageval: Command) -> None:
    write_run(project, map(ask, (1, 3)))
    sizes = {path.name: path.stat().st_size for path in (project / "cassettes").iterdir()}
    before = recordings(project)
    status, preview = rageval("cassettes", "prune", "--dry-run")
    assert (status, recordings(project)) == (0, before)
    status, lines = rageval("cassettes", "prune")
    assert recordings(project) == sorted(f"model-m.jsonl {ask(number).key}" for number in (1, 3))
    judge, model = sizes["judge-m.jsonl"], sizes["model-m.jsonl"]
    model -= (project / "cassettes" / "model-m.jsonl").stat().st_size
    what = f"3 recordings that the run 20260102T030405 did not use, {judge + model:,} bytes"
    files = [f"judge-m.jsonl: 1 recording, {judge:,} bytes", f"model-m.jsonl: 2 recordings, {model:,} bytes"]
    assert lines == [*files, f"Removed {what}."]
    assert preview == [*files, f"Would remove {what}."]
    nothing = "Removed 0 recordings that the run 20260102T030405 did not use, 0 bytes."
    assert rageval("cassettes", "prune") == (0, [nothing])


@pytest.mark.parametrize(
    ("requests", "head", "why"),
    [
        ([ask(1)], "# partial", "was interrupted, ran only some of the tests or had errors"),
        ([ask(1)], "", "was interrupted, ran only some of the tests or had errors"),
        ([], "# complete", "used no recording at all"),
    ],
)
def test_a_partial_run_removes_nothing_unless_named(
    requests: list[Request], head: str, why: str, project: Path, rageval: Command
) -> None:
    write_run(project, requests, "r1", head)
    before = recordings(project)
    assert rageval("cassettes", "prune") == (
        2,
        [
            f"rageval: nothing was removed: the newest run r1 {why}; "
            "run all tests, or choose this run with --run r1 [RAG101]",
        ],
    )
    assert recordings(project) == before
    assert rageval("cassettes", "prune", "--run", "r1")[1][-1].startswith(f"Removed {5 - len(requests)} recordings ")
    assert len(recordings(project)) == len(requests)


def test_a_run_without_a_list_removes_nothing(project: Path, rageval: Command) -> None:
    write_run(project, [ask(1)], "20260101T000000")
    (project / ".rageval" / "runs" / "20260102T000000").mkdir()
    status, [error] = rageval("cassettes", "prune")
    assert status == 2
    assert error.startswith("rageval: the run 20260102T000000 has no list of its recordings: ")
    assert len(recordings(project)) == 5
    assert rageval("cassettes")[1][-1] == "No run has listed its recordings yet."


@pytest.mark.parametrize("option", ["prune", "--unused"])
def test_without_a_run_no_recording_is_unused(option: str, project: Path, rageval: Command) -> None:
    status, [error] = rageval("cassettes", option)
    assert (status, error.startswith("rageval: no run under ")) == (2, True)
    assert len(recordings(project)) == 5


def test_an_unknown_run_is_an_error(project: Path, rageval: Command) -> None:
    status, [error] = rageval("cassettes", "--run", "nope")
    assert (status, error.startswith("rageval: the run nope is not under ")) == (2, True)


def test_the_project_is_found_from_a_subfolder(
    project: Path, rageval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "tests" / "deep").mkdir(parents=True)
    write_run(project, [ask(1)])
    expected = rageval("cassettes")
    monkeypatch.chdir(project / "tests" / "deep")
    assert rageval("cassettes") == expected


def test_another_folder_can_be_named(project: Path, rageval: Command) -> None:
    (project / "cassettes").rename(project / "tapes")
    assert rageval("cassettes", "tapes")[1][1:3] == ["judge-m.jsonl        1", "model-m.jsonl        4"]
    status, [error] = rageval("cassettes")
    assert status == 2
    assert error == (
        f"rageval: no folder of recordings {project / 'cassettes'}; name the folder of rag_cassettes [RAG101]"
    )


def test_a_folder_without_recordings_is_not_an_error(project: Path, rageval: Command) -> None:
    (project / "empty").mkdir()
    assert rageval("cassettes", "empty") == (0, ["file  records", "No run has listed its recordings yet."])


def test_a_malformed_file_is_reported_in_one_sentence(project: Path, rageval: Command) -> None:
    path = project / "cassettes" / "model-m.jsonl"
    path.write_bytes(b"<<<<<<< HEAD\n" + path.read_bytes())
    status, [error] = rageval("cassettes")
    assert status == 2
    assert error.startswith(f"rageval: {path}:1: this line is no recording; ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nope"], "rageval: error: unknown command 'nope'; known: agreement, "),
        (["Compar"], "rageval: error: unknown command 'Compar'; did you mean 'compare'?"),
        (["--versio"], "rageval: error: unknown option '--versio'; did you mean '--version'?"),
        (["cassettes", "--nope"], "rageval cassettes info: error: unknown option '--nope'"),
        (["cassettes", "--unusd"], "rageval cassettes info: error: unknown option '--unusd'; did you mean '--unused'?"),
        (
            ["cassettes", "--prune"],
            "rageval cassettes info: error: unknown option '--prune'; write rageval cassettes p",
        ),
        (["cassettes", "a", "b"], "rageval cassettes info: error: unexpected argument 'b'"),
        (["index", "biuld"], "rageval index: error: unknown command 'biuld'; did you mean 'build'?"),
        (["generate", "p.toml", "--dryrun"], "rageval generate: error: unknown option '--dryrun'; did you mean '--dry"),
    ],
)
def test_invalid_arguments_exit_with_status_2(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    usage, *_, line = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: rageval")
    assert line.startswith(error)


def test_the_command_alone_lists_each_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert (caught.value.code, capsys.readouterr().out) == (0, text)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    groups = [line for line in lines if line.endswith(":")]
    assert groups == [f"{group}:" for group in COMMANDS]
    for name in NAMES:
        (at,) = (at for at, line in enumerate(lines) if line.startswith(f"  {name} "))
        assert lines[at + 1].strip().startswith(f"$ rageval {name}")


def test_examples_are_valid_arguments() -> None:
    for commands in COMMANDS.values():
        for name, command in commands.items():
            arguments = parser([name]).parse_args(command.example.split())
            assert callable(arguments.run_command)


@pytest.mark.parametrize(
    ("option", "words"), [("--version", f"rageval {version('pytest-rageval')}\n"), ("--help", "cassettes")]
)
def test_help_and_version(option: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([option])
    assert caught.value.code == 0
    assert words in capsys.readouterr().out


def test_the_help_says_that_the_ini_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cassettes", "--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    assert "FOLDER is the folder of rag_cassettes; the ini is not read here" in help_text


START_SCRIPT = """
import sys
from pytest_rageval.cli import main

status = main(["cassettes"])
heavy = {"pytest", "_pytest", "filelock", "litellm", "asyncio", "numpy", "importlib.metadata"}
print(*sorted(sys.modules.keys() & heavy))
sys.exit(status)
"""


def test_the_command_starts_without_heavy_imports(project: Path) -> None:
    run = subprocess.run([sys.executable, "-c", START_SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[1:] == [
        "judge-m.jsonl        1",
        "model-m.jsonl        4",
        "No run has listed its recordings yet.",
        "",
    ]


def test_a_closed_pipe_is_not_an_error(project: Path) -> None:
    command = [sys.executable, "-c", "import sys; from pytest_rageval.cli import main; sys.exit(main(['cassettes']))"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(timeout=30) == 0


def test_an_interrupt_exits_with_status_130_and_no_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_rageval.commands.cassettes.info", interrupted)
    assert main(["cassettes"]) == 130
    assert capsys.readouterr().err == "rageval: interrupted\n"


def test_the_package_installs_the_command(pytestconfig: pytest.Config) -> None:
    project = tomllib.loads((pytestconfig.rootpath / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"rageval": f"{main.__module__}:{main.__name__}"}
