"""Templates to pages; data are shown as text only."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from pytest_rageval.report.html.visible_text import UNSEEN, shown

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Pages"]


class Pages:
    """The templates of one page, in the folder ``templates`` of its package.

    A template begins with ``{% extends "layout.html" %}`` and fills its blocks: ``title``, ``head``, ``navigation``,
    ``main``, ``foot``. Write ``{{ value|shown }}`` for data: it is escaped, isolated from the direction of the text
    around it, and invisible characters appear by name.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    def page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        """Return the page of a template.

        Raises:
            jinja2.UndefinedError: the template reads a value that is missing.
        """
        return HTMLResponse(self.markup(template, **values), status)

    def markup(self, template: str, **values: object) -> str:
        """Return the HTML of a template, for example a part of a page that its script puts in place."""
        return self._template(template).render(unseen=UNSEEN, **values).encode("utf-8", "replace").decode()

    def _template(self, name: str) -> Template:
        return self._environment.get_template(name)

    @cached_property
    def _environment(self) -> Environment:
        packages = dict.fromkeys((self.package, __package__))
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(each) for each in packages]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        environment.filters["shown"] = shown
        return environment
