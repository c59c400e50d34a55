"""An invalid data file is refused with one sentence and exit status 4 before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.projects.rag_project import Project
from support.projects.refused_projects import refused

TEST = """
    from pytest_rageval import rag_case

    def test_other():
        ...

    @rag_case("{dataset}"{arguments})
    def test_it(rag):
        ...
"""

GOOD = '{"id": "q1", "question": "Who?", "answers": ["Ann"]}\n'
RGB = '{"id": 1, "query": "Who?", "answer": ["Ann"], "positive": ["Ann did."], "negative": ["Bob."]}\n'
FACT = ', ability="counterfactual_robustness"'

TEXTS = {
    "empty": ("", "cases.jsonl:1: the file holds no record; it needs at least one JSON object"),
    "blank lines": ("\n \n\n", "cases.jsonl:1: the file holds no record"),
    "empty array": ("[]", "cases.jsonl:1: the file holds no record"),
    "truncated": (GOOD + '{"id": "q2", "quest', "cases.jsonl:2: invalid JSON at column 14 (Unterminated string"),
    "truncated array": ("[\n" + GOOD + ",", "cases.jsonl:3: invalid JSON"),
    "two on a line": (GOOD.strip() + GOOD, "cases.jsonl:1: found more text after the record"),
    "array for a record": (GOOD + "[1, 2]\n", "cases.jsonl:2: found an array of 2 for a record, wanted a JSON object"),
    "string for a record": ('"q1"\n', "cases.jsonl:1: found 'q1' for a record, wanted a JSON object"),
    "null for a record": ("null\n", "cases.jsonl:1: found null for a record, wanted a JSON object"),
    "number for a question": (
        '{"id": 1, "question": 7, "answers": ["a"]}',
        "cases.jsonl:1: question: found 7, wanted a",
    ),
    "object for an id": ('{"id": {}, "question": "Q", "answers": ["a"]}', "cases.jsonl:1: id: found an object, wanted"),
    "blank question": ('{"id": 1, "question": " ", "answers": ["a"]}', "cases.jsonl:1: question: found ' ', wanted a"),
    "string for passages": (
        '{"id": 1, "question": "Q", "answers": ["a"], "passages": "text"}',
        "passages: found 'text', wanted a list of",
    ),
    "number for answers": (
        '{"id": 1, "question": "Q", "answers": 3}',
        "cases.jsonl:1: answers: found 3, wanted a string",
    ),
    "text for a flag": (
        '{"id": 1, "question": "Q", "answers": ["a"], "answerable": "no"}',
        "answerable: found 'no', wanted true or false",
    ),
    "missing question": (
        '{"id": 1, "answers": ["a"]}',
        "cases.jsonl:1: the field question is missing, wanted a string",
    ),
    "misspelt question": (
        '{"id": 1, "queston": "Q", "answers": ["a"]}',
        "cases.jsonl:1: the field question is missing, wanted a string that is not empty; the key 'queston' is similar",
    ),
    "NUL in a string": (
        '{"id": 1, "question": "Q\\u0000", "answers": ["a"]}',
        "cases.jsonl:1: question: found a NUL character (\\u0000), wanted text",
    ),
    "missing id": ('{"question": "Q", "answers": ["a"]}', "cases.jsonl:1: the field id is missing"),
    "missing gold": (
        '{"id": 1, "question": "Q"}',
        "cases.jsonl:1: found neither answers nor slots, wanted one of them",
    ),
    "misspelt gold": (
        '{"id": 1, "question": "Q", "answer": "a"}',
        "wanted one of them, or \"answerable\": false; the key 'answer' is",
    ),
    "misspelt list": (
        '{"id": 1, "question": "Q", "answer": ["a"]}',
        "answer: found an array of 1, wanted a string, number or",
    ),
    "both gold forms": (
        '{"id": 1, "question": "Q", "answers": ["a"], "slots": [["a"]]}',
        "found both answers and slots, wanted one",
    ),
    "null alias": (
        '{"id": 1, "question": "Q", "answers": ["a", null]}',
        "cases.jsonl:1: answers[1]: found null, wanted a",
    ),
    "null alias in a slot": (
        '{"id": 1, "question": "Q", "slots": [["a"], [null]]}',
        "cases.jsonl:1: slots[1][0]: found null, wanted a",
    ),
    "no alias": ('{"id": 1, "question": "Q", "answers": []}', "cases.jsonl:1: answers: found an array of 0, wanted"),
    "duplicate id": (GOOD + "\n" + GOOD, "cases.jsonl:3: the id 'q1' is already in line 1, wanted each once"),
    "key twice": ('{"id": 1, "id": 2, "question": "Q"}', "cases.jsonl:1: the key 'id' occurs twice in one object"),
    "NaN": ('{"id": 1, "question": "Q", "answers": ["a"], "year": NaN}', "cases.jsonl:1: found NaN, which is not JSON"),
    "nested facet": (
        '{"id": 1, "question": "Q", "answers": ["a"], "passage": []}',
        "passage: found an array of 0, wanted a string",
    ),
    "the plugin's facet": (
        '{"id": 1, "question": "Q", "answers": ["a"], "noise_realised": 1}',
        "the key 'noise_realised' is reserved by the plugin",
    ),
    "unknown role": (
        '{"id": 1, "question": "Q", "answers": ["a"], "passages": [{"id": "d", "text": "t", "role": "good"}]}',
        "cases.jsonl:1: passages[0].role: found 'good', wanted one of positive, negative, counterfactual",
    ),
    "unknown passage key": (
        '{"id": 1, "question": "Q", "answers": ["a"], "passages": [{"id": "d", "txt": "t"}]}',
        "cases.jsonl:1: unknown key 'txt' in passages[0]; did you mean 'text'?",
    ),
    "lone surrogate": (
        '{"id": 1, "question": "\\\\ud83d", "answers": ["a"]}'.replace("\\\\", "\\"),
        "half of a surrogate",
    ),
    "escape in a key": ('{"id": 1, "question": "Q", "answers": ["a"], "\\u001b[31m": []}', "\\x1b[31m: found an array"),
}


def prepare(project: Project, dataset: str = "jsonl:cases.jsonl", arguments: str = "") -> None:
    project.file("test_it.py", TEST.replace("{dataset}", dataset).replace("{arguments}", arguments))


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_bad_record_is_refused_with_its_line(project: Project, name: str) -> None:
    text, sentence = TEXTS[name]
    prepare(project)
    (project.path / "cases.jsonl").write_text(text, encoding="utf-8")
    message = refused(project)
    assert message.startswith("cases.jsonl:")
    assert sentence in message


@pytest.mark.parametrize("name", ["duplicate id"])
def test_workers_refuse_a_bad_record_in_the_same_words(project: Project, name: str) -> None:
    text, sentence = TEXTS[name]
    prepare(project)
    (project.path / "cases.jsonl").write_text(text, encoding="utf-8")
    assert sentence in refused(project, "-n2")


DEEP = b'{"id": 1, "question": "Q", "answers": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"

FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nested 100,000 deep": (
        lambda path: path.write_bytes(GOOD.encode() + DEEP),
        "cases.jsonl:2: the JSON is nested too deep for a record, wanted an object of plain fields",
    ),
    "NUL bytes": (
        lambda path: path.write_bytes(GOOD.encode() + b'{"id": "q2\0"}\n'),
        "cases.jsonl:2: found a NUL byte, wanted UTF-8 text; is the file binary or UTF-16?",
    ),
    "UTF-16": (
        lambda path: path.write_text(GOOD, encoding="utf-16"),
        "cases.jsonl:1: byte 0xff at offset 0 is not UTF-8; save the file as UTF-8",
    ),
    "UTF-16 without a mark": (
        lambda path: path.write_text(GOOD, encoding="utf-16-le"),
        "cases.jsonl:1: found a NUL byte",
    ),
    "GBK": (
        lambda path: path.write_bytes(GOOD.encode() + GOOD.replace("Who", "中国谁").encode("gbk")),
        "cases.jsonl:2: byte 0xd6 at offset 79 is not UTF-8; save the file as UTF-8",
    ),
    "a directory": (Path.mkdir, "cases.jsonl: is a directory; name a file in it"),
    "missing": (lambda path: None, "test_it.py:6: dataset 'cases.jsonl' is missing: no "),
}


@pytest.mark.parametrize("name", list(FILES))
def test_a_bad_file_is_refused(project: Project, name: str) -> None:
    make, sentence = FILES[name]
    prepare(project)
    make(project.path / "cases.jsonl")
    assert refused(project).startswith(sentence)


@pytest.mark.parametrize("name", ["nested 100,000 deep"])
def test_workers_refuse_a_bad_file_in_the_same_words(project: Project, name: str) -> None:
    make, sentence = FILES[name]
    prepare(project)
    make(project.path / "cases.jsonl")
    assert refused(project, "-n2").startswith(sentence)


RECORDS = {
    "no false answer": (RGB, FACT, "rgb.json:1: "),
    "gold of another form": (RGB.replace('["Ann"]', '{"a": 1}', 1), "", "rgb.json:1: answer: found an object, wanted"),
    "misspelt": (RGB.replace("positive", "positiv"), "", "rgb.json:1: "),
}


@pytest.mark.parametrize("name", list(RECORDS))
def test_an_rgb_record_that_lacks_what_its_ability_needs_is_refused(project: Project, name: str) -> None:
    text, arguments, sentence = RECORDS[name]
    prepare(project, "rgb:rgb.json", arguments or ', ability="noise_robustness"')
    (project.path / "rgb.json").write_text(text, encoding="utf-8")
    assert refused(project).startswith(sentence)


def test_a_record_that_lacks_passages_for_its_ability_is_refused(project: Project) -> None:
    prepare(project, arguments=', ability="noise_robustness"')
    project.file("cases.jsonl", GOOD)
    assert refused(project).startswith("cases.jsonl:1: ")


def test_terminal_escapes_in_a_path_are_escaped(project: Project) -> None:
    prepare(project, "jsonl:\\x1b[31mcases.jsonl")
    assert "\\x1b[31mcases.jsonl" in refused(project)


def test_a_path_too_long_for_the_file_system_is_refused(project: Project) -> None:
    prepare(project, "jsonl:" + "x" * 5000)
    assert refused(project).startswith("test_it.py:6: dataset")
