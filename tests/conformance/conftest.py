"""The fixture of a project to run, for values that only a whole run gives."""

from support.projects.rag_project import project  # noqa: F401
