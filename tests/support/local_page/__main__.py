"""Serve the local page for tests: ``python -m support.local_page PROJECT [--port N] [--host H] [--i-know]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_rageval.errors import RagEvalError
from pytest_rageval.web.serving import serve
from pytest_rageval.web.site import Site
from support.local_page.routes import ROUTES


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("--subject", default="")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--i-know", action="store_true")
    arguments = parser.parse_args()
    site = Site("sample", arguments.project, ROUTES, "support.local_page", arguments.subject, max_body=2_000)
    try:
        return serve(site, port=arguments.port, host=arguments.host, know=arguments.i_know)
    except RagEvalError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
