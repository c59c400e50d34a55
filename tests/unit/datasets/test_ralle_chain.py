"""Import RaLLe's experiment files as chain files."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets.imports import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.ralle_chain import import_rows
from pytest_rageval.datasets.imports.ralle_templates import chain_template
from pytest_rageval.errors import DataError, SettingError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SEARCH = {"prompt_template": "{question}", "function": "Retriever", "retriever_name": "mine", "npassage": 3}
REPLY = {"prompt_template": "{response[0]}\n\nSo, {question}", "function": "LLM", "llm_name": "llama"}
FIRST_TITLE = "wiki_id_title[0].split(', ')[0]"


def experiment(path: Path, *chain: dict[str, Any], **config: Any) -> Path:
    config = {"len_chain": len(chain), "chain": list(chain), **config}
    path.write_text(json.dumps({"chain_config": config}), encoding="utf-8")
    return path


def import_file(path: Path) -> ImportResult:
    result = ImportResult()
    import_rows(ImportRequest((path,)), result)
    return result


def test_an_experiment_becomes_the_actions_of_a_chain(tmp_path: Path) -> None:
    title = {"prompt_template": FIRST_TITLE, "function": "Identity", "f-strings_or_eval": "eval"}
    dataset = {"dataset_name": "NQ", "num_evaluate": 10, "batch_size": 20, "resume": 3}
    result = import_file(experiment(tmp_path / "nq.json", SEARCH, REPLY, title, dataset=dataset))
    assert tomllib.loads(result.chain) == {
        "action": [
            {"name": "a0", "do": "retrieve", "query": "{question}", "k": 3, "join": "; "},
            {"name": "a1", "do": "generate", "prompt": "{a0}\n\nSo, {question}"},
            {"name": "a2", "do": "python", "expression": FIRST_TITLE},
        ]
    }
    assert result.rows == 3
    assert result.notes == [
        "left out: chain_config.dataset.dataset_name 'NQ'; the dataset of a test is in its marker",
        "left out: chain_config.dataset.num_evaluate 10; --rag-limit N runs the first N cases",
        "left out: chain_config.dataset.batch_size 20; rag_concurrency bounds the answers in flight",
        "left out: chain_config.dataset.resume 3; --rag-resume goes on with an interrupted run",
        "left out: chain_config.chain[0].retriever_name 'mine'; the chain uses rag_retriever",
        "left out: chain_config.chain[1].llm_name 'llama'; the chain asks rag_model",
    ]
    assert not result.lost


def test_expressions_make_queries_and_prompts(tmp_path: Path) -> None:
    code = "'What is \"' + question + '\"?\\n'"
    search, reply = ({**action, "prompt_template": code, "f-strings_or_eval": "eval"} for action in (SEARCH, REPLY))
    first, second = tomllib.loads(import_file(experiment(tmp_path / "a.json", search, reply)).chain)["action"]
    assert (first["query_python"], second["prompt_python"]) == (code, code)


def test_an_unknown_key_is_listed_as_skipped(tmp_path: Path) -> None:
    result = import_file(experiment(tmp_path / "a.json", {**REPLY, "prompt_template": "{question}", "top_p": 1}))
    assert (result.lost, dict(result.fields)) == (True, {"chain_config.chain[0].top_p": 1})


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{question}?", "{question}?"),
        ("{response[0]} {prompt[1]} {wiki_id_title[0]}", "{a0} {a1.prompt} {a0.titles_and_ids}"),
        (
            'a prompt or response in {{"json": {{"question": 1}}}}',
            'a prompt or response in {{"json": {{"question": 1}}}}',
        ),
        ("", ""),
    ],
)
def test_a_template_is_rewritten_with_the_variables_of_a_chain(template: str, expected: str) -> None:
    assert chain_template(template, 2) == expected


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ('{"answer": 1}', "formats a variable"),
        ("{answer}", "'{answer}' is not a variable"),
        ("{respons[0]}", "did you mean 'response[0]'?"),
        ("{response}", "did you mean 'response[0]'?"),
        ("{response[0].title}", "is not a variable"),
        ("{question!r:>10}", "'{question!r:>10}' formats a variable; leave out what follows its name"),
        ("{response[2]}", "has not run yet; the actions before it are 0 to 1"),
        ("{response[-1]}", "is not a variable"),
        ("{response[" + "9" * 5000 + "]}", "is not a variable"),
        ("an open {", "write {{ and }} for braces"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(template: str, problem: str) -> None:
    with pytest.raises(SettingError, match=re.escape(problem)):
        chain_template(template, 2)


@pytest.mark.parametrize(
    ("chain", "config", "problem"),
    [
        ([SEARCH, REPLY, REPLY], {"len_chain": 2}, "a.json: chain_config.len_chain is 2, and chain has 3 actions"),
        ([], {}, "chain_config.chain: found an array of 0, wanted a list of actions"),
        ([SEARCH, {**REPLY, "function": "LLm"}], {}, "chain[1].function: unknown function 'LLm'; did you mean 'LLM'?"),
        ([{**SEARCH, "prompt_template": ""}], {}, "chain[0].prompt_template is empty, which ends RaLLe's chain"),
        ([{**SEARCH, "npassage": 0}], {}, "chain[0].npassage: found"),
        ([{**SEARCH, "f-strings_or_eval": "exec"}], {}, "f-strings_or_eval: found"),
        ([REPLY], {}, "chain[0].prompt_template: '{response[0]}' is the output of an action that has not run yet"),
    ],
)
def test_an_invalid_experiment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chain: list[Any], config: dict[str, Any], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=re.escape(problem)):
        import_file(experiment(Path("a.json"), *chain, **config))


def test_a_file_that_is_not_an_experiment_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"chain": []}', encoding="utf-8")
    with pytest.raises(DataError, match="the field chain_config is missing"):
        import_file(path)
    with pytest.raises(SettingError, match="one file at a time"):
        import_rows(ImportRequest((path, path)), ImportResult())
