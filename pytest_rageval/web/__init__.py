"""The server of the local pages: one page on 127.0.0.1, for one person.

Each page, such as that of ``rageval play``, is a package with its routes, templates and assets. It uses:

- `site.Site`: the name, the project, the routes and the package of a page;
- `serving.serve`: run a site until Ctrl-C, or open the page of the server that already runs;
- `pages.Pages`: render templates; data are always escaped;
- `requests`: parse the JSON or the form of a request; a malformed one is an `errors.DataError`;
- `files`: write files inside the project, and detect changes on disk since a file was read;
- `guard.Guard`: check the sender and the content of a request, and set the headers of the response. `serve` adds it to
  each site.

An endpoint may raise any `RagEvalError` or `OSError`: the person sees its message, as a page or as
``{"error": ..., "hint": ...}`` under ``/api/``.

Importing this package without the extra ``ui`` raises `MissingDependencyError`.
"""

from importlib.util import find_spec

from pytest_rageval.errors import MissingDependencyError

if not all(map(find_spec, ("jinja2", "starlette", "uvicorn"))):
    raise MissingDependencyError("a local page", "ui")
