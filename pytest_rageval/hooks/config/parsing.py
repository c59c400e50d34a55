"""Parse the values of options and ini settings; heavy modules are imported on use."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.setting import Place

if TYPE_CHECKING:
    from pytest_rageval.report.files.pruning import KeepLimits

__all__ = [
    "alpha",
    "baseline",
    "cases_to_shrink",
    "cluster",
    "count",
    "distinct",
    "dollars",
    "folder",
    "keep",
    "labels",
    "lines",
    "name",
    "one_of",
    "page",
    "passages",
    "path",
    "positive",
    "report",
    "results",
    "shard",
    "share",
    "store",
    "text",
    "text_by_language",
    "texts_by_language",
    "trace_chars",
]

W = TypeVar("W", bound=str)


def positive(text: str) -> int:
    """Parse a whole number of 1 or more, for argparse."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")


def cases_to_shrink(text: str) -> int:
    """Parse the number of ``--rag-shrink``, for argparse; explain the error if a path of tests follows the option."""
    try:
        return positive(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; write --rag-shrink=N, and paths of tests before it") from None


def shard(text: str) -> tuple[int, int]:
    """Parse a shard ``I/N``, for argparse."""
    number, _, of = text.partition("/")
    if number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise argparse.ArgumentTypeError(f"{text!r} is not a shard; write I/N, from 1/N to N/N")


def dollars(text: str) -> float:
    """Parse an amount of US dollars, for argparse."""
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of 0 or more US dollars")
    return amount


def text(value: str, place: Place) -> str:
    """Return the text of the ini without spaces around it."""
    return str(value).strip()


def name(value: str | None, place: Place) -> str | None:
    """Return a name; None if it is empty."""
    return str(value or "").strip() or None


def lines(value: Sequence[str], place: Place) -> tuple[str, ...]:
    """Return the lines of the ini, or the values of a repeated option."""
    return tuple(value)


def cluster(value: str, place: Place) -> str:
    """Return the facet that dependent cases share; by default the dialogue."""
    from pytest_rageval.model.facets import DIALOGUE

    return str(value).strip() or DIALOGUE


def distinct(value: list[str], place: Place) -> tuple[str, ...]:
    """Return names; raise `SettingError` for a repeated one."""
    for each in value:
        if value.count(each) > 1:
            raise SettingError(f"{place.name} names {short_repr(each)} twice; name each system once")
    return tuple(value)


def one_of(*words: W) -> Callable[[str, Place], W]:
    """Return a parser that accepts only these words."""

    def parse(value: str, place: Place) -> W:
        word = str(value).strip()
        for each in words:
            if word == each:
                return each
        choices = f"{', '.join(words[:-1])} or {words[-1]}"
        raise SettingError(f"{place.name} is {short_repr(word)}; write {choices}")

    return parse


def count(value: object, place: Place) -> int | None:
    """Return a whole number of 1 or more; None if not set."""
    digits = str(value).strip()
    if not digits:
        return None
    if digits.isdecimal() and int(digits) > 0:
        return int(digits)
    raise SettingError(f"{place.name} is {short_repr(digits)}; write a whole number of 1 or more")


def passages(value: object, place: Place) -> int:
    """Return a number of passages; 5 if not set."""
    return count(value, place) or 5


def trace_chars(value: object, place: Place) -> int:
    """Return the maximum number of characters of a stored text; 20,000 if not set."""
    return count(value, place) or 20_000


def path(value: str | None, place: Place) -> Path | None:
    """Return a path; None if not set."""
    text = str(value or "").strip()
    return place.folder / text if text else None


def report(value: str | None, place: Place) -> Path | None:
    """Return the path of a report; refuse an empty path, a directory and ``-``."""
    if value is None:
        return None
    if not value.strip():
        raise SettingError(f"{place.name} names no file; name one")
    if (place.folder / value).is_dir():
        raise SettingError(f"{place.name} names the directory {short_repr(value)}; name a file")
    if value == "-":
        raise SettingError(f"{place.name} names '-', and pytest writes to stdout itself; name a file, or ./-")
    return place.folder / value


def page(value: str | None, place: Place) -> Path | None:
    """Return the path of the HTML page; raise an error if Jinja is not installed."""
    target = report(value, place)
    if target is not None:
        from pytest_rageval.report.html.page import check_jinja2

        check_jinja2()
    return target


def store(value: str | None, place: Place) -> str | None:
    """Return the address of an MLflow store."""
    if value is not None and not value.strip():
        raise SettingError(f"{place.name} names no store; name a server, a database or a folder")
    return value


def baseline(value: str | None, place: Place) -> Path | None:
    """Return the path of the baseline; refuse a directory."""
    target = path(value, place)
    if target is not None and target.is_dir():
        raise SettingError(f"the baseline {target} is a directory; name a file")
    return target


def results(value: str | None, place: Place) -> Path | None:
    """Return the path of a results.json; refuse a missing file."""
    target = path(value, place)
    if target is not None and not target.is_file():
        raise SettingError(
            f"{place.name} names {short_repr(value)}, and there is no such file; name a results.json, which "
            "--rag-json writes",
            code="RAG212",
        )
    return target


def labels(value: str, place: Place) -> Path | None:
    """Return the path of people's labels; refuse a missing file."""
    target = path(value, place)
    if target is not None and not target.is_file():
        raise SettingError(
            f"{place.name} names {short_repr(str(target))}, and there is no such file; correct the path", code="RAG105"
        )
    return target


def folder(value: str, place: Place) -> Path:
    """Return a folder, which may not exist yet."""
    target = place.folder / str(value)
    if target.exists() and not target.is_dir():
        raise SettingError(f"{place.name} names the file {short_repr(str(target))}; name a folder")
    return target


def alpha(value: str, place: Place) -> float:
    """Return the accepted chance of a false alarm, as a share."""
    from pytest_rageval.analysis.baseline.multiplicity import alpha_of

    return alpha_of(str(value), place.name)


def share(value: str, place: Place) -> float:
    """Return a share in 0..1."""
    from pytest_rageval.analysis.baseline.comparable import share_of

    return share_of(str(value), place.name)


def keep(value: str, place: Place) -> KeepLimits:
    """Return how many runs the folder keeps, and their total size."""
    from pytest_rageval.report.files.pruning import parse_keep_limits

    limits = parse_keep_limits(str(value))
    if limits is None:
        hint = "write how many runs to keep, 1 or more, or all, and optionally their size, such as 50, 2 GB"
        raise SettingError(f"{place.name} is {short_repr(str(value).strip())}; {hint}")
    return limits


def texts_by_language(example: str) -> Callable[[Sequence[str], Place], Mapping[str, tuple[str, ...]]]:
    """Return a parser of lines ``language: text``, in which a language may have several texts."""

    def parse(value: Sequence[str], place: Place) -> Mapping[str, tuple[str, ...]]:
        from pytest_rageval.hooks.config.models import by_language

        return by_language(value, place.name, example)

    return parse


def text_by_language(value: Sequence[str], place: Place, example: str = "en: I do not know.") -> Mapping[str, str]:
    """Parse lines ``language: text`` into language -> text; refuse several texts of one language."""
    texts = texts_by_language(example)(value, place)
    for language, each in texts.items():
        if len(each) > 1:
            raise SettingError(f"{place.name} gives two texts for {short_repr(language)}; give one")
    return {language: each[0] for language, each in texts.items()}
