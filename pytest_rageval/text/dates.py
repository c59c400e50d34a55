"""Find dates and times of day in English and Chinese text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

__all__ = ["dates", "located_dates", "located_times", "times"]

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?:(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
    r"|May|January|February|March|April|June|July|August|September|October|November|December)(?![a-zA-Z])"
)
_NTH = "(?:st|nd|rd|th)?(?![a-zA-Z\\d])"
_DATE = re.compile(
    rf"""(?<![a-zA-Z0-9_.,/-])(?:
      (?P<y1>\d{{4}})[ ]?年(?:度|[ ]?(?P<m1>\d{{1,2}})[ ]?月份?(?:[ ]?(?P<d1>\d{{1,2}})[ ]?[日号])?)?
    | (?P<m2>\d{{1,2}})[ ]?月份?(?:[ ]?(?P<d2>\d{{1,2}})[ ]?[日号])?
    | (?P<y3>\d{{4}})(?P<dash>[-/.])(?P<m3>\d{{1,2}})(?P=dash)(?P<d3>\d{{1,2}})(?![\d.-])
    | (?P<m4>{_MONTH})[ ](?P<d4>\d{{1,2}}){_NTH}(?:,?[ ](?P<y4>\d{{4}})(?![a-zA-Z\d_]))?
    | (?P<m5>{_MONTH}),?[ ](?P<y5>\d{{4}})(?![a-zA-Z\d_])
    | (?P<d6>\d{{1,2}}){_NTH}[ ](?:of[ ])?(?P<m6>{_MONTH})(?:,?[ ](?P<y6>\d{{4}})(?![a-zA-Z\d_]))?
    | (?:[Ii]n|[Ss]ince|[Dd]uring|[Uu]ntil|[Yy]ear|[Ff]iscal|FY)[ ]?(?P<y7>(?:19|20)\d\d)(?![\w%/-]|[.,]\d)
    | (?P<either>\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}|\d{{4}}-\d{{2}})(?![\w-])
    )""",
    re.VERBOSE,
)
_TIME = re.compile(
    r"(?P<part>上午|下午|凌晨|晚上|中午|早上)?(?<![a-zA-Z0-9_.,:-])(?P<h>[01]?\d|2[0-4])"
    r"(?::(?P<m1>[0-5]\d)(?![\d:])|(?P<at>[点时])(?!\d+[^\d分])(?:(?P<m2>[0-5]?\d)分|(?P<half>半))?|(?=[ ]?[ap]\.?m\b))"
    r"[ ]?(?P<ap>[ap]\.?m\b\.?)?",
    re.IGNORECASE,
)


def dates(text: str, report: Callable[[tuple[int, int, int] | None], None]) -> str:
    """Call ``report`` with each date as (year, month, day); return the text with a line break instead of each date.

    A missing part is 0. An ambiguous date (05/06/2023, 2010-12) is None.
    """

    def replace_date(match: re.Match[str]) -> str:
        date = _date(match)
        if date is not None or match["either"]:
            report(date)
            return "\n"
        return match[0]

    return _DATE.sub(replace_date, text)


def times(text: str, report: Callable[[int], None]) -> str:
    """Call ``report`` with each time of day in minutes after midnight; return the text without these times."""

    def replace_time(match: re.Match[str]) -> str:
        minutes = _minutes(match)
        if minutes is None:
            return match[0]
        report(minutes)
        return "\n"

    return _TIME.sub(replace_time, text)


def located_dates(text: str) -> Iterator[tuple[int, int, tuple[int, int, int] | None]]:
    """Yield the start, the end and the date, as in `dates`, of each date of a text; the span of "in 2019" is "2019"."""
    for match in _DATE.finditer(text):
        date = _date(match)
        if date is not None or match["either"]:
            yield match.start("y7") if match["y7"] else match.start(), match.end(), date


def located_times(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the start and end of each time of day with its minutes after midnight."""
    for match in _TIME.finditer(text):
        minutes = _minutes(match)
        if minutes is not None:
            yield match.start(), match.start() + len(match[0].rstrip()), minutes


def _date(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Return year, month and day; None if the date is ambiguous or impossible."""
    if match["either"]:
        return None
    parts = {name[0]: value for name, value in match.groupdict().items() if value and name[1:].isdecimal()}
    month = parts.get("m", "0")
    number = int(month) if month.isdecimal() else 1 + _MONTHS.index(month[:3].lower())
    day = int(parts.get("d", 0))
    return None if number > 12 or day > 31 else (int(parts.get("y", 0)), number, day)


def _minutes(match: re.Match[str]) -> int | None:
    """Return the minutes after midnight; None for a number that only looks like an hour."""
    if not (match["part"] or match["ap"] or match["m1"] or match["m2"] or match["half"]):
        return None
    hour = int(match["h"])
    late = (match["ap"] or "")[:1].lower() == "p" or match["part"] in ("下午", "晚上")
    early = (match["ap"] or "")[:1].lower() == "a" or match["part"] == "凌晨"
    hour = hour + 12 if late and hour < 12 else 0 if early and hour == 12 else hour
    return hour * 60 + (30 if match["half"] else int(match["m1"] or match["m2"] or 0))
