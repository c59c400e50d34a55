"""Markdown links to a run's CI job and commit, from the variables of GitHub and GitLab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.report.export.markdown_text import code

__all__ = ["links_of"]

_ADDRESS = re.compile(r"https?://[\w.:/~%+-]+")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
SHORT = 7  # characters of a short commit hash


def links_of(environment: Mapping[str, str], page: Path | None) -> list[str]:
    """Return the page's name and links to the job and the commit, as Markdown; leave out what is unknown.

    Args:
        environment: the environment variables.
        page: the HTML page that the run wrote; None if there is none.
    """
    links = [] if page is None else [f"page: {code(page.name)}"]
    repository = "/".join(environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    if environment.get("GITHUB_RUN_ID"):
        links += _link("job and artifacts", f"{repository}/actions/runs/{environment['GITHUB_RUN_ID']}")
        return links + _commit(environment.get("GITHUB_SHA", ""), f"{repository}/commit")
    links += _link("job and artifacts", environment.get("CI_JOB_URL", ""))
    return links + _commit(environment.get("CI_COMMIT_SHA", ""), f"{environment.get('CI_PROJECT_URL', '')}/-/commit")


def _link(text: str, address: str) -> list[str]:
    return [f"[{text}]({address})"] if _ADDRESS.fullmatch(address) else []


def _commit(name: str, commits: str) -> list[str]:
    """Return the commit, with a link if the address of the repository's commits is known."""
    if not _COMMIT.fullmatch(name):
        return []
    short_hash = f"`{name[:SHORT]}`"
    return [f"commit {link}" for link in _link(short_hash, f"{commits}/{name}") or [short_hash]]
