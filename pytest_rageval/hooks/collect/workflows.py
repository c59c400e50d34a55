"""The workflows of a session: built-in systems that have options and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import AnyWorkflow, Requirements, Workflow

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Responder

__all__ = ["check_needs", "check_workflows", "files_of", "needs_of", "setup_of", "workflow_of"]


def workflow_of(collected: Collected, responder: Responder) -> AnyWorkflow | None:
    """Return the workflow of a system that an option names; None for any other system."""
    if not responder.named or responder.kind not in collected.catalog.systems:
        return None
    factory = collected.catalog.systems.get(responder.kind)
    return factory if isinstance(factory, Workflow) else None


def setup_of(collected: Collected, responder: Responder) -> SystemSetup:
    """Return the options of a system, and the folders that its files are relative to."""
    options = collected.options
    rootdir, invocation_dir = options.folders
    is_alias = responder.name in options.named_systems
    where = f"rag_systems: {responder.name}" if is_alias else "--rag-system" if options.systems else "rag_system"
    folder = invocation_dir if options.systems and not is_alias else options.ini_folder
    return SystemSetup(
        where=where,
        options=ComponentOptions(dict(responder.options), where),
        argument=responder.kind.partition(":")[2],
        folders=(folder, rootdir),
        sandbox=options.sandbox,
    )


def needs_of(collected: Collected, responder: Responder) -> Requirements | None:
    """Return the models, retrievers and tools that a system's files name; None if it is no workflow or names none."""
    if responder not in collected.needs:
        workflow = workflow_of(collected, responder)
        read_needs = None if workflow is None else workflow.needs
        needs = None
        if workflow is not None and read_needs is not None:
            needs = read_needs(workflow.read(setup_of(collected, responder)))
        collected.needs[responder] = needs
    return collected.needs[responder]


def files_of(collected: Collected, responder: Responder) -> tuple[Path, ...]:
    """Return the files that define a system, including those of its own retrievers ``run:FILE``."""
    workflow = workflow_of(collected, responder)
    if workflow is None or workflow.files is None:
        return ()
    needs = needs_of(collected, responder) or Requirements()
    runs = [kind.partition(":")[2] for _, kind, _ in needs.retrievers if kind.startswith("run:")]
    files = workflow.files(workflow.read(setup_of(collected, responder)))
    return (*files, *(collected.options.ini_folder / path for path in runs))


def check_workflows(collected: Collected) -> None:
    """Read the options of all workflows that answer a case, and check what their files name.

    Raises:
        RagEvalError: an option or a file is invalid, or a retriever or a scripted model's file is unknown.
    """
    for responder in dict.fromkeys(entry.responder for entry in (*collected.entries, *collected.request_entries)):
        workflow = workflow_of(collected, responder)
        if workflow is None:
            continue
        workflow.read(setup_of(collected, responder))
        check_needs(collected, needs_of(collected, responder) or Requirements())


def check_needs(collected: Collected, needs: Requirements) -> None:
    """Check the retrievers and models that the files of a system name, and add the models to the session's.

    Raises:
        RagEvalError: a retriever or a scripted model's file is unknown.
    """
    for where, kind, _ in needs.retrievers:
        collected.catalog.retrievers.get(kind, where)
    collected.models.file_models.update(dict.fromkeys(needs.models))
    collected.models.scripts.check(("rag_llm", name) for name in needs.models)
