"""`api.schema.json` of `rageval play` describes what the server sends and accepts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from support.projects.play_project import PlayPage

SCHEMA = json.loads(files("pytest_rageval.web.play").joinpath("api.schema.json").read_text(encoding="utf-8"))


def check(value: Any, name: str) -> None:
    jsonschema.validate(value, {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def test_state_events_and_errors_fit_the_schema(play: PlayPage) -> None:
    check(play.client.get("/api/state").json(), "state")
    answerable: tuple[dict[str, Any], ...] = ({"case": "museum"}, {"question": "When?", "system": "steps"})
    for body in (*answerable, {"question": "When?", "system": "failing"}):
        check(body, "ask")
        for _, data in play.ask(**body):
            check(data, "event")
    for path, body in (("ask", {}), ("search", {}), ("save", {}), ("action", {})):
        check(play.client.post(f"/api/{path}", json=body).json(), "error")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("ask", {"question": "a", "passages": [{"text": "b"}], "history": [{"question": "c", "answer": ""}]}),
        ("search", {"query": "museum", "k": 2}),
        ("shrink", {"case": "boats"}),
        ("save", {"kind": "record", "record": {"question": "a", "answers": ["b"]}, "file": "x.jsonl", "preview": True}),
    ],
)
def test_bodies_that_fit_the_schema_are_accepted(play: PlayPage, name: str, body: dict[str, Any]) -> None:
    check(body, name)
    assert play.client.post(f"/api/{name}", json=body, timeout=60).status_code == 200


@pytest.mark.parametrize(("name", "body"), [("ask", {}), ("ask", {"question": "a", "gold": 1}), ("search", {"k": 0})])
def test_bodies_that_do_not_fit_the_schema_are_refused(play: PlayPage, name: str, body: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check(body, name)
    assert play.client.post(f"/api/{name}", json=body).status_code == 400
