"""``rageval lint``: output and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main

FAKE = {"id": "f", "question": "How many seats?", "answers": ["70"], "fake_answers": ["exactly 70"]}
JOINED = {"id": "j", "question": "Who wrote it?", "answers": ["Ann Lee;A. Lee"]}
CLEAN = {"id": "c", "question": "When does it open?", "answers": ["9:00"]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data(project: Path, *rows: Any, name: str = "cases.jsonl") -> str:
    (project / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"jsonl:{name}"


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    """Return the status and the printed lines; only errors may go to stderr."""
    status = main(["lint", *arguments])
    out, err = capsys.readouterr()
    assert not (out if status == 2 else err)
    return status, (err if status == 2 else out).splitlines()


def test_it_lists_findings_and_counts_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = data(project, JOINED, FAKE), data(project, CLEAN, {**JOINED, "id": "k"}, name="more.jsonl")
    assert output_of(capsys, one, two, one) == (
        1,
        [
            "cases.jsonl:1: warning: joined_names j: the alias 'Ann Lee;A. Lee' contains 2 names; "
            "write each as an alias, or as a slot",
            "cases.jsonl:2: error: gold_in_fake f: the false answer 'exactly 70' contains the gold '70' "
            "and is scored as correct",
            "more.jsonl:2: warning: joined_names k: the alias 'Ann Lee;A. Lee' contains 2 names; "
            "write each as an alias, or as a slot",
            "",
            "check           errors  warnings     notes",
            "gold_in_fake         1         -         -",
            "joined_names         -         2         -",
            "Gold answers were matched by accuracy.",
        ],
    )


def test_five_findings_of_each_check_are_listed_and_the_others_counted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**JOINED, "id": f"j{at}", "question": f"Who wrote book {at}?"} for at in range(1_205)]
    dataset = data(project, FAKE, *rows)
    status, lines = output_of(capsys, dataset)
    assert (status, len(lines)) == (1, 1 + 5 + 1 + 1 + 4)
    assert [line.partition(": ")[0] for line in lines[:6]] == [f"cases.jsonl:{at}" for at in range(1, 7)]
    assert lines[6] == "joined_names: 1,200 more, 1,205 in all; --all lists them"
    assert lines[-2].split() == ["joined_names", "-", "1205", "-"]
    assert len(output_of(capsys, dataset, "--all")[1]) == 1 + 1_205 + 1 + 4
    assert len(json.loads("\n".join(output_of(capsys, dataset, "--json")[1]))["findings"]) == 1_206


def test_all_unreadable_lines_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = data(project, {"id": 1}, FAKE, {"id": 2, "question": "Q?"}, [])
    status, lines = output_of(capsys, dataset)
    assert status == 1
    assert [line.partition(": error: ")[0] for line in lines[:4]] == [f"cases.jsonl:{at}" for at in (1, 3, 4, 2)]
    assert lines[-2].split() == ["unreadable", "3", "-", "-"]


def test_the_worst_finding_decides_the_status(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean, warning, error = (data(project, row, name=f"{row['id']}.jsonl") for row in (CLEAN, JOINED, FAKE))
    note = data(project, CLEAN, {**CLEAN, "id": "z", "question": "博物馆几点开门？"}, name="noted.jsonl")
    assert output_of(capsys, clean) == (0, ["Nothing found. Gold answers were matched by accuracy."])
    statuses = [output_of(capsys, *names)[0] for names in ([note], [warning], [error], [clean, error, warning])]
    assert statuses == [0, 0, 1, 1]
    strict = [output_of(capsys, *names, "--strict")[0] for names in ([clean], [note], [warning], [error])]
    assert strict == [0, 0, 1, 1]


def test_settings_have_the_same_names_as_in_rag_case(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passages = [{"id": role, "text": role, "role": role} for role in ("positive", "negative")]
    short = data(project, {**CLEAN, "answers": ["positive"], "passages": passages})
    _, [finding, *_] = output_of(capsys, short, "--passages", "5", "--noise-rate", "0.8")
    assert finding == (
        "cases.jsonl:1: warning: short_pool c: passages=5 noise_rate=0.8 supplies 1 positive, 1 negative; "
        "the record has 1 positive, 1 negative"
    )
    assert output_of(capsys, short, "--passages", "1") == (
        0, ["Nothing found. Gold answers were matched by accuracy."],
    )  # fmt: skip
    published = output_of(capsys, short, "--passages", "1", "--assembly", "rgb-compat")[1]
    assert published == ["Nothing found. Gold answers were matched by rgb_all_rate_compat."]


def test_gold_ids_are_looked_up_in_a_corpus(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data(project, {"id": "d1", "text": "x"}, name="corpus.jsonl")
    data(project, {"id": "d2", "text": "x"}, name="more.jsonl")
    dataset = data(project, {**CLEAN, "qrels": {"d1": 1, "d2": 1}})
    status, lines = output_of(capsys, dataset, "--corpus", "corpus.jsonl")
    assert (status, lines[0].partition("c: ")[2]) == (
        1, "the corpus lacks 1 of 2 documents judged relevant: 'd2'",
    )  # fmt: skip
    assert output_of(capsys, dataset, "--corpus", "corpus.jsonl", "--corpus", "jsonl:more.jsonl")[0] == 0


def test_json_has_every_finding_and_count(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = output_of(capsys, data(project, FAKE), "--json")
    assert status == 1
    assert json.loads("\n".join(lines)) == {
        "contained_as": "accuracy",
        "findings": [
            {
                "dataset": "jsonl:cases.jsonl",
                "check": "gold_in_fake",
                "severity": "error",
                "id": "f",
                "origin": "cases.jsonl:1",
                "problem": "the false answer 'exactly 70' contains the gold '70' and is scored as correct",
            }
        ],
        "checks": {"gold_in_fake": {"error": 1}},
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jsonl:nope.jsonl"], "nope.jsonl: no such file or folder; a path is relative to the current folder"),
        (["jsonl:cases.jsonl", "--noise-rate", "2"], "lint: noise_rate: found 2.0, wanted a number in 0..1"),
        (["jsonl:cases.jsonl", "--noise-rate", "nan"], "lint: noise_rate: found nan, wanted a number in 0..1"),
        (["jsonl:cases.jsonl", "--corpus", "nope.md"], "rag_corpus: no such file: "),
    ],
)
def test_an_error_is_one_sentence(
    arguments: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data(project, CLEAN)
    status, [line] = output_of(capsys, *arguments)
    assert status == 2
    assert line.startswith(f"rageval: {message}")


@pytest.mark.parametrize("arguments", [[], ["jsonl:x", "--passages", "many"], ["jsonl:x", "--rate", "1"]])
def test_bad_usage_is_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["lint", *arguments])
    assert caught.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_it_starts_without_pytest_or_numpy(project: Path) -> None:
    heavy = "{'pytest', '_pytest', 'numpy', 'asyncio', 'litellm', 'bm25s', 'rjieba'}"
    script = (
        f"import sys; from pytest_rageval.cli import main; status = main(['lint', {data(project, FAKE)!r}])\n"
        f"print(*sorted(sys.modules.keys() & {heavy})); sys.exit(status)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.splitlines()[-1]) == (1, ""), run.stderr


def test_leakage_into_prompts_and_training_data_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = data(project, CLEAN, {"id": "d", "question": "Who built the town hall?", "answers": ["Ann Lee"]})
    (project / "prompts").mkdir()
    (project / "prompts" / "qa.toml").write_text('system = "For example: Who built the town hall? Ann Lee."\n')
    data(project, {"text": "When does it open?"}, name="train.jsonl")
    status, lines = output_of(
        capsys, name, "--leakage", "--prompts", "prompts/*.toml", "--against", "train.jsonl", "prompts/qa.toml"
    )
    assert status == 1
    assert lines[:3] == [
        "cases.jsonl:1: error: train_overlap c: the question is in train.jsonl:1: 'when does it open'",
        "cases.jsonl:2: error: prompt_leak d: the question is in prompts/qa.toml: 'who built the town hall'",
        "cases.jsonl:2: error: train_overlap d: the question is in prompts/qa.toml: 'who built the town hall'",
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--against", "train.jsonl"), "--prompts and --against belong to --leakage; add it"),
        (("--leakage", "--prompts", "x/*.toml"), "'x/*.toml': no such file, and no file that matches"),
        (("--leakage", "--against", "cases.jsonl"), "cases.jsonl is the dataset itself; leave it out"),
        (("--leakage", "--against", "wide.txt"), "wide.txt: is not UTF-8; save it as UTF-8"),
    ],
)
def test_invalid_options_and_files_for_leakage_are_one_sentence(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    name = data(project, CLEAN)
    (project / "wide.txt").write_bytes(b"\xff\xfe\x00")
    status, lines = output_of(capsys, name, *arguments)
    assert (status, len(lines)) == (2, 1)
    assert problem in lines[0]


def suite(project: Path, text: str, name: str = "tests/rag.rag.toml") -> str:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text, encoding="utf-8")
    return name


def test_a_file_of_cases_needs_no_format(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = data(project, FAKE)
    assert output_of(capsys, "cases.jsonl") == output_of(capsys, "./cases.jsonl", dataset) == output_of(capsys, dataset)


def test_a_suite_is_checked_testbed_by_testbed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passages = [{"id": role, "text": role, "role": role} for role in ("positive", "negative")]
    data(project, {**CLEAN, "answers": ["positive"], "passages": passages})
    noisy = 'ability = "noise_robustness"\ndataset = "jsonl:../cases.jsonl"\n'
    name = suite(
        project,
        f'[[testbed]]\nname = "few"\npassages = 1\n{noisy}'
        f'[[testbed]]\nname = "many"\npassages = 2\nnoise_rate = 0.5\nassembly = "rgb-compat"\n{noisy}'
        f'[[testbed]]\nname = "more"\npassages = 3\nnoise_rate = [0.0, 0.4]\n{noisy}'
        '[[testbed]]\nname = "retrieved"\npassages = "retrieved"\ndataset = "jsonl:../cases.jsonl"\n'
        '[[testbed]]\nname = "plain"\ndataset = "jsonl:cases.jsonl"\n',
    )
    status, lines = output_of(capsys, name)
    shortage = "cases.jsonl:1: warning: short_pool c: passages=3 noise_rate={} supplies 1 positive{}; "
    assert (status, [line for line in lines if "short_pool c" in line]) == (
        0,
        [
            shortage.format("0", "") + "the record has 1 positive, 1 negative",
            shortage.format("0.4", ", 1 negative") + "the record has 1 positive, 1 negative",
        ],
    )
    assert lines[-1] == "Gold answers were matched by accuracy and rgb_all_rate_compat."
    assert "short_pool" not in " ".join(output_of(capsys, name, "--passages", "1", "--noise-rate", "0")[1])


def test_findings_that_testbeds_share_are_listed_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = data(project, FAKE)
    testbeds = "".join(f'[[testbed]]\nname = "{name}"\ndataset = "{dataset}"\n' for name in ("one", "two"))
    output = output_of(capsys, suite(project, testbeds), suite(project, testbeds, "more.rag.toml"), "cases.jsonl")
    assert output == output_of(capsys, dataset)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[testbed]\n", "tests/rag.rag.toml:1: this is not valid TOML"),
        ("", "tests/rag.rag.toml:1: a suite needs at least one [[testbed]] table; add one"),
        ('[[testbed]]\nname = "x"\n', "tests/rag.rag.toml:1: "),
        (
            '[[testbed]]\nname = "x"\ndataset = "jsonl:a.jsonl"\npassage = 3\n',
            "tests/rag.rag.toml:4: unknown key 'passage'",
        ),
        (
            '\n[[testbed]]\nname = "x"\ndataset = "jsonl:a.jsonl"\n',
            "tests/rag.rag.toml:2: dataset 'jsonl:a.jsonl': no such file, neither in the folder of the suite nor",
        ),
        (
            '[[testbed]]\nname = "x"\ndataset = "jsonl:a.jsonl"\npassages = -1\n',
            "tests/rag.rag.toml:1: passages: found -1",
        ),
    ],
)
def test_an_invalid_suite_is_one_sentence(
    text: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, [line] = output_of(capsys, suite(project, text))
    assert (status, line.startswith(f"rageval: {message}")) == (2, True), line
