"""The corpus of the ini: its passages in answers, and when it is read."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, case

CASES = [
    case("q1", "What is the warranty of a kettle?", "two years"),
    case("q2", "Do parcels leave the warehouse?", "Mondays"),
]
SUPPLIED = [case("q3", "What is the fee?", "a euro", passages=[{"id": "p", "text": "The fee is a euro."}])]
OVERRIDES = """
    import pytest
    from pytest_rageval import Passage

    @pytest.fixture(scope="session")
    def rag_corpus():
        return [Passage("mine", "The warranty of a kettle is nine days. Parcels leave on Sundays.")]
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project whose cases are answered from Markdown files."""
    project.says(CASES, "gates=['accuracy >= 1']", conftest="")
    project.file("docs/warranty.md", "# Warranty\n\nThe warranty of a kettle lasts two years.\n\n## Toasters\n\nNone.")
    project.file("docs/more/shipping.md", "# Shipping\n\nParcels leave the warehouse on Mondays.")
    project.file("docs/.drafts/no.md", "# Warranty\n\nThe warranty of a kettle lasts no day at all.")
    ini(project, "docs/**/*.md", "rag_chunking = sections")
    return project


def ini(project: Project, corpus: str, *more: str) -> None:
    project.file("pytest.ini", "\n".join(["[pytest]", f"rag_corpus = {corpus}", *more]))


def ranked_ids(project: Project, *args: str) -> dict[str, list[str]]:
    run = project.run(*args)
    assert run.status in (0, 1), run.text
    return {name: [d["doc_id"] for d in o["answer"]["ranking"]] for name, o in run.outcomes.items()}


def test_cases_without_passages_are_answered_from_the_corpus(shop: Project, mode: Mode) -> None:
    run = shop.run(*mode)
    assert run.status == 0
    first, second = (run.outcomes[name]["answer"] for name in ("q1", "q2"))
    assert "two years" in first["text"]
    assert first["ranking"][0] | {"score": 0} == {
        "doc_id": "docs/warranty.md#0",
        "score": 0,
        "text": "# Warranty\n\nThe warranty of a kettle lasts two years.",
        "title": "Warranty",
        "page": "docs/warranty.md",
    }
    assert [step["kind"] for step in first["trace"]] == ["retrieve", "generate", "end"]
    assert second["ranking"][0]["doc_id"] == "docs/more/shipping.md#0"
    assert run.outcomes["q1"]["system"] == "extractive"


def test_an_overridden_fixture_wins_over_the_ini(shop: Project) -> None:
    shop.file("conftest.py", OVERRIDES)
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")  # it is not read
    assert ranked_ids(shop) == {"q1": ["mine"], "q2": ["mine"]}


def test_an_overriding_corpus_fixture_can_use_the_configured_corpus(shop: Project) -> None:
    shop.file(
        "conftest.py",
        OVERRIDES.replace("rag_corpus()", "rag_corpus(rag_corpus)").replace("[Pass", "[*rag_corpus, Pass"),
    )
    ids = ranked_ids(shop)
    assert set(ids["q1"]) > {"mine", "docs/warranty.md#0"}
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")
    run = shop.run()
    assert run.status == 4
    assert "docs/warranty.md:1: byte 0xff at offset 0 is not UTF-8" in run.result.stderr.str()


@pytest.mark.parametrize(
    "content",
    [
        ("kb.jsonl", '{"id": "d1", "text": "The warranty of a kettle lasts two years."}\n', "kb.jsonl", "d1"),
        ("kb.tsv", "id\ttext\ttitle\n7\t\"The warranty of a kettle\"\tA\n", "tsv:kb.tsv", "7"),
        ("kb.txt", "nothing\nThe warranty of a kettle\n", "lines:kb.txt", "kb.txt:2"),
        ("beir/corpus.jsonl", '{"_id": "b", "title": "The warranty of a kettle", "text": ""}\n', "beir:beir", "b"),
        ("a.html", "<title>Kettles</title><p>The warranty of a kettle", "*.html", "a.html"),
    ],
)  # fmt: skip
def test_passages_of_every_format_are_retrieved(shop: Project, content: tuple[str, str, str, str]) -> None:
    name, text, corpus, doc_id = content
    shop.file(name, text)
    ini(shop, corpus)
    assert ranked_ids(shop, "-k", "q1") == {"q1": [doc_id]}


def test_several_lines_are_one_corpus_and_paths_start_at_the_ini(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.file("kb.jsonl", '{"id": "d1", "text": "Parcels leave when they are packed."}\n')
    ini(shop, "\n    docs/**/*.md\n    jsonl:kb.jsonl")
    monkeypatch.chdir(shop.path / "docs")
    run = shop.run("..", json_path=None)
    assert run.status == 0
    ids = [scored["doc_id"] for scored in run.outcomes["q2"]["answer"]["ranking"]]
    assert set(ids) > {"d1", "docs/more/shipping.md"}


def test_the_corpus_is_not_read_if_all_passages_are_supplied(shop: Project) -> None:
    shop.says(SUPPLIED, "gates=['accuracy >= 1']", conftest="")
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")
    run = shop.run()
    assert run.status == 0
    assert run.outcomes["q3"]["answer"]["ranking"] is None


@pytest.mark.parametrize(
    "args", [("--collect-only",), ("--rag-dry-run",), ("-k", "not q"), ("--rag-system", "closed_book", "-k", "q1")]
)
def test_the_corpus_is_not_read_if_no_case_retrieves(shop: Project, args: tuple[str, ...]) -> None:
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")
    assert shop.run(*args).status in (0, 1, 5)


def test_a_users_system_reads_the_corpus_only_if_it_requests_the_fixture(shop: Project) -> None:
    conftest = """
        import pytest

        @pytest.fixture(scope="session")
        def rag_system(ASKS):
            return lambda query: "Two years, on Mondays."
    """
    shop.file("conftest.py", conftest.replace("ASKS", ""))
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")
    assert shop.run().status == 0
    shop.file("conftest.py", conftest.replace("ASKS", "rag_corpus"))
    assert shop.run().status == 4


def test_a_registered_system_has_the_retriever_even_if_passages_are_supplied(shop: Project) -> None:
    conftest = """
        def pytest_rageval_register(registry):
            registry.systems.register("desk", lambda parts: lambda query: parts.retriever.search("kettle", 1)[0].text)
    """
    shop.says(SUPPLIED, conftest=conftest)
    assert "two years" in shop.run("--rag-system", "desk").outcomes["q3"]["answer"]["text"]


def test_several_systems_share_one_index(shop: Project) -> None:
    conftest = """
        from pytest_rageval.retrieval.bm25 import build as bm25

        builds = []

        def build(parts):
            builds.append(parts)
            assert len(builds) == 1
            return bm25(parts)

        def pytest_rageval_register(registry):
            registry.retrievers.register("once", build)
            registry.systems.register("desk", lambda parts: lambda query: parts.retriever.search("kettle", 1)[0].text)
    """
    shop.says(CASES, conftest=conftest)
    ini(shop, "docs/**/*.md", "rag_retriever = once")
    run = shop.run("--rag-system", "desk", "--rag-system", "extractive")
    assert [outcome["status"] for outcome in run.results["outcomes"]] == ["scored"] * 4


def test_a_plain_test_may_request_the_corpus(shop: Project) -> None:
    (shop.path / "conftest.py").unlink()
    test = """
        from pathlib import Path

        def test_pages(rag_corpus):
            assert [p.id for p in rag_corpus] == ["docs/more/shipping.md#0", "docs/warranty.md#0", "docs/warranty.md#1"]
            last = rag_corpus[-1]
            assert (last.page, last.title, last.text) == ("docs/warranty.md", "Warranty", "## Toasters\\n\\nNone.")
            assert Path("docs/warranty.md").read_text()[slice(*last.span)] == last.text
    """
    shop.file("test_it.py", test)
    assert shop.run().status == 0
    (shop.path / "docs/warranty.md").write_bytes(b"\xff")
    run = shop.run()
    assert run.status == 4
    assert "docs/warranty.md:1: byte 0xff at offset 0 is not UTF-8" in run.result.stderr.str()


def test_a_conftest_may_register_a_corpus_format(shop: Project) -> None:
    conftest = """
        from pytest_rageval import Document

        def pairs(path, name):
            for line in path.read_text().splitlines():
                number, _, text = line.partition("=")
                yield Document(f"{name}/{number}", text)

        def pytest_rageval_register(registry):
            registry.corpora.register("pairs", pairs)
    """
    shop.file("conftest.py", conftest)
    shop.file("kb.dat", "1=The warranty of a kettle lasts two years.\n2=Parcels leave on Mondays.")
    ini(shop, "pairs:kb.dat")
    assert {name: ids[0] for name, ids in ranked_ids(shop).items()} == {"q1": "kb.dat/1", "q2": "kb.dat/2"}


def test_the_fingerprint_differs_for_another_corpus(shop: Project) -> None:
    prints = [shop.run().results["run"]["fingerprint"] for _ in range(2)]
    shop.file("docs/warranty.md", "# Warranty\n\nThe warranty of a kettle lasts two years, or three.")
    prints.append(shop.run().results["run"]["fingerprint"])
    assert prints[0] == prints[1] != prints[2]
