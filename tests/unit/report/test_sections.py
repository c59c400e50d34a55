"""A section declared in one place appears in every report."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.samples.run_samples_stored import STARTED, stored_run, write_results

from pytest_rageval.cli import main
from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.export.markdown_text import MarkdownTable, tables_within
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.html.page import html_of
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections import BUILTIN
from pytest_rageval.report.sections.section import Section, Table, all_sections, table_sections
from pytest_rageval.report.terminal.summary import summary_lines
from pytest_rageval.report.text.lines import Line


@dataclass(frozen=True, slots=True)
class Length:
    """The lengths of the answers of a testbed."""

    testbed: str
    lengths: tuple[int, ...]


def lengths_of(run: Run) -> list[Length]:
    by_testbed: dict[str, list[int]] = {}
    for outcome in run.ordered():
        if outcome.answer is not None:
            by_testbed.setdefault(outcome.testbed, []).append(len(outcome.answer.text))
    return [Length(testbed, tuple(lengths)) for testbed, lengths in by_testbed.items()]


def tables_of(rows: Sequence[Length], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    columns = [
        ["testbed", *(testbeds[row.testbed].name for row in rows)],
        ["longest", *(f"{max(row.lengths)} characters" for row in rows)],
    ]
    yield Table("lengths of <answers>", columns, [Line(f"{len(rows)} testbeds\tanswered")])


LENGTHS = Section("lengths", Length, lengths_of, tables_of)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Declare the section and return a run with rows for it."""
    monkeypatch.setitem(BUILTIN, "lengths", f"{__name__}:LENGTHS")
    return stored_run()


def summary_of(run: Run, verbosity: int = 1) -> list[str]:
    return [line.text for line in summary_lines(run, MatrixChoice(), 80, verbosity)]


def results(run: Run) -> dict[str, Any]:
    content = decode_results(results_of(run, "r1", STARTED, MatrixChoice()))
    Draft202012Validator(schema()).validate(content)
    return content


IN_TERMINAL = [
    "lengths of <answers>",
    "",
    "testbed           longest",
    "----------  -------------",
    "test_noise   7 characters",
    "test_plain  15 characters",
    "2 testbeds\\tanswered",
]


def test_the_terminal_shows_a_section_at_its_place(run: Run) -> None:
    lines = summary_of(run)
    at = lines.index(IN_TERMINAL[0])
    assert lines[at - 1 : at + len(IN_TERMINAL)] == ["", *IN_TERMINAL]
    assert at > lines.index("gates")  # the section is the last one of the table
    assert IN_TERMINAL[0] not in summary_of(run, 0)


def test_markdown_shows_a_section(run: Run) -> None:
    text = markdown_of(run, MatrixChoice())
    title = "<details><summary>Lengths of &lt;answers&gt;</summary>"
    assert f"{title}\n\n| testbed | longest |\n| --- | ---: |\n| test\\_noise | 7 characters |" in text
    assert "\n2 testbeds\\\\tanswered\n" in text


def test_markdown_counts_notes_that_do_not_fit() -> None:
    part = MarkdownTable(
        "Lengths", [["testbed"], ["one"]], folded=True, numbers=range(0), notes=["x" * 200, "y" * 200, "z"]
    )
    text = tables_within([part], 700)
    assert f"| one |\n\n{'x' * 200}\n\n2 more notes did not fit here.\n\n</details>\n" in text
    assert tables_within([part], 5_000).endswith(f"{'y' * 200}\n\nz\n\n</details>\n")


def test_the_page_shows_a_section(run: Run) -> None:
    page = "".join(html_of(results(run)))
    assert html.escape("Lengths of <answers>") in page
    assert "15 characters" in page
    assert "2 testbeds" in page


def test_results_json_stores_the_rows_of_a_section_and_reads_them_back(run: Run) -> None:
    content = results(run)
    assert list(content)[-1] == "sections"
    noise, other = content["testbeds"]
    assert content["sections"] == {
        "lengths": [{"testbed": noise, "lengths": [7]}, {"testbed": other, "lengths": [15]}],
    }
    assert LENGTHS.read_rows(content) == lengths_of(run)


def test_show_and_export_read_a_section_from_results_json(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(run, tmp_path / "results.json")
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["show", "results.json", "--full"]) == 0
    assert IN_TERMINAL[-2] in capsys.readouterr().out.splitlines()
    for form, text in (("markdown", "15 characters"), ("html", "15 characters"), ("json", '"lengths": [15]')):
        assert main(["export", "results.json", "--as", form, "--out", form]) == 0
        assert text in Path(form).read_text(encoding="utf-8")
    assert json.loads(Path("json").read_text())["sections"]["lengths"]


def test_no_report_has_a_section_without_rows(run: Run) -> None:
    for outcome in run.ordered():
        del run.outcomes[outcome.nodeid]
    assert "sections" not in results(run)
    assert not [line for line in summary_of(run) if "lengths" in line]
    assert "engths" not in markdown_of(run, MatrixChoice())
    assert "Lengths" not in "".join(html_of(results(run)))


def test_each_section_is_listed_under_its_name() -> None:
    names = [name for name, part in zip(BUILTIN, all_sections(), strict=True) if isinstance(part, Section)]
    assert [section.name for section in table_sections()] == names


def test_only_sections_in_the_schema_have_a_top_level_key() -> None:
    schema_keys = schema()["properties"].keys() - {"sections"}
    assert {section.name for section in table_sections() if section.top_level} <= schema_keys
    assert not schema_keys & {section.name for section in table_sections() if not section.top_level}
