"""Table of options: each row declares one setting completely."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.setting import Place, Setting, Settings, declared

DOCS = Path(__file__).parents[3] / "docs"


def parse_half(value: object, place: Place) -> float:
    try:
        return int(str(value)) / 2
    except ValueError:
        raise SettingError(f"{place.name} is not a number") from None


class Rows(Settings):
    both = Setting("--rag-both", "rag_both", parse=parse_half, default="8", help="50% of a number")
    lines: Setting[list[str]] = Setting("rag_lines", kind="linelist", help="lines")
    flag: Setting[bool] = Setting("--rag-flag", action="store_true", help="a flag")


@dataclass(frozen=True)
class Parser:
    """Stands in for pytest's parser and records the added options."""

    added: dict[str, tuple[Any, ...]]

    def getgroup(self, name: str) -> Parser:
        assert name == "rag"
        return self

    def addoption(self, option: str, **arguments: Any) -> None:
        self.added[option] = tuple(sorted(arguments.items()))

    def addini(self, *setting: Any) -> None:
        self.added[setting[0]] = setting[1:]


def config(option: dict[str, Any], ini: dict[str, Any]) -> pytest.Config:
    """Return a configuration with these values, called in /here with an ini in /ini."""
    parts = {
        "option": type("Option", (), option)(),
        "getini": lambda _, name: ini[name],
        "inipath": Path("/ini/pytest.ini"),
        "invocation_params": type("Params", (), {"dir": Path("/here")})(),
    }
    return cast("pytest.Config", type("Config", (), parts)())


def test_a_row_adds_its_option_and_its_ini_setting() -> None:
    parser = Parser({})
    for setting in declared(Rows):
        setting.add_to(cast("pytest.Parser", parser))
    assert asdict(parser)["added"] == {
        "--rag-both": (("dest", "rag_both"), ("help", "50%% of a number")),
        "rag_both": ("50% of a number", "string", "8"),
        "rag_lines": ("lines", "linelist", []),
        "--rag-flag": (("action", "store_true"), ("dest", "rag_flag"), ("help", "a flag")),
    }


def test_the_option_overrides_the_ini() -> None:
    ini = {"rag_both": "8", "rag_lines": ["a"]}
    with_option, without_option = ({"rag_both": both, "rag_flag": True} for both in ("6", None))
    assert (Rows(config(with_option, ini)).both, Rows(config(without_option, ini)).both) == (3, 4)
    rows = Rows(config(with_option, ini))
    assert (rows.lines, rows.flag, Rows.both.read(config(without_option, ini))) == (["a"], True, 4)
    assert [setting.name for setting, _ in rows.items()] == ["rag_both", "rag_lines", "--rag-flag"]


@pytest.mark.parametrize(("option", "name"), [("x", "--rag-both"), (None, "rag_both")])
def test_an_error_names_the_source_of_the_value(option: str | None, name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} is not a number$"):
        Rows(config({"rag_both": option, "rag_flag": False}, {"rag_both": "y", "rag_lines": []}))


def test_a_value_cannot_be_changed() -> None:
    rows = Rows(config({"rag_both": "6", "rag_flag": False}, {"rag_lines": []}))
    with pytest.raises(AttributeError):
        rows.both = 7  # type: ignore[assignment]


def test_every_row_has_a_unique_name_and_an_existing_page() -> None:
    rows = list(declared(Options))
    names = [name for row in rows for name in (row.option, row.ini) if name]
    assert len(names) == len(set(names)) > 50
    assert {row.needs for row in rows} - {""} <= {row.ini for row in rows}
    assert [row.more for row in rows if row.more and not (DOCS / row.more.partition("#")[0]).is_file()] == []
