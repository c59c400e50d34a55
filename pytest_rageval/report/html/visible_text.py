"""Escape texts of data for a page; invisible and control characters appear by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["INVISIBLE", "INVISIBLE_CHARACTERS", "breakable_html", "case_fragment", "visible_html"]

INVISIBLE_CHARACTERS = (
    r"\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
)
"""Control characters, direction marks and zero-width characters, as a character class for Python and JavaScript.

Python and JavaScript each add lone surrogates and the tags from U+E0000 on: the two languages escape these differently.
"""

INVISIBLE = re.compile(rf"[{INVISIBLE_CHARACTERS}\ud800-\udfff\U000e0000-\U000e0fff]")
"""Matches one invisible character."""


def visible_html(text: object) -> Markup:
    """Escape a text for a page; isolate its text direction, and show invisible characters as ``U+202E``."""
    from markupsafe import Markup, escape

    parts, end = [Markup('<bdi class="data">')], 0
    full_text = str(text)
    for match in INVISIBLE.finditer(full_text):
        name = f"U+{ord(match[0]):04X}"
        parts += [escape(full_text[end : match.start()]), Markup('<span class="unseen">{}</span>').format(name)]
        end = match.end()
    return Markup("").join([*parts, escape(full_text[end:]), Markup("</bdi>")])


def breakable_html(text: object) -> Markup:
    """Escape a text like `visible_html`, and allow line breaks after underscores."""
    from markupsafe import Markup

    return Markup(str(visible_html(text)).replace("_", "_<wbr>"))  # noqa: S704  # `visible_html` has escaped it


def case_fragment(nodeid: str) -> str:
    """Return the fragment of a case's link within the page, without ``#``.

    A lone surrogate becomes U+FFFD, like in ``caseAddress`` of the page's ``store.js``.
    """
    well_formed = nodeid.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"case={quote(well_formed, safe='')}"
