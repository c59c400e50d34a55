"""A first run without a key or a model: the embedded reader answers plain questions."""

from __future__ import annotations

import json
from pathlib import Path

from support.projects.rag_project import Project, case

README = Path(__file__).resolve().parents[3] / "README.md"

PLAIN = [
    case("open", "When does the harbour museum open?", "9:00"),
    case("close", "On which day is the library closed?", "Monday"),
    case("founder", "Who founded the brewery?", "Ida Holm"),
    case("leave", "How many days of annual leave do employees get?", "25"),
    case("warranty", "How long does the warranty last?", "two years"),
    case("parking", "Where can I park?", "behind the station"),
]
DOCUMENTS = {
    "museum.md": "# Harbour museum\n\nWelcome to the harbour museum. It opens at 9:00.",
    "library.md": "# Library\n\nThe library closes at 18:00. It is closed on Mondays, the closing day of the town.",
    "brewery.md": "# Brewery\n\nThe brewery, founding member of the guild, was founded by Ida Holm.",
    "leave.md": "# Leave\n\nAnnual leave is 25 days. Ask for it in the portal.",
    "warranty.md": "# Kettles\n\nThe warranty lasts two years. Boil water only.",
    "visit.md": "# Getting there\n\nThe tram stops at the gate. Visitors can park behind the station.",
}


def test_all_six_plain_questions_are_answered_from_a_small_corpus(project: Project) -> None:
    project.says(PLAIN, "gates=['accuracy >= 1']", conftest="")
    for name, text in DOCUMENTS.items():
        project.file(f"docs/{name}", text)
    project.file("pytest.ini", "[pytest]\nrag_corpus = docs/*.md")
    run = project.run()
    assert {name: outcome["scores"]["accuracy"] for name, outcome in run.outcomes.items()} == {
        name: {"value": 1.0} for name in ("open", "close", "founder", "leave", "warranty", "parking")
    }
    assert run.status == 0


def test_the_first_record_of_the_readme_is_answered(project: Project) -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    record = next(json.loads(line) for line in lines if line.startswith('{"id": "q1"'))
    project.says([record], "gates=['accuracy >= 1']", conftest="")
    run = project.run()
    assert run.status == 0
    answer = run.outcomes["q1"]["answer"]
    assert answer["text"].startswith("The museum opens at 9:00.")
    assert answer["abstained"] is False
