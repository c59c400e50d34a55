"""What stands in the wheel and the sdist. RAGEVAL_DIST names a folder that holds both, else they are built here."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = {".ci", ".github", ".rageval", "conftest.py", "docs", "example_project", "fixtures", "shared", "tests"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one wheel and one sdist."""
    dist_path = os.environ.get("RAGEVAL_DIST")
    if dist_path:
        return Path(dist_path)
    for tool in ("build", "hatchling"):
        if find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed (pip install -e '.[dev]')")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    build = subprocess.run(command, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stdout + build.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> dict[str, bytes]:
    """Return the wheel's files by name."""
    (path,) = dist.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def sdist(dist: Path) -> set[str]:
    """Return the names of the sdist's files below its one folder."""
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {str(PurePosixPath(*PurePosixPath(m.name).parts[1:])) for m in archive if m.isfile()}


def info(wheel: dict[str, bytes], name: str) -> str:
    return wheel[f"pytest_rageval-{version('pytest-rageval')}.dist-info/{name}"].decode()


def test_the_wheel_holds_the_package_and_nothing_else_at_the_top(wheel: dict[str, bytes]) -> None:
    tops = {PurePosixPath(name).parts[0] for name in wheel}
    assert tops == {"pytest_rageval", f"pytest_rageval-{version('pytest-rageval')}.dist-info"}


def test_the_wheel_holds_every_file_of_the_package(wheel: dict[str, bytes]) -> None:
    source = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pytest_rageval").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel if name.startswith("pytest_rageval/")}
    assert packed == source
    assert {"pytest_rageval/py.typed", "pytest_rageval/report/results.schema.json"} <= packed
    assert {
        f"pytest_rageval/{room}/prompts/{name}.toml"
        for room in ("generation", "judges", "systems")
        for name in ("en", "zh")
    } <= packed
    assert "pytest_rageval/generation/plans/scholar.toml" in packed


def test_the_wheel_holds_no_tests_and_no_data(wheel: dict[str, bytes]) -> None:
    parts = {part for name in wheel for part in PurePosixPath(name).parts}
    assert not parts & (FOREIGN - {"shared"})  # the package has a room of that name
    suffixes = {PurePosixPath(name).suffix for name in wheel if name.startswith("pytest_rageval/")}
    assert suffixes == {".css", ".html", ".js", ".json", ".py", ".toml", ".typed"}


def test_the_entry_point_is_named_like_the_module(wheel: dict[str, bytes]) -> None:
    entry_points = ConfigParser()
    entry_points.read_string(info(wheel, "entry_points.txt"))
    assert dict(entry_points["pytest11"]) == {"pytest_rageval.plugin": "pytest_rageval.plugin"}
    assert dict(entry_points["console_scripts"]) == {"rageval": "pytest_rageval.cli:main"}


def test_the_wheel_carries_its_licence_and_its_readme(wheel: dict[str, bytes]) -> None:
    assert info(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")
    metadata = Parser().parsestr(info(wheel, "METADATA"))
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert (ROOT / "README.md").read_text(encoding="utf-8").strip() in info(wheel, "METADATA")


def test_the_sdist_holds_what_the_wheel_is_built_from(sdist: set[str]) -> None:
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"} <= sdist
    assert {"pytest_rageval/report/results.schema.json", "pytest_rageval/judges/prompts/zh.toml"} <= sdist
    assert not {PurePosixPath(name).parts[0] for name in sdist} & FOREIGN
