"""Render the templates of a page; all data are escaped."""

from __future__ import annotations

from functools import cached_property

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from pytest_rageval.report.html.visible_text import INVISIBLE, INVISIBLE_CHARACTERS, visible_html
from pytest_rageval.web.text_fields import field_text

__all__ = ["Pages"]


class Pages:
    """The templates of one page, in the folder ``templates`` of its package.

    A template begins with ``{% extends "layout.html" %}`` and fills its blocks: ``title``, ``head``, ``navigation``,
    ``main``, ``foot``. ``{{ value }}`` is escaped everywhere, and invisible characters appear by name. In addition,

    - ``{{ value|shown }}`` isolates the writing direction of data from the text around them and marks invisible
      characters: use it for all texts of the data outside of attributes;
    - ``{{ value|in_field }}`` fills a ``textarea`` or an ``input``; `text_of_field` converts the submitted value back
      into the text. Write a line end after ``<textarea ...>``, because HTML drops the first one.

    The content security policy forbids inline scripts and styles. Put both into the folder ``assets``; a script is
    a module that imports from ``/assets/site.js``: ``<script type="module" src="/assets/review.js"></script>``.
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
        """Return the HTML of a template, for example a part of a page that a script inserts."""
        return self._environment.get_template(template).render(unseen=INVISIBLE_CHARACTERS, **values)

    @cached_property
    def _environment(self) -> Environment:
        packages = dict.fromkeys((self.package, __package__))
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(each) for each in packages]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_name_invisible,
        )
        environment.filters.update(shown=visible_html, in_field=lambda text: escape(field_text(str(text))))
        return environment


def _name_invisible(value: object) -> object:
    """Replace invisible characters of a text by their names; markup from a filter does not change."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return INVISIBLE.sub(lambda match: f"U+{ord(match[0]):04X}", value)
