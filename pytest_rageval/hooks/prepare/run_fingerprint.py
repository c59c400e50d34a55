"""Fingerprint everything that decides scores; a run is resumed only if it matches."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import ascii_safe
from pytest_rageval.folders import regular_path
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.collect.workflows import files_of
from pytest_rageval.hooks.config.fixture_overrides import EMBEDDER, ENVIRONMENTS_FIXTURE, MODELS, PARTS, overridden
from pytest_rageval.hooks.config.model_scripts import is_script
from pytest_rageval.hooks.config.models import ModelSetting
from pytest_rageval.report.run.plan import DIGEST
from pytest_rageval.systems import FAMILIES
from pytest_rageval.versions import versions

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Testbed
    from pytest_rageval.hooks.config.options import Options

__all__ = ["ONCE", "identity_of"]

ONCE = "once"
"""The record mode ``once``: a resumed run must know which recordings existed when its first run began."""


def identity_of(collected: Collected, items: Sequence[pytest.Item]) -> dict[str, dict[str, str]]:
    """Return kind -> name -> value; a long or private value is ``sha256:`` and 16 digits.

    The kinds are "data", "settings", "systems", "versions", "files" (the user's code) and "recordings".

    Args:
        collected: the session.
        items: its tests.
    """
    return {
        "data": _data(collected),
        "settings": _settings(collected),
        "systems": _systems(collected),
        "versions": versions(),
        "files": _files(collected, items),
        "recordings": _recordings(collected),
    }


def _data(collected: Collected) -> dict[str, str]:
    """Return file or corpus -> digest of its content."""
    digests = {source.name: _digest(source.digest) for source in collected.sources}
    if collected.corpus.digest:
        digests["rag_corpus"] = _digest(collected.corpus.digest)
    digests |= _environment_data(collected) if collected.options.environments else {}
    return {ascii_safe(name): digest for name, digest in digests.items()}


def _environment_data(collected: Collected) -> dict[str, str]:
    """Return the digest of the data of each environment of the ini."""
    from pytest_rageval.corpora.places import places
    from pytest_rageval.environments import DATA_FILES
    from pytest_rageval.hooks.config.environments import ENVIRONMENTS

    formats, digests = collected.catalog.corpora, {}
    for name, line in collected.options.environments.items():
        files = places(tuple(filter(None, [line.options.get("corpus")])), collected.options.ini_folder, formats)
        data_files = [line.options[option] for option in DATA_FILES.get(line.kind, ()) if option in line.options]
        contents = [_content(place.path) for place in files]
        contents += [_content(collected.options.ini_folder / file) for file in data_files]
        if contents:
            digests[f"{ENVIRONMENTS}: {name}"] = _digest(contents)
    return digests


def _recordings(collected: Collected) -> dict[str, str]:
    """Return the recordings that existed at the session's start, one per line, if they decide what may be asked."""
    cassettes = collected.models.cassettes
    return {} if cassettes is None or cassettes.mode != ONCE else {ONCE: "\n".join(cassettes.existing_files)}


def _settings(collected: Collected) -> dict[str, str]:
    """Return setting -> value or digest, for options and testbeds."""
    options = collected.options
    values = {
        **_deciding(options, "settings"),
        "rag_rejection_markers": _digest([dict(options.markers.rejection), options.markers.rules]),
        "rag_error_markers": _digest(dict(options.markers.error)),
        "rag_user_dict": _digest(collected.versions.get("rag_user_dict", "")),
    }
    for testbed in collected.testbeds.values():
        name = ascii_safe(testbed.nodeid)
        values[f"the seed of {name}"] = str(testbed.seed)
        values[f"the metrics of {name}"] = ", ".join(testbed.metrics)
        values[f"what rag_case says of {name}"] = _digest(_arguments(testbed))
    return values


def _arguments(testbed: Testbed) -> dict[str, str]:
    """Return the arguments of ``rag_case`` that decide a testbed's cases and their correct answers."""
    names = (field.name for field in fields(testbed.settings) if field.metadata.get("decides", True))
    values = {name: getattr(testbed.settings, name) for name in names}
    return {name: str(dict(value) if isinstance(value, Mapping) else value) for name, value in values.items()}


def _systems(collected: Collected) -> dict[str, str]:
    """Return what decides answers and verdicts: systems, judges and the content of their files."""
    options = collected.options
    names: dict[str, dict[str, None]] = {}
    for entry in collected.entries:
        names.setdefault(entry.testbed.nodeid, {})[entry.responder.name] = None
    values = {f"what answers {nodeid}": ", ".join(systems) for nodeid, systems in names.items()}
    system_names = {entry.responder.name for entry in collected.entries}
    values |= {f"the system {name}": str(each) for name, each in options.named_systems.items() if name in system_names}
    values |= _deciding(options, "systems")
    values["rag_judges"] = _digest(repr(sorted(options.panels.items())))
    values |= {f"the judge {name}": judge.digest[:16] for name, judge in collected.local_judges.items()}
    kind, _, path = options.retriever.partition(":")
    if kind == "run" and path:
        values["the file of rag_retriever"] = _content(options.ini_folder / path)
    query = options.retriever_params.get("query")
    if kind == "opensearch" and isinstance(query, str):
        values["the query of rag_retriever"] = _content(options.ini_folder / Path(query).expanduser())
    scripts = {name: collected.models.scripts.path(name) for _, name in collected.models.names if is_script(name)}
    values |= {f"the file of {name}": _content(file) for name, file in scripts.items()}
    for responder in dict.fromkeys(entry.responder for entry in collected.entries):
        files = files_of(collected, responder)
        if files:
            values[f"the files of {responder.name}"] = _digest([_content(file) for file in files])
    return {ascii_safe(name): ascii_safe(value) for name, value in values.items()}


def _deciding(options: Options, kind: str) -> dict[str, str]:
    """Return setting -> value or digest, for the options of a kind, "settings" or "systems"."""
    return {setting.name: _fingerprint(value) for setting, value in options.items() if setting.decides == kind}


def _fingerprint(value: object) -> str:
    """Return the value of a setting as text; a digest for the content of a file and for long or private values."""
    if isinstance(value, ModelSetting):  # without keys and addresses
        from pytest_rageval.llm.recordings.request import Request

        return _digest(Request("model", "", value.params, [], 1).key)
    if isinstance(value, Path):
        return _content(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        public = {name: each for name, each in value.items() if name != "dsn"}
        return _digest({name: _content(each) if isinstance(each, Path) else each for name, each in public.items()})
    return "" if value is None else str(value)


def _files(collected: Collected, items: Iterable[pytest.Item]) -> dict[str, str]:
    """Return file -> digest, for the files of tests, their fixtures, conftests and named systems."""
    root = collected.rootdir
    paths: set[Path] = set()
    seen: set[str] = set()
    for item in items:
        if ENTRY not in item.stash or item.stash[ENTRY].testbed.nodeid in seen:
            continue
        seen.add(item.stash[ENTRY].testbed.nodeid)
        above = (folder / "conftest.py" for folder in item.path.parents if folder.is_relative_to(root))
        paths.update([item.path, *(path for path in above if path.is_file())])
        fixtures = (overridden(name, item) for name in ("rag_system", ENVIRONMENTS_FIXTURE, *PARTS, *MODELS, EMBEDDER))
        codes = (getattr(inspect.unwrap(fixture.func), "__code__", None) for fixture in fixtures if fixture is not None)
        paths.update(Path(code.co_filename) for code in codes if code is not None)
    systems = {entry.responder.kind for entry in collected.entries if entry.responder.named}
    for name in systems | {line.kind for line in collected.options.environments.values()}:
        prefix, colon, _ = name.partition(":")
        module = sys.modules.get(prefix) if colon and prefix not in FAMILIES else None
        file = getattr(module, "__file__", None)  # built-in modules have none
        if file:
            paths.add(Path(file))
    return {
        (path.relative_to(root) if path.is_relative_to(root) else Path(path.name)).as_posix(): _content(path)
        for path in sorted(paths)
    }


def _content(path: Path) -> str:
    """Return the digest of a file; "" if it cannot be read: the code that needs it reports the error."""
    try:
        return _digest(regular_path(path).read_bytes())
    except OSError:
        return ""


def _digest(value: object) -> str:
    """Return ``sha256:`` and 16 digits for bytes, or for the JSON of any other value."""
    content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, default=str).encode()
    return f"{DIGEST}{hashlib.sha256(content).hexdigest()[:16]}"
