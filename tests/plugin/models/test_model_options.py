"""Invalid model options are refused with one sentence before anything runs."""

from __future__ import annotations

import pytest
from support.projects.model_projects import asks, rows
from support.projects.rag_project import Project

OPTIONS = {
    "a line of params": (["-o", "rag_model_params=seed"], "rag_model_params has the line 'seed'; write 'name = value'"),
    "a line of the judge's": (["-o", "rag_judge_params=seed"], "rag_judge_params has the line 'seed'; write"),
    "a line of the embedder's": (
        ["-o", "rag_embedder_params=dimensions"],
        "rag_embedder_params has the line 'dimensions'; write 'name = value'",
    ),
    "a param twice": (
        ["-o", "rag_model_params=seed = 1\nseed = 2"],
        "rag_model_params gives 'seed' twice; give it once",
    ),
    "attempts": (["-o", "rag_model_params=attempts = 0"], "rag_model_params has attempts = 0; write a whole number"),
    "a price": (
        ["-o", "rag_model_params=input_cost_per_token = cheap"],
        "rag_model_params has input_cost_per_token = 'cheap'; write a number of 0 or more",
    ),
    "record mode": (
        ["-o", "rag_record_mode=onec"],
        "rag_record_mode: unknown record mode 'onec'; did you mean 'once'?",
    ),
    "concurrency": (["-o", "rag_concurrency=-2"], "rag_concurrency is '-2'; write a whole number of 1 or more"),
    "cassettes": (["-o", "rag_cassettes=test_it.py"], "rag_cassettes names the file "),
    "prompts": (["-o", "rag_prompts=mine.toml"], "rag_prompts has the line 'mine.toml'; write 'language: text'"),
}


@pytest.mark.parametrize("name", list(OPTIONS))
def test_a_bad_setting_is_refused(project: Project, name: str) -> None:
    args, sentence = OPTIONS[name]
    asks(project, "http://127.0.0.1:9/v1", rows("a"))
    run = project.run(*args)
    (message,) = run.result.stderr.str().strip().splitlines()
    assert (run.status, run.results) == (pytest.ExitCode.USAGE_ERROR, None), run.text
    assert message.startswith(f"ERROR: {sentence}")


@pytest.mark.parametrize("extra", [("-n2", "--rag-budget-usd", "1"), ("--rag-dry-run",)], ids=["n2", "dry-run"])
def test_workers_and_a_dry_run_refuse_a_bad_setting_in_the_same_words(project: Project, extra: tuple[str, ...]) -> None:
    args, sentence = OPTIONS["a line of params"]
    asks(project, "http://127.0.0.1:9/v1", rows("a"))
    run = project.run(*extra, *args)
    (message,) = run.result.stderr.str().strip().splitlines()
    assert run.status == pytest.ExitCode.USAGE_ERROR, run.text
    assert message.startswith(f"ERROR: {sentence}")


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ("--rag-record-mode=onec", "argument --rag-record-mode: invalid choice: 'onec'"),
        ("--rag-concurrency=0", "argument --rag-concurrency: '0' is not a whole number of 1 or more"),
        ("--rag-repeat=x", "argument --rag-repeat: 'x' is not a whole number of 1 or more"),
    ],
)
def test_a_bad_option_is_refused_by_the_command_line(project: Project, arg: str, message: str) -> None:
    run = project.run(arg)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert message in run.result.stderr.str()
    assert "Traceback" not in run.result.stderr.str()


def test_an_invalid_prompt_is_one_error(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a", "b"))
    project.file("mine.toml", 'user = "{question}"')
    run = project.run("-o", "rag_prompts=en: mine.toml")
    assert (run.status, run.statuses) == (1, {"a": "error", "b": "skipped"})
    assert "mine.toml: user: the placeholder {passages} is missing; put it where the documents should be" in run.text
    assert "Traceback" not in run.text
