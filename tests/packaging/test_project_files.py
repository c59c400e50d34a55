"""Files beside the package that have to agree with it."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_the_version_is_the_installed_one(project: dict[str, Any]) -> None:
    assert project["version"] == metadata.version("pytest-rageval")


def test_the_changelog_knows_the_version(project: dict[str, Any]) -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings, "CHANGELOG.md has no '## [version]' heading"
    assert headings[0] in ("Unreleased", project["version"])


def test_the_workflow_runs_every_python_the_package_names(project: dict[str, Any]) -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert named
    listed = ", ".join(f'"{version}"' for version in named)
    assert f"python-version: [{listed}]" in workflow
    assert project["requires-python"] == f">={named[0]}"


def test_all_extras_are_in_all_but_diskann_which_pins_numpy_and_ray_which_is_large(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    apart = {"all", "dev", "diskann", "docs", "plugins", "ray"}
    assert set(everything.partition("[")[2].rstrip("]").split(",")) == set(extras) - apart


def test_the_architecture_page_stays_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_the_architecture_page_names_every_package() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = sorted(path.parent.name for path in (ROOT / "pytest_rageval").glob("*/__init__.py"))
    assert packages
    assert [name for name in packages if f"{name}/" not in page] == []
