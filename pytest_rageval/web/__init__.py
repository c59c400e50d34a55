"""The server of the local pages: one page on 127.0.0.1, for one person.

A page is a package of its own above this one. It holds its routes, templates and assets, and uses:

- `site.Site`: the name, the project, the routes and the package of a page;
- `serving.serve`: run a site until Ctrl-C, or open the page of the server that already runs;
- `pages.Pages`: templates to responses; data are shown as text only;
- `requests`: a request's JSON or form to values; a malformed one is an `errors.DataError`;
- `files`: write files inside the project, and notice what changed on disk meanwhile;
- `guard.Guard`: who may ask, what a request may carry, which headers an answer has. `serve` puts it around each site.

An endpoint raises any `RagEvalError` or `OSError`: the person gets its sentence, as a page or as
``{"error": ..., "hint": ...}`` under ``/api/``.

Importing this package without the extra ``ui`` raises `MissingDependencyError`.
"""

from importlib.util import find_spec

from pytest_rageval.errors import MissingDependencyError

if not all(map(find_spec, ("jinja2", "starlette", "uvicorn"))):
    raise MissingDependencyError("a local page", "ui")
