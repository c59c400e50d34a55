"""The versions that every run stores, with and without package metadata."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator

import pytest

from pytest_rageval.cli import main
from pytest_rageval.versions import installed_version, versions


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the package importable but not installed."""
    version = importlib.metadata.version

    def version_of(package: str) -> str:
        if package == "pytest-rageval":
            raise importlib.metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(importlib.metadata, "version", version_of)
    installed_version.cache_clear()
    yield
    installed_version.cache_clear()


def test_versions_of_installed_packages() -> None:
    assert versions()["python"] == platform.python_version()
    assert versions()["pytest"] == pytest.__version__


@pytest.mark.usefixtures("not_installed")
def test_a_package_that_is_not_installed_has_an_unknown_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert versions()["pytest-rageval"] == "unknown"
    assert versions()["pytest"] == pytest.__version__
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert (caught.value.code, capsys.readouterr().out) == (0, "rageval unknown\n")
