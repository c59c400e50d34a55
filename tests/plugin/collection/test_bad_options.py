"""Invalid options are refused with one sentence and exit status 4 before anything runs."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project
from support.projects.refused_projects import refused

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", limit=2)
    def test_it(rag):
        ...
"""

ROWS = [{"id": "q1", "question": "Who?", "answers": ["Ann"], "topic": "Funds"}]

OPTIONS = {
    # systems
    "no such name": (
        ["--rag-system", "extracive"],
        "unknown system 'extracive' (one of your own is module:attribute); did you mean",
    ),
    "a file": (
        ["--rag-system", "app/desk.py"],
        "unknown system 'app/desk.py' (one of your own is module:attribute); known: ",
    ),
    "no form": (["--rag-system", "a:b:c"], "rag_system 'a:b:c': a system is a registered name or module:attribute"),
    "no module": (["--rag-system", "nosuch:answer"], "rag_system 'nosuch:answer': no module 'nosuch'"),
    "no attribute": (["--rag-system", "desk:anser"], "module 'desk' has no 'anser'; did you mean 'answer'?"),
    "not to be called": (["--rag-system", "desk:NUMBER"], "rag_system 'desk:NUMBER': int 3 cannot be called"),
    "broken module": (["--rag-system", "broken:answer"], "importing 'broken' failed with RuntimeError: no key"),
    "exiting module": (["--rag-system", "exits:answer"], "importing 'exits' failed with SystemExit: 3"),
    "class with arguments": (["--rag-system", "desk:Needs"], "the class cannot be instantiated without arguments"),
    "the second one": (["--rag-system", "desk:answer", "--rag-system", "desk:x"], "module 'desk' has no 'x'"),
    "twice": (["--rag-system", "desk:answer"] * 2, "--rag-system names 'desk:answer' twice; name each system once"),
    "and answers": (
        ["--rag-system", "desk:answer", "--rag-answers", "a.jsonl"],
        "--rag-answers and --rag-system exclude each other",
    ),
    # recorded answers
    "no answers": (["--rag-answers", "none.jsonl"], "--rag-answers: there is no file none.jsonl; correct the path"),
    "answers broken": (["--rag-answers", "broken.jsonl"], "broken.jsonl:2: invalid JSON at column 8"),
    "answers empty": (["--rag-answers", "empty.jsonl"], "empty.jsonl:1: the file holds no record"),
    "answers folder": (["--rag-answers", "."], ": is a directory; name a file in it"),
    "answer null": (["--rag-answers", "null.jsonl"], "null.jsonl:1: answer: found null, wanted a string"),
    "answer twice": (
        ["--rag-answers", "twice.jsonl"],
        "twice.jsonl:2: an answer of the same system to the case 'q1' is already in line 1",
    ),
    # selection
    "limit and sample": (["--rag-limit", "1", "--rag-sample", "1"], "--rag-limit and --rag-sample exclude each other"),
    # gates
    "gate": (["--rag-gate", "accuracy"], "--rag-gate: gate 'accuracy' has no valid operator and bound"),
    "gate metric": (
        ["--rag-gate", "acuracy >= 1"],
        "--rag-gate: gate 'acuracy >= 1': unknown metric 'acuracy'; did you mean",
    ),
    "gate facet": (["--rag-gate", "n[topik=x] > 1"], "unknown facet 'topik'; did you mean 'topic'?"),
    "gate on nothing": (
        ["--rag-gate", "n[topic=Bonds] > 1"],
        "gate 'n[topic=Bonds] > 1' matches no case of this session",
    ),
    "gate baseline": (
        ["--rag-gate", "accuracy >= baseline"],
        "needs a baseline, and there is none; name it with --rag-baseline or as rag_baseline in the ini",
    ),
    # matrix
    "matrix": (["--rag-matrix", "acuracy"], "--rag-matrix: unknown metric 'acuracy'; did you mean 'accuracy'?"),
    "rows": (["--rag-rows", "topik"], "--rag-rows: unknown facet 'topik'; did you mean 'topic'?"),
    "columns": (["--rag-cols", "taks"], "--rag-cols: unknown facet 'taks'; did you mean 'task'?"),
    # ini
    "ini system": (["-o", "rag_system=desk:anser"], "rag_system 'desk:anser': module 'desk' has no 'anser'"),
    "ini name": (
        ["-o", "rag_system=extracive"],
        "unknown system 'extracive' (one of your own is module:attribute); did you mean",
    ),
    "ini gate": (["-o", "rag_gates=accuracy >> 1"], "rag_gates: gate 'accuracy >> 1' has no valid operator and bound"),
    "ini gate metric": (["-o", "rag_gates=acuracy > 1"], "rag_gates: gate 'acuracy > 1': unknown metric 'acuracy'"),
    "top k word": (["-o", "rag_top_k=x"], "rag_top_k is 'x'; write a whole number of 1 or more"),
    "trace chars": (["-o", "rag_trace_chars=0"], "rag_trace_chars is '0'; write a whole number of 1 or more"),
    "top k zero": (["-o", "rag_top_k=0"], "rag_top_k is '0'; write a whole number of 1 or more"),
    "no words": (["-o", "rag_user_dict=gone.txt"], "rag_user_dict"),
    "texts": (
        ["-o", "rag_report_texts=perhaps"],
        "rag_report_texts in the ini cannot be used: invalid truth value 'perhaps'",
    ),
    "markers": (["-o", "rag_rejection_markers=no answer"], "rag_rejection_markers has the line 'no answer'; write"),
    "escapes": (["--rag-rows", "\x1b[31mred"], "--rag-rows: unknown facet '\\x1b[31mred'; "),
}

WORKERS = ("no module", "answers broken", "gate", "gate on nothing", "no words")


@pytest.fixture
def bad_files(project: Project) -> Project:
    project.data(ROWS)
    project.file("test_it.py", TEST)
    project.file("desk.py", """
        NUMBER = 3
        def answer(query): return "Ann"
        class Needs:
            def __init__(self, model): ...
            def __call__(self, query): ...
    """)  # fmt: skip
    project.file("broken.py", "raise RuntimeError('no key\\nand more')\n")
    project.file("exits.py", "import sys; sys.exit(3)\n")
    project.file("broken.jsonl", '{"id": "q1", "answer": "x"}\n{"id": \n')
    project.file("empty.jsonl", "")
    project.file("null.jsonl", '{"id": "q1", "answer": null}\n')
    project.file("twice.jsonl", '{"id": "q1", "answer": "x"}\n' * 2)
    return project


@pytest.mark.parametrize("name", list(OPTIONS))
def test_a_bad_option_is_refused(bad_files: Project, name: str) -> None:
    args, sentence = OPTIONS[name]
    assert sentence in refused(bad_files, *args)


@pytest.mark.parametrize("name", WORKERS)
def test_workers_refuse_a_bad_option_in_the_same_words(bad_files: Project, name: str) -> None:
    args, sentence = OPTIONS[name]
    assert sentence in refused(bad_files, "-n2", *args)


@pytest.mark.parametrize(
    "args", [("--rag-limit", "0"), ("--rag-sample", "-1"), ("--rag-limit", "x"), ("--rag-seed", "x")]
)
def test_an_invalid_number_is_refused_by_the_command_line(bad_files: Project, args: tuple[str, str]) -> None:
    run = bad_files.run(f"{args[0]}={args[1]}")
    err = run.result.stderr.str()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert f"error: argument {args[0]}: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", sorted(name for name in OPTIONS if "gate" not in name))
def test_bad_options_are_ignored_if_no_rag_case_is_collected(bad_files: Project, name: str) -> None:
    bad_files.file("test_plain.py", "def test_plain(): ...\n")
    assert bad_files.run("test_plain.py", *OPTIONS[name][0]).status == 0


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_gate_is_refused_if_no_rag_case_is_collected(bad_files: Project, args: tuple[str, ...]) -> None:
    bad_files.file("test_plain.py", "def test_plain(): ...\n")
    assert refused(bad_files, "test_plain.py", "--rag-gate", "accuracy >= 0.9", *args) == (
        "--rag-gate: no RAG case was collected that a gate could judge; correct the path"
    )


def test_a_bad_ini_system_is_ignored_if_a_fixture_answers(bad_files: Project) -> None:
    bad_files.file("conftest.py", """
        import pytest

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Ann"
    """)  # fmt: skip
    run = bad_files.run("-o", "rag_system=nosuch:answer")
    assert run.status == 0
    assert run.outcomes["q1"]["answer"]["text"] == "Ann"


def test_a_bad_system_is_ignored_if_answers_are_recorded(bad_files: Project) -> None:
    bad_files.file("recorded.jsonl", '{"id": "q1", "answer": "Ann"}\n')
    assert bad_files.run("-o", "rag_system=nosuch:answer", "--rag-answers", "recorded.jsonl").status == 0
