"""Small valid files of every format that users write, and the commands that read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

__all__ = ["CASES", "FIXTURES", "INPUTS", "MODEL", "PYTEST", "SYSTEM", "Files", "Target", "input_targets", "suite"]

FIXTURES = Path(__file__).parents[2] / "fixtures"
QUIET = (
    "-q -p no:cacheprovider -p no:randomly -p no:hypothesispytest -p no:langsmith_plugin -p no:anyio -p no:faulthandler"
)
PYTEST = f"pytest {QUIET}"
INPUTS = "malformed inputs"

Files = dict[str, bytes]


@dataclass(frozen=True)
class Target:
    """A project, the file in it to break, and the commands that read it.

    Attributes:
        share: which share of the inputs it belongs to.
        name: of the format.
        files: path -> content, of the whole valid project.
        broken: the path of the file that is broken.
        commands: the commands to run; each begins with ``pytest`` or ``rageval``.
    """

    share: str
    name: str
    files: Files
    broken: str
    commands: tuple[str, ...] = field(default=(PYTEST,))


CASES = "\n".join(
    json.dumps(row)
    for row in (
        {"id": "q1", "question": "When does the museum open?", "answers": ["9:00", "nine"], "topic": "Hours", "n": 1,
         "passages": [{"id": "d1", "text": "The museum opens at 9:00.", "role": "positive"},
                      {"id": "d2", "text": "The shop opens at 10:00.", "role": "negative"}]},
        {"id": "q2", "question": "What does a ticket cost?", "slots": [["4 euros"], ["5 euros", "5"]],
         "topic": "Prices", "language": "en", "fake_answers": ["9 euros"], "answerable": True, "dialogue": "a",
         "round": 1, "passages": [{"id": "d3", "text": "Children pay 4 euros.", "title": "Fares", "role": "positive"}]},
        {"id": "q3", "question": "And the shop?", "answers": ["10:00"], "dialogue": "a", "round": 2, "qrels": {"d2": 2},
         "history": [{"question": "When does the museum open?", "answer": "9:00"}],
         "evidence": [{"page": "d2", "quote": "The shop opens at 10:00."}, {"page": "d1", "span": [0, 10], "grade": 2}],
         "provenance": [["d2"]], "passages": [{"id": "d2", "text": "The shop opens at 10:00."}]},
    )
).encode() + b"\n"  # fmt: skip

PLAIN = b'{"id": "q1", "question": "When does the museum open?", "answers": ["9:00"]}\n'
SYSTEM = b"""
import pytest
from pytest_rageval import recorded
from pytest_rageval.testing import ScriptedLLM

@recorded(name="desk")
def answer(query):
    return "9:00" if "open" in query.question else "4 euros"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""
MODEL = b"""
import pytest
from pytest_rageval.testing import ScriptedLLM

@pytest.fixture(scope="session")
def rag_llm():
    return ScriptedLLM({"open": "At 9:00.", "": "4 euros"})
"""


def suite(dataset: str = "jsonl:cases.jsonl", **more: str) -> bytes:
    """Return a suite of one testbed; values are TOML."""
    settings = {"metrics": '["accuracy", "token_f1"]', "gates": '["accuracy >= 0.1", "error_rate <= 0"]', **more}
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    return f'[[testbed]]\nname = "museum"\ndataset = "{dataset}"\n{lines}'.encode()


def input_targets() -> Iterator[Target]:
    """Yield a target for each format."""
    yield from _datasets()
    yield from _corpora()
    yield from _others()
    yield from _imports()


def _fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def _datasets() -> Iterator[Target]:
    sheet = b"id,system,metric,question,gold,passages,answer,label\n"
    sheet += b"q1,desk,rejection_rate_judged,When?,9:00,,At 9:00.,answered\n"
    tree = "data/Hours/Museum/extractive_qa.jsonl"
    omnieval = _fixture("datasets/omnieval/Banking/Retail/long_form_qa.jsonl")
    several = sorted((FIXTURES / "datasets/omnieval").rglob("*.jsonl"))
    sources = [("jsonl", "cases.jsonl", CASES), ("kilt", "k-dev-kilt.jsonl", _fixture("datasets/nq-dev-kilt.jsonl"))]
    sources += [("rgb", path.name, path.read_bytes()) for path in sorted((FIXTURES / "datasets/rgb").glob("*.json"))]
    sources += [("omnieval", tree, data) for data in (omnieval, *(path.read_bytes() for path in several))]
    for format_, path, data in sources:
        dataset = f"{format_}:{path}"
        files = {path: data, "s.rag.toml": suite(dataset)}
        yield Target(INPUTS, f"dataset {format_}", files, path, (PYTEST, f"rageval lint {dataset}"))
    labelled_suite = suite("labelled:sheet.csv", metrics='["accuracy"]')
    yield Target(INPUTS, "dataset labelled", {"sheet.csv": sheet, "s.rag.toml": labelled_suite}, "sheet.csv")
    beir = {
        f"b/{name}": _fixture(f"datasets/beir/{name}") for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    }
    ini = b"[pytest]\nrag_corpus = beir:b\n"
    files = {**beir, "pytest.ini": ini, "s.rag.toml": suite("beir:b", metrics='["nDCG@10", "token_f1"]')}
    for path in beir:
        yield Target(INPUTS, "dataset beir", files, path, (PYTEST, "rageval lint beir:b --corpus beir:b"))
    yield Target(INPUTS, "suite", {"cases.jsonl": CASES, "s.rag.toml": _full_suite()}, "s.rag.toml")
    yield Target(INPUTS, "suite", {"cases.jsonl": CASES, "s.rag.toml": _full_suite()}, "s.rag.toml")


def _full_suite() -> bytes:
    first = suite(passages="[1, 2]", noise_rate="0.5", ability='"noise_robustness"', facets='{ speed = "fast", n = 3 }')
    return first + suite(limit="2", seed="7", where='{ topic = "Hours" }', cluster='"topic"').replace(
        b"museum", b"two", 1
    )


def _corpora() -> Iterator[Target]:
    page = b"<html><head><title>Visit</title></head><body><h1>Hours</h1><p>The museum opens at 9:00.</p></body></html>"
    corpora = {
        "jsonl:c.jsonl": b'{"id": "d1", "text": "The museum opens at 9:00.", "title": "T", "page": "p", "n": 1}\n'
        b'{"id": "d2", "text": "The shop opens at 10:00."}\n',
        "tsv:c.tsv": b'id\ttext\ttitle\nd1\tThe museum opens at 9:00.\tVisit\nd2\t"The shop"\tShop\n',
        "lines:c.txt": b"The museum opens at 9:00.\nThe shop opens at 10:00.\n",
        "text:c.txt": b"The museum opens at 9:00. The shop opens at 10:00.\n",
        "markdown:c.md": b"# Visit\nThe museum opens at 9:00.\n\n## Shop\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "html:c.html": page,
        "rgb:en.json": _fixture("datasets/rgb/en.json"),
    }
    for at, (corpus, data) in enumerate(corpora.items()):
        path = corpus.partition(":")[2]
        chunking = ("none", "tokens 8 2", "sentences 1 0", "sections" if "markdown" in corpus else "none")[at % 4]
        ini = f"[pytest]\nrag_corpus = {corpus}\nrag_chunking = {chunking}\n".encode()
        files = {path: data, "pytest.ini": ini, "cases.jsonl": PLAIN, "s.rag.toml": suite()}
        commands = (PYTEST, f"rageval lint jsonl:cases.jsonl --corpus {corpus}")
        yield Target(INPUTS, f"corpus {corpus.partition(':')[0]}", files, path, commands)


def _others() -> Iterator[Target]:
    answers = (
        b'{"id": "q1", "answer": "At 9:00.", "ranking": [{"id": "d1", "score": 2.5}], "usage": {"cost_usd": 0.1}}\n'
    )
    base = {"cases.jsonl": CASES, "s.rag.toml": suite(metrics='["accuracy", "nDCG@10"]')}
    yield Target(INPUTS, "answers", {**base, "a.jsonl": answers * 1 + answers.replace(b"q1", b"q2")}, "a.jsonl",
                 (f"{PYTEST} --rag-answers a.jsonl",))  # fmt: skip
    ranked = {"cases.jsonl": PLAIN, "s.rag.toml": suite(qrels='"c.qrels"', metrics='["nDCG@10"]')}
    corpus = b'{"id": "d1", "text": "The museum opens at 9:00."}\n{"id": "d2", "text": "No."}\n'
    runs = {
        "r.trec": b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n",
        "r.jsonl": b'{"id": "q1", "ranking": [{"id": "d1", "score": 2}]}\n',
    }
    for path, data in runs.items():
        ini = f"[pytest]\nrag_corpus = jsonl:c.jsonl\nrag_retriever = run:{path}\n".encode()
        files = {**ranked, "c.jsonl": corpus, "c.qrels": b"q1 0 d1 1\nq1 0 d2 0\n", "pytest.ini": ini, path: data}
        yield Target(INPUTS, "run", files, path)
    yield Target(INPUTS, "qrels", files, "c.qrels", (PYTEST, "rageval lint jsonl:cases.jsonl --corpus jsonl:c.jsonl"))
    yield Target(INPUTS, "ini", files, "pytest.ini")
    prompts = (Path(__file__).parents[2] / "pytest_rageval/systems/prompts/en.toml").read_bytes()
    ini = b"[pytest]\nrag_prompts = en: p.toml\nrag_system = llm\n"
    files = {"cases.jsonl": CASES, "s.rag.toml": suite(), "pytest.ini": ini, "p.toml": prompts, "conftest.py": MODEL}
    yield Target(INPUTS, "prompts", files, "p.toml")


def _imports() -> Iterator[Target]:
    folder = FIXTURES / "imports"
    file_names = {
        "table": ("questions.csv", "ragas.csv"),
        "ragas": ("ragas.csv", "ragas.jsonl"),
        "deepeval": ("deepeval.csv", "deepeval.json"),
    }
    for format_, names in file_names.items():
        for name in names:
            yield Target(
                INPUTS,
                f"import {format_}",
                {name: _fixture(f"imports/{name}")},
                name,
                (f"rageval import {format_} {name}",),
            )
    for path in sorted(folder.glob("omnieval/*.pred.jsonl")):
        files = {f"p/{path.name}": path.read_bytes()}
        yield Target(INPUTS, "import omnieval", files, f"p/{path.name}", ("rageval import omnieval-predictions p",))
    for path in sorted(folder.glob("rgb/*")):
        files = {path.name: path.read_bytes()}
        yield Target(INPUTS, "import rgb", files, path.name, (f"rageval import rgb-predictions {path.name}",))
    results = {f"r/{path.name}": path.read_bytes() for path in folder.glob("omnieval/evaluation_result_*.jsonl")}
    predictions = {f"p/{path.name}": path.read_bytes() for path in folder.glob("omnieval/*.pred.jsonl")}
    both = ("rageval import omnieval-predictions p", "rageval import omnieval-results r --cases cases.jsonl")
    for path_ in results:
        yield Target(INPUTS, "import omnieval results", {**results, **predictions}, path_, both)
    replies = b'{"id": "0", "metric": "accuracy", "reply": "{\\"prediction\\": \\"1\\"}"}\n'
    yield Target(
        INPUTS, "import replies", {"r.jsonl": replies}, "r.jsonl", ("rageval import omnieval-replies r.jsonl",)
    )
    yield Target(INPUTS, "import table", {"t.xlsx": _sheet()}, "t.xlsx", ("rageval import table t.xlsx",))


def _sheet() -> bytes:
    from openpyxl import Workbook

    book, stream = Workbook(), BytesIO()
    book.active.append(["question", "answer", "topic"])
    book.active.append(["When does the museum open?", "9:00", "Hours"])
    book.save(stream)
    return stream.getvalue()
