"""Templates to pages; data are shown as text only."""

from __future__ import annotations

from functools import cached_property

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from pytest_rageval.report.html.visible_text import INVISIBLE, UNSEEN, shown
from pytest_rageval.web.edited_text import field_text

__all__ = ["Pages"]


class Pages:
    """The templates of one page, in the folder ``templates`` of its package.

    A template begins with ``{% extends "layout.html" %}`` and fills its blocks: ``title``, ``head``, ``navigation``,
    ``main``, ``foot``. ``{{ value }}`` is escaped everywhere, and invisible characters appear by name. In addition,

    - ``{{ value|shown }}`` isolates data from the direction of the text around it and marks the names: for all texts
      of the data outside of attributes;
    - ``{{ value|in_field }}`` fills a ``textarea`` or an ``input``; `edited_text.edited` turns what comes back into the
      text again. Write a line end after ``<textarea ...>``: HTML drops the first one.

    The policy of the page allows no script and no style inside it. Both are files in the folder ``assets``; a script is
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
        """Return the HTML of a template, for example a part of a page that its script puts in place."""
        return self._environment.get_template(template).render(unseen=UNSEEN, **values)

    @cached_property
    def _environment(self) -> Environment:
        packages = dict.fromkeys((self.package, __package__))
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(each) for each in packages]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_named,
        )
        environment.filters.update(shown=shown, in_field=lambda text: escape(field_text(str(text))))
        return environment


def _named(value: object) -> object:
    """Return a value with its invisible characters by name; markup, which a filter has made, stays."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return INVISIBLE.sub(lambda match: f"U+{ord(match[0]):04X}", value)
