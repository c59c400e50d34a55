"""The end of the output: the verdict, its causes, the failed gates and the next command.

The outputs are also stored in ``fixtures/terminal``; ``RAGEVAL_RENEW=1`` stores the current ones.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.projects.rag_project import MODES, Project, Row, case
from support.snapshots import check, end_of_output
from wcwidth import wcswidth

SYSTEM = """
    from pathlib import Path

    import pytest

    def say(query):
        number = int(query.question.split()[-1])
        state = Path("state.txt").read_text()
        if "down" in state:
            raise ConnectionError("the model's server closed the connection")
        if "bad" not in state or number < 8:
            return "Paris"
        if number > 37:
            raise ConnectionError("no seats left")
        return "Rome"

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
GATES = 'gates=["accuracy >= baseline", "accuracy >= 0.9", "accuracy[topic=*] >= 0.5", "error_rate <= 0.9"]'
BASELINE = ("--rag-baseline", "rag-baseline.json")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FAILED = [
    "FAILED  accuracy >= baseline",
    "FAILED  accuracy >= 0.9",
    "FAILED  accuracy[topic=*] >= 0.5",
]
HEADLINES = ["0.21 < 1.00 (n 38, was 1.00)", "0.21 < 0.90 (n 38)", "0.21 < 0.50 (n 19) at topic=A"]


@pytest.fixture(autouse=True)
def run_outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pytest does not truncate the lines of its summary in CI."""
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def snapshots(fixtures_dir: Path) -> Path:
    return fixtures_dir / "terminal"


def halls(n: int = 40) -> list[Row]:
    return [case(f"q{number:02}", f"Where is hall {number}", topic="AB"[number % 2]) for number in range(n)]


def break_suite(project: Project, rows: list[Row] | None = None, gates: str = GATES) -> None:
    """Write a suite, store a baseline of its working system, and break the system."""
    project.file("state.txt", "good")
    project.says(halls() if rows is None else rows, gates, conftest=SYSTEM)
    run = project.run(*BASELINE, "--rag-update-baseline")
    assert run.status == 0, run.text
    project.file("state.txt", "bad")


def block(text: str) -> list[str]:
    """Return the lines from the verdict to the line before pytest's last one."""
    lines = text.rstrip("\n").splitlines()
    (start,) = (at for at, line in enumerate(lines) if COLOUR.sub("", line).startswith("rag: "))
    end = next(
        (at for at in range(start, len(lines)) if re.search(r"(passed|failed).* in [\d.]+s", lines[at])), len(lines)
    )
    return lines[start:end]


def plain(lines: list[str]) -> list[str]:
    """Return the lines without the seconds that they took."""
    return [re.sub(r" *[\d.]+ s(?=,)", " S s", line) for line in lines]


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_the_block_ends_the_output_and_fits_the_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshots: Path, columns: int
) -> None:
    break_suite(project)
    monkeypatch.setenv("COLUMNS", str(columns))
    run = project.run(*BASELINE)
    assert run.status == 1
    check(snapshots / f"columns-{columns}.txt", end_of_output(run.text))
    lines = block(run.text)
    output = run.text.splitlines()
    assert output.index(lines[0]) > next(at for at, line in enumerate(output) if "short test summary" in line)
    assert max(map(wcswidth, lines)) <= columns
    assert lines[0].startswith("rag: 3 of 4 gates failed")
    table = [line.split() for line in lines if line.startswith("  FAILED  ")]
    values = [[part for part in row if re.fullmatch(r"[\d.–]+", part)] for row in table]
    assert [row[-3:] for row in values] == [["1.00", "0.21", "38"], ["–", "0.21", "38"], ["–", "0.21", "19"]]
    assert "  1 passed (-v lists them)" in lines
    assert lines[-1] == "see it: rageval show --case q08 · pytest 'test_it.py::test_it[q08]'"
    examples = [line for line in lines if '"Where is hall 8"' in line]
    assert len(examples) == 1
    assert examples[0] == '      q08  "Where is hall 8"  wanted "Paris"  now "Rome"'


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_long_names_and_texts_do_not_hide_a_value_of_the_table(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshots: Path, columns: int
) -> None:
    place = "department=the committee for the restoration of the town hall"
    rows = [each | {"department": place.partition("=")[2]} for each in halls()]
    rows = [each | {"question": f"什么时候开门{'很' * 90} {each['question']}"} for each in rows]
    break_suite(
        project, rows, f'gates=["accuracy[{place}, topic=A] >= 0.9251", "accuracy[{place}] >= baseline - 0.02"]'
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    run = project.run(*BASELINE)
    check(snapshots / f"long-names-{columns}.txt", end_of_output(run.text))
    lines = block(run.text)
    assert max(map(wcswidth, lines)) <= columns
    table = [line for line in lines if line.startswith("  FAILED  accuracy[")]
    assert [re.search(r"(>= .*?) {2,}[–\d]", line).group(1) for line in table] == [  # type: ignore[union-attr]
        ">= 0.9251",
        ">= baseline - 0.02",
    ]
    assert [line.split().count("0.21") for line in table] == [1, 1]
    assert all(re.search(rf" {n}( |$)", line) for n, line in zip((19, 38), table, strict=True))


def test_a_value_just_below_its_bound_is_printed_with_enough_digits(project: Project) -> None:
    rows = [case(f"q{number}", "say Rome" if number == 0 else "say Paris") for number in range(250)]
    project.says(rows, 'gates=["accuracy >= 0.998"]')
    run = project.run()
    assert run.status == 1
    (line,) = (line for line in block(run.text) if "FAILED" in line)
    assert re.search(r"accuracy >= 0\.998 +0\.996 +250", line)


@pytest.mark.parametrize("style", ["auto", "short", "long", "native"])
def test_each_style_of_traceback_shows_the_value_of_a_gate(project: Project, snapshots: Path, style: str) -> None:
    break_suite(project)
    run = project.run(*BASELINE, f"--tb={style}")
    check(snapshots / f"tb-{style}.txt", end_of_output(run.text))
    failures = run.text.partition("= FAILURES =")[2].partition("= rag =")[0].splitlines()
    heads = [at for at, line in enumerate(failures) if "test_it[gate: " in line]
    assert [failures[at + 1] for at in heads] == HEADLINES
    assert "worst cases:" in run.text
    assert "Traceback" not in run.text


def test_tb_line_prints_one_line_for_each_failed_gate(project: Project, snapshots: Path) -> None:
    break_suite(project)
    run = project.run(*BASELINE, "--tb=line")
    check(snapshots / "tb-line.txt", end_of_output(run.text).replace(f"{project.path}/", ""))
    failures = run.text.partition("= FAILURES =")[2].partition("= rag =")[0].splitlines()[1:]
    assert [line.partition("test_it.py:3: ")[2] for line in failures if line.strip("=")] == HEADLINES


def test_without_tracebacks_the_block_is_unchanged(project: Project, snapshots: Path) -> None:
    break_suite(project)
    run = project.run(*BASELINE, "--tb=no")
    check(snapshots / "tb-no.txt", end_of_output(run.text))
    assert "= FAILURES =" not in run.text
    assert "= ERRORS =" not in run.text
    whole = project.run(*BASELINE)
    assert plain(block(run.text)) == plain(block(whole.text))


def test_quiet_shows_the_verdict_the_first_cause_and_the_failed_gates(project: Project, snapshots: Path) -> None:
    break_suite(project)
    text = project.run(*BASELINE, "-q").text
    check(snapshots / "quiet.txt", end_of_output(text))
    lines = block(text)
    while lines[0].startswith(("rag: ", "     ")):
        del lines[0]
    cause = [lines.pop(0) for _ in range(2)]
    assert " ".join(map(str.strip, cause)).startswith("1 error system_error: 2 of 40 cases, for instance: ")
    assert lines[0].startswith("gates  ")
    assert [re.sub(r"  +[\d–].*", "", line).strip() for line in lines[1:-1]] == FAILED
    assert lines[-1] == "see it: rageval show --case q08 · pytest 'test_it.py::test_it[q08]'"


def test_very_quiet_runs_end_with_a_short_block(project: Project, snapshots: Path) -> None:
    break_suite(project)
    text = project.run(*BASELINE, "-qq").text
    check(snapshots / "very-quiet.txt", end_of_output(text))
    red = block(text)
    assert red[0].startswith("rag: 3 of 4 gates failed")
    assert not [line for line in red if "FAILED" in line or "see it" in line]
    project.file("state.txt", "good")
    green = project.run(*BASELINE, "-qq", "-p", "no:randomly")
    assert green.status == 0
    assert "rag" not in green.text
    assert "gate" not in green.text


def test_a_green_run_ends_with_one_line(project: Project) -> None:
    break_suite(project)
    project.file("state.txt", "good")
    (line,) = block(project.run(*BASELINE).text)
    assert re.fullmatch(r"rag: all 4 gates hold +40 cases, 0 errors, [\d.]+ s, cost unknown", line)


def test_only_verdicts_and_statuses_have_colours(project: Project, snapshots: Path) -> None:
    break_suite(project)
    lines = block(project.run(*BASELINE, "--color=yes").text)
    check(snapshots / "colours.txt", "\n".join([*plain(lines), ""]))
    coloured = re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", "\n".join(lines))
    assert coloured == [("31", "3 of 4 gates failed"), *[("31", "FAILED")] * 3]
    assert len(COLOUR.findall("\n".join(lines))) == 2 * len(coloured)
    project.file("state.txt", "good")
    (line,) = block(project.run(*BASELINE, "--color=yes").text)
    assert line.startswith("rag: \x1b[32mall 4 gates hold\x1b[0m  ")
    assert len(COLOUR.findall(line)) == 2


def test_equal_errors_are_shown_once(project: Project) -> None:
    break_suite(project, halls(64))
    project.file("state.txt", "down")
    run = project.run(*BASELINE)
    assert run.status == 1
    errors = run.text.partition("= ERRORS =")[2].partition("= FAILURES =")[0]
    assert errors.count("the model's server closed the connection") <= 2  # its message, and its line in the code
    assert errors.count("ERROR at setup of") == 1
    assert len([line for line in run.text.splitlines() if line.startswith("ERROR test_it.py::")]) == 1
    assert len([line for line in block(run.text) if "64 of 64 cases" in line]) == 1
    assert "64 errors in" in run.text.splitlines()[-1]
    whole = project.run(*BASELINE, "-v").text
    assert whole.count("ERROR at setup of") == 64


def test_missed_cases_are_listed_on_request(project: Project, snapshots: Path) -> None:
    break_suite(project)
    missed = [f"MISSED test_it.py::test_it[q{number:02}] - accuracy 0.00 < 0.90" for number in range(8, 38)]
    output = project.run(*BASELINE, "-ra").text
    check(snapshots / "all-reports.txt", end_of_output(output))
    assert sorted(line for line in output.splitlines() if line.startswith("MISSED")) == missed
    assert output.index(missed[0]) < output.index("\nrag: ")
    assert "MISSED test" not in project.run(*BASELINE).text


def test_the_block_is_the_same_on_any_number_of_processes(project: Project) -> None:
    break_suite(project)
    blocks = {name: plain(block(project.run(*BASELINE, *mode).text)) for name, mode in MODES.items()}
    assert blocks["plain"] == blocks["n2"] == blocks["no-xdist"]
