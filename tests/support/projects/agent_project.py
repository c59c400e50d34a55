"""A small project whose cases an agent answers from the pages of a corpus, without a key."""

from __future__ import annotations

from support.projects.rag_project import Project, Row, case

PAGES = [
    {"id": title, "title": title, "text": text}
    for title, text in {
        "Aldervale": "Aldervale is a town on the Sarn. Its mayor is Ines Brandt. It has 4,120 inhabitants.",
        "Ines Brandt": "Ines Brandt is the mayor of Aldervale. She was born in Torhaven in 1961.",
        "Torhaven": "Torhaven is a port on the Grey Sea. Its lighthouse was built in 1884.",
        "The Long Ferry": "The Long Ferry is a film of 1987. It was directed by Otto Lind.",
        "Otto Lind": "Otto Lind was a director. He died in Torhaven in 2003.",
    }.items()
]
CASES = [
    case("inhabitants", "How many inhabitants does Aldervale have?", "4,120", topic="one page"),
    case("lighthouse", "When was the lighthouse of Torhaven built?", "1884", topic="one page"),
    case("director", "Who directed the film The Long Ferry?", "Otto Lind", topic="one page"),
    case("mayor", "Where was the mayor of Aldervale born?", "Torhaven", topic="two pages"),
    case("harbour", "Which harbour does Vellmark have?", "Eastquay", topic="two pages"),
]
SUITE = """
    [[testbed]]
    name = "agents"
    dataset = "jsonl:cases.jsonl"
    metrics = ["has_answer"]
    passages = "retrieved"
"""


def agents(project: Project, *ini: str, cases: list[Row] | None = None, suite: str = SUITE) -> Project:
    """Write the project; ``ini`` are more lines of pytest.ini."""
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = pages.jsonl", *ini]))
    project.data(PAGES, "pages.jsonl")
    project.data(CASES if cases is None else cases)
    project.file("agents.rag.toml", suite)
    return project
