"""Project files agree with the package: version, changelog, workflow, extras, architecture."""

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


def test_the_version_equals_the_installed_one(project: dict[str, Any]) -> None:
    assert project["version"] == metadata.version("pytest-rageval")


def test_the_changelog_starts_with_unreleased_or_the_version(project: dict[str, Any]) -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings, "CHANGELOG.md has no '## [version]' heading"
    assert headings[0] in ("Unreleased", project["version"])


def test_the_workflow_runs_every_python_version_of_the_package(project: dict[str, Any]) -> None:
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert versions
    quoted_versions = ", ".join(f'"{version}"' for version in versions)
    assert f"python-version: [{quoted_versions}]" in workflow
    assert project["requires-python"] == f">={versions[0]}"


def test_the_extra_all_has_every_extra_except_diskann_and_ray(project: dict[str, Any]) -> None:
    """The extra diskann pins numpy, and ray is large."""
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    exceptions = {"all", "dev", "diskann", "docs", "plugins", "ray"}
    assert set(everything.partition("[")[2].rstrip("]").split(",")) == set(extras) - exceptions


def test_the_architecture_page_stays_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_the_architecture_page_names_only_files_that_exist() -> None:
    named = set(re.findall(r"`([a-z_/]+/[a-z_]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    missing = {name for name in named if not ((ROOT / "pytest_rageval" / name).is_file() or (ROOT / name).is_file())}
    assert (len(named) > 10, missing) == (True, set())


def test_the_architecture_page_names_every_package() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = sorted(path.parent.name for path in (ROOT / "pytest_rageval").glob("*/__init__.py"))
    assert packages
    assert [name for name in packages if f"{name}/" not in page] == []
