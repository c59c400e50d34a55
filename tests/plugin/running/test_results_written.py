"""results.json and the folder of the run: always written, valid and reproducible."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.projects.rag_project import RAISES, RIGHT, WRONG, Mode, Project, bare, cases

GATES = "gates=['accuracy >= 0.5', 'error_rate <= 0']"
NOISE = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", ability="noise_robustness", noise_rate=[0.0, 0.5], passages=4, gates=["n >= 1"])
    def test_it(rag): ...
"""
POOL = [
    {"id": f"d{number}", "text": f"The capital number {number} is Paris.", "role": role}
    for number, role in enumerate(["positive", "negative"] * 5)
]


def test_the_same_run_twice_gives_the_same_results(project: Project) -> None:
    project.says(cases(*["Which is the capital number 2?"] * 5, passages=POOL), test=NOISE, conftest="")
    first, second = project.run("--rag-seed", "7"), project.run("--rag-seed", "7")
    assert bare(first.results) == bare(second.results)
    assert len(first.results["outcomes"]) == 10
    assert {len(outcome["supplied"]) for outcome in first.results["outcomes"]} == {4}
    other = project.run("--rag-seed", "8")
    assert bare(other.results)["outcomes"] != bare(first.results)["outcomes"]


def test_workers_give_the_same_results_as_one_process(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, RAISES, RIGHT, RIGHT, WRONG), GATES)
    plain, workers, without = project.run(), project.run("-n2"), project.run("-p", "no:xdist")
    assert bare(plain.results) == bare(workers.results) == bare(without.results)
    assert plain.status == workers.status == without.status == 1


def test_results_have_fingerprint_instances_matrix_and_testbeds(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, topic="Funds", passages=POOL[:2]), GATES)
    results = project.run().results
    assert results["run"]["fingerprint"].startswith("sha256:")
    assert results["run"]["id"]
    assert set(results["instances"]) == {"q1", "q2"}
    assert results["instances"]["q1"] == {
        "question": RIGHT,
        "gold": [["Paris"]],
        "history": [],
        "passages": {p["id"]: {"text": p["text"], "role": p["role"]} for p in POOL[:2]},
        "origin": "cases.jsonl:1",
    }
    assert results["matrix"]["rows"] == ["Funds"]
    testbed = results["testbeds"]["test_it.py::test_it"]
    assert testbed["gates"] == ["accuracy >= 0.5", "error_rate <= 0"]
    assert testbed["where"] == "test_it.py:3"
    assert testbed["settings"] == {"dataset": "jsonl:cases.jsonl", "passages": "5", "seed": "0"}


def test_results_have_the_settings_of_a_testbed(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    asks = """
    from pytest_rageval import rag_case

    @rag_case({dataset!r}, ability="noise_robustness", noise_rate=[0.0, 0.5], passages=4, limit=3, desk="Bonds")
    def test_it(rag): ...
    """
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "cases.jsonl"
    for mode, dataset in (("-n2",), "jsonl:cases.jsonl"), ((), f"jsonl:{elsewhere}"):
        project.says(cases(*[RIGHT] * 4, passages=POOL), test=asks.format(dataset=dataset), conftest="")
        elsewhere.write_bytes((project.path / "cases.jsonl").read_bytes())
        assert project.run(*mode, "--rag-seed", "7").results["testbeds"]["test_it.py::test_it"]["settings"] == {
            "dataset": "jsonl:cases.jsonl",
            "ability": "noise_robustness",
            "passages": "4",
            "noise_rate": "[0.0, 0.5]",
            "assembly": "balanced",
            "facets": '{"desk": "Bonds"}',
            "limit": "3",
            "seed": "7",
        }


def test_an_edit_of_the_data_changes_the_fingerprint(project: Project) -> None:
    project.says(cases(RIGHT))
    before = project.run().results["run"]["fingerprint"]
    assert project.run().results["run"]["fingerprint"] == before
    project.says(cases(WRONG))
    assert project.run().results["run"]["fingerprint"] != before


def test_an_outcome_is_on_disk_before_its_hook_is_called(project: Project, mode: Mode) -> None:
    conftest = """
        import pytest, pathlib

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Paris"

        def pytest_rageval_outcome(outcome):
            (file,) = pathlib.Path(".rageval/runs").glob("*/outcomes.jsonl")
            assert outcome["nodeid"] in file.read_text()  # already stored when the hook runs
    """
    project.says(cases(RIGHT, RIGHT, RIGHT), conftest=conftest)
    run = project.run(*mode)
    assert run.status == 0
    by_node = {line["nodeid"]: line for line in project.lines()}
    assert by_node == {outcome["nodeid"]: outcome for outcome in run.results["outcomes"]}
    assert (project.path / ".rageval" / ".gitignore").read_text().endswith("*\n")


def test_two_runs_at_once_in_one_folder_have_their_own_results(project: Project) -> None:
    project.says(cases(RIGHT))
    one, two = project.started(), project.started()
    assert (one.wait(60), two.wait(60)) == (0, 0)
    paths = sorted(project.path.glob(".rageval/runs/*/results.json"))
    assert len(paths) == 2
    ids = {json.loads(path.read_text())["run"]["id"] for path in paths}
    assert ids == {path.parent.name for path in paths}


def test_a_folder_that_cannot_be_created_is_one_warning(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), GATES)
    (project.path / ".rageval").write_text("a file")
    run = project.run()
    assert run.status == 0
    assert run.text.count("warning: nothing is stored in") == 1
    assert run.results["run"]["id"] == ""
    assert run.statuses == {"q1": "scored", "q2": "scored"}


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that not even root may write to")
def test_a_rootdir_that_cannot_be_written_is_one_warning(project: Project) -> None:
    project.says(cases(RIGHT))
    run = project.run("-p", "no:cacheprovider", "--rootdir=/proc")
    assert run.status == 0
    assert run.text.count("warning: nothing is stored in /proc/.rageval: ") == 1
    assert run.statuses == {"q1": "scored"}


def test_a_disk_that_fills_up_is_one_warning(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_rageval.report.files.run_folder import RunFolder

    def full(self: RunFolder, record: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunFolder, "append", full)
    project.says(cases(RIGHT, RIGHT))
    run = project.run()
    assert run.status == 0
    assert run.text.count("outcomes are no longer stored") == 1
    run.said("*No space left on device*")


def test_the_folder_of_a_requested_file_is_created(project: Project) -> None:
    project.says(cases(RIGHT))
    run = project.run(json_path="reports/deep/results.json")
    assert run.status == 0
    assert run.statuses == {"q1": "scored"}
    assert os.listdir(project.path / "reports" / "deep") == ["results.json"]  # and no partial file


@pytest.mark.parametrize(
    ("target", "args"), [("test_it.py/results.json", ("-n2",)), ("test_it.py/results.json", ("-p", "no:xdist"))]
)
def test_a_requested_file_that_cannot_be_written_fails_the_session(project: Project, target: str, args: Mode) -> None:
    project.says(cases(RIGHT), "gates=['accuracy >= 1']")
    path = Path(target)
    run = project.run(*args, "--rag-json", target, json_path=None)
    assert run.status == 1
    run.said(f"*warning: *{path.name}*could not be written: *")
    assert run.results["gates"][0]["status"] == "passed"  # read from the folder of the run


def test_a_directory_is_refused_as_a_file_to_write(project: Project) -> None:
    project.says(cases(RIGHT))
    (project.path / "folder").mkdir()
    run = project.run("--rag-json", "folder", json_path=None)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "--rag-json names the directory 'folder'; name a file" in run.result.stderr.str()


def test_an_unwritable_file_hides_no_other_status(project: Project) -> None:
    project.says(cases(RIGHT), "gates=['accuracy < 1']")
    assert project.run("--rag-json", "test_it.py/x.json", json_path=None).status == 1
    assert project.run("--rag-json", "test_it.py/x.json", "-k", "nothing", json_path=None).status == 5


SENTINEL = "xyzzy"
SECRET = f"""
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage, Step

    def answer(query):
        if "break" in query.question:
            raise ValueError("{SENTINEL} in the message")
        if "contract" in query.question:
            return ["{SENTINEL}"]
        ranking = Ranking((ScoredPassage("d1", 1.0, "{SENTINEL} text", "{SENTINEL} title"),))
        return Answer("{SENTINEL} answer", ranking, trace=(Step("tool", {{"argument": "{SENTINEL}"}}),))

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""
SECRETS = """
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", gates=["token_f1 >= 0.9", "error_rate <= 0"])
    def test_it(rag):
        if rag.answer.text and "skip" in rag.case.instance.question:
            pytest.skip(rag.answer.text)
        rag.check("token_f1 >= 0.9")
"""


def test_texts_are_left_out_on_request(project: Project) -> None:
    questions = [f"{SENTINEL} {kind}" for kind in ("plain", "break", "skip", "break", "contract", "plain")]
    rows = cases(
        *questions,
        gold=f"{SENTINEL} gold",
        passages=[{"id": "d1", "text": f"{SENTINEL} passage", "title": SENTINEL, "role": "positive"}],
        history=[{"question": f"{SENTINEL} before", "answer": SENTINEL}],
    )
    project.says(rows, test=SECRETS, conftest=SECRET + _observer())
    with_texts = project.run()
    assert SENTINEL in json.dumps(with_texts.results)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false\n")
    run = project.run()
    assert run.status == 1
    *statuses, last = (o["status"] for o in run.results["outcomes"])
    assert statuses == [o["status"] for o in with_texts.results["outcomes"]][:-1]
    assert last in ("scored", "skipped")  # depends on the process in which the system broke its contract
    paths = [path for path in (project.path / ".rageval").rglob("*") if path.is_file()]
    names = {".gitignore", "run.json", "outcomes.jsonl", "ended.jsonl", "results.json"}
    assert {path.name for path in paths} == names
    for path in [*paths, project.path / "results.json", project.path / "observed.txt"]:
        assert SENTINEL not in path.read_text(encoding="utf-8")
    assert run.outcomes["q1"]["scores"]["token_f1"]["value"] is not None


def _observer() -> str:
    return """
    def pytest_rageval_outcome(outcome):
        with open("observed.txt", "a" if "q1]" not in outcome["nodeid"] else "w") as stream:
            print(outcome, file=stream)
"""
