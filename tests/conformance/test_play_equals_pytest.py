"""``POST /api/ask`` gives the answers, steps and scores of pytest, for three systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.projects.play_project import PlayPage, play_project, run_tests

N = 100
"""Number of cases."""

SYSTEMS = ("extractive", "chain:ask.toml", "react")
TIMES = ("seconds", "latency_s")
CHAIN = """
    [[action]]
    name = "found"
    do = "retrieve"
    query = "{question}"

    [[action]]
    name = "reply"
    do = "generate"
    prompt = "{found} {question}"
"""


def untimed(value: Any) -> Any:
    """Return a JSON value without times."""
    if isinstance(value, dict):
        return {key: untimed(each) for key, each in value.items() if key not in TIMES}
    return [untimed(each) for each in value] if isinstance(value, list) else value


def test_three_systems_answer_each_of_100_cases_as_in_pytest(tmp_path: Path) -> None:
    places = [f"Hall {at}" for at in range(N)]
    guide = "\n\n".join(f"# {place}\n{place} opens at {6 + at % 12}:{at % 60:02}." for at, place in enumerate(places))
    project = play_project(tmp_path, **{"docs/visit.md": guide, "ask.toml": CHAIN})
    cases = [
        {"id": f"q{at}", "question": f"When does {place} open?", "answers": [f"{6 + at % 12}:{at % 60:02}"]}
        | ({"passages": [{"id": "p", "text": f"{place} opens at 5:00.", "role": "negative"}]} if at % 7 == 0 else {})
        for at, place in enumerate(places)
    ]
    (project / "tests" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    pytest_options = [word for system in SYSTEMS for word in ("--rag-system", system)]
    run = run_tests(project, *pytest_options, "--rag-json", "results.json")
    results = json.loads((project / "results.json").read_text())
    assert len(results["outcomes"]) == 3 * N, run.stdout
    options = [word for system in SYSTEMS for word in ("--system", system)]
    with PlayPage(project, *options) as page:
        page.wait()
        for outcome in results["outcomes"]:
            events = dict(page.ask(case=outcome["case_id"], system=outcome["system"]))
            answer, scores = outcome["answer"], events["scores"]["scores"]
            assert events["answer"]["text"] == answer["text"]
            assert untimed(events["answer"]["trace"]) == untimed(answer["trace"])
            ranked = [None if each is None else [item["doc_id"] for item in each] for each in (
                events["answer"]["ranking"], answer["ranking"]
            )]  # fmt: skip
            assert ranked[0] == ranked[1]
            assert scores == outcome["scores"]
