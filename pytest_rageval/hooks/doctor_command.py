"""Check a project for `rageval doctor`: ini, components, baseline, models, collection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import ModelError, RagEvalError, ascii_safe, did_you_mean
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.config.local_embedder import LOCAL
from pytest_rageval.hooks.config.model_clients import Models
from pytest_rageval.hooks.config.model_scripts import is_offline
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.setting import Setting, declared
from pytest_rageval.hooks.project import collected_cases, in_project
from pytest_rageval.importing import cause_text

__all__ = ["Check", "project_checks"]

PARAMS = "_params"
"""Ending of settings whose values may be secrets."""

UNKNOWN = "no setting has this name"
"""Start of the text of a check of an unknown setting; such a check does not stop the others."""

REPLY_TIMEOUT_S = 30.0
"""Maximum seconds to wait for a model's reply."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        topic: the section of the output: installed, ini, components, models or tests.
        name: the component, setting or model that was checked.
        state: ok or wrong; missing for an extra that is not installed; unasked for a model that got no request.
        text: a version or another detail; if wrong, the problem and what to do; or "".
    """

    topic: str
    name: str
    state: Literal["ok", "missing", "unasked", "wrong"]
    text: str = ""


def project_checks(*, ask_models: bool) -> list[Check]:
    """Return the checks of the current folder's project; with ``ask_models``, send each model one request."""
    from pytest_rageval.llm.secrets import redact

    try:
        checks = in_project(lambda config: [*_checks(config, ask_models=ask_models)])
        if all(each.state != "wrong" or each.text.startswith(UNKNOWN) for each in checks):
            checks = _with_collection(checks)
    except RagEvalError as error:
        checks = [Check("ini", "project", "wrong", str(error))]
    return [Check(each.topic, each.name, each.state, ascii_safe(redact(each.text))) for each in checks]


def _checks(config: pytest.Config, *, ask_models: bool) -> Iterator[Check]:
    path = "no ini file" if config.inipath is None else str(config.inipath)
    yield Check("ini", "file", "ok", path)
    of_settings = [*_ini_checks(config)]
    yield from of_settings
    if any(each.state == "wrong" and not each.text.startswith(UNKNOWN) for each in of_settings):
        return
    try:
        options = Options(config)
    except RagEvalError as error:
        yield Check("ini", "settings", "wrong", str(error))
        return
    yield from _component_checks(config, options)
    yield from _model_checks(options, ask_models=ask_models)


def _with_collection(checks: Sequence[Check]) -> list[Check]:
    """Collect the tests like pytest, which checks every setting; return the checks with the result.

    If pytest refuses a setting of the ini, the check of this setting becomes wrong.
    """
    result = _run_check("cases", lambda: f"{collected_cases():,} collected", "tests")
    problem = result.text if result.state == "wrong" else ""
    refused = [each for each in checks if each.topic == "ini" and re.match(rf"(\S+:\d+: )?{each.name}\b", problem)]
    if not refused:
        return [*checks, result]
    return [replace(each, state="wrong", text=result.text) if each in refused else each for each in checks]


def _ini_checks(config: pytest.Config) -> Iterator[Check]:
    known = {row.ini: row for row in declared(Options) if row.ini}
    attributes = vars(config)  # getini() does not list unknown keys, and pytest 9 renamed the attribute with the keys
    keys = attributes.get("_inicfg", attributes.get("inicfg", ()))
    for name in sorted(name for name in keys if name.startswith("rag")):
        if name in known:
            problem = _problem_of_setting(config, known[name])
            yield Check("ini", name, "wrong" if problem else "ok", problem)
        else:
            hint = did_you_mean(name, known)
            listed = "docs/reference/options.md lists the settings"
            yield Check("ini", name, "wrong", f"{UNKNOWN}; {hint if hint.startswith('did you') else listed}")


def _problem_of_setting(config: pytest.Config, row: Setting[Any]) -> str:
    """Return what is wrong with a setting, or ""; omit the message if it may contain a secret."""
    try:
        row.read(config)
    except RagEvalError as error:
        safe = "a line is malformed, repeated or has an invalid value; write name = value"
        return safe if row.ini.endswith(PARAMS) else str(error)
    return ""


def _component_checks(config: pytest.Config, options: Options) -> Iterator[Check]:
    """Yield a check for each component and file that the settings name."""
    from pytest_rageval.corpora.places import places
    from pytest_rageval.hooks.config.system_names import check_names

    catalog = config.stash[CATALOG]
    for text in options.systems or options.ini_systems:
        yield _run_check(f"system {text}", partial(_load_system, text, options, catalog))
    if options.named_systems:
        yield _run_check("rag_systems", partial(check_names, options.named_systems.values(), catalog.systems))
    if options.corpus:
        files = partial(places, options.corpus, options.ini_folder, catalog.corpora)
        yield _run_check("rag_corpus", lambda: f"{len([*files()]):,} files")
        get = partial(catalog.retrievers.get, options.retriever, "rag_retriever")
        yield _run_check(f"retriever {options.retriever}", get)
    for metric in options.panels:
        yield _run_check(f"judge {metric}", partial(catalog.metrics.get, metric, "rag_judges"))
    if options.prompts:
        yield _run_check("rag_prompts", lambda: Models(options, None, None).prompts)
    for line in options.user_dict:
        yield _run_check(f"rag_user_dict {line}", (options.ini_folder / Path(line).expanduser()).read_bytes)
    if options.baseline.path is not None:
        yield _run_check(f"baseline {options.baseline.path}", partial(_baseline, options))


def _run_check(name: str, check: Callable[[], object], topic: str = "components") -> Check:
    """Call ``check``; return a check that is wrong if it raises, else ok, with its result if that is a text."""
    try:
        result = check()
    except RagEvalError as error:
        return Check(topic, name, "wrong", str(error))
    except OSError as error:
        return Check(topic, name, "wrong", f"{error.filename}: {error.strerror}; correct the path")
    except Exception as error:  # a user's module may raise anything
        return Check(topic, name, "wrong", cause_text(error))
    return Check(topic, name, "ok", result if isinstance(result, str) else "")


def _load_system(text: str, options: Options, catalog: Catalog) -> None:
    from pytest_rageval.hooks.collect.named_systems import NamedSystems
    from pytest_rageval.hooks.config.system_names import named_system

    named = named_system(text, "rag_system", options.named_systems, catalog.systems)
    systems = NamedSystems(options.folders)
    try:
        systems.load([named.system], catalog.systems, options.named_systems)
    finally:
        systems.close()


def _baseline(options: Options) -> str:
    from pytest_rageval.hooks.config.baseline import load_baseline

    snapshot = load_baseline(options.baseline)
    return "" if snapshot is None else f"{len(snapshot.originals):,} cases"


def _model_checks(options: Options, *, ask_models: bool) -> Iterator[Check]:
    models = Models(options, None, None)
    for fixture, name in dict.fromkeys(models.names):
        label = f"{fixture} {name}"
        if is_offline(name):
            yield _run_check(label, partial(models.scripts.check, [(fixture, name)]), "models")
        elif name.startswith(LOCAL):
            yield Check("models", label, "unasked", "it runs on this machine, and the tests load it")
        elif not ask_models:
            yield Check("models", label, "unasked", "--models sends it one request")
        else:
            params = models.setting(fixture).params
            problem = asyncio.run(_problem_of(fixture, name, params))
            yield Check("models", label, "wrong" if problem else "ok", _without_values(problem, params) or "it replied")


async def _problem_of(fixture: str, name: str, params: Mapping[str, Any]) -> str:
    """Send a model one request; return what failed, or ""."""
    from pytest_rageval.llm.backends.named_model import NamedModel

    model = NamedModel(name)
    try:
        if fixture == "rag_embedder":
            await asyncio.wait_for(model.embed(["OK"], **params), REPLY_TIMEOUT_S)
        else:
            message = {"role": "user", "content": "Reply with OK."}
            await asyncio.wait_for(model.complete([message], **params), REPLY_TIMEOUT_S)
    except asyncio.TimeoutError:
        return f"no reply within {REPLY_TIMEOUT_S:.0f} s"
    except ModelError as error:
        return f"{error.kind}: {error}"
    except RagEvalError as error:
        return str(error)
    finally:
        with suppress(Exception):  # closing must not hide the result
            await model.aclose()
    return ""


def _without_values(text: str, params: Mapping[str, Any]) -> str:
    """Return a text with the values of parameters masked, except a server's address; a server may echo secrets."""
    for key, value in params.items():
        if isinstance(value, str) and value and key not in ("api_base", "base_url"):
            text = text.replace(value, f"<{key}>")
    return text
