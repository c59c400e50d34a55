"""Show texts of data safely in a page: invisible and control characters appear by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["INVISIBLE", "UNSEEN", "breakable", "in_address", "shown"]

UNSEEN = (
    r"\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
)
"""Controls, direction marks and zero-width characters, as a character class for Python and JavaScript; both add the
tags from U+E0000 on and halves of surrogate pairs."""

INVISIBLE = re.compile(rf"[{UNSEEN}\ud800-\udfff\U000e0000-\U000e0fff]")
"""One such character."""


def shown(text: object) -> Markup:
    """Return a text for a page, isolated from surrounding text direction; invisible characters as ``U+202E``."""
    from markupsafe import Markup, escape

    parts, end = [Markup('<bdi class="data">')], 0
    whole = str(text)
    for match in INVISIBLE.finditer(whole):
        name = f"U+{ord(match[0]):04X}"
        parts += [escape(whole[end : match.start()]), Markup('<span class="unseen">{}</span>').format(name)]
        end = match.end()
    return Markup("").join([*parts, escape(whole[end:]), Markup("</bdi>")])


def breakable(text: object) -> Markup:
    """Return what `shown` returns, with places to break a line behind underscores."""
    from markupsafe import Markup

    return Markup(str(shown(text)).replace("_", "_<wbr>"))  # noqa: S704  # `shown` has escaped it


def in_address(nodeid: str) -> str:
    """Return the address of a case within the page; like the script, it writes half a surrogate as U+FFFD."""
    well_formed = nodeid.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"case={quote(well_formed, safe='')}"
